package weights

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
)

// metadataKey is the entry of a safetensors header that is not an array.
const metadataKey = "__metadata__"

// Limits on the size of a header.
const (
	headerBytes   = 16 << 20
	headerTensors = 65_536
)

// tensor is one array in a safetensors header.
type tensor struct {
	Type    string   `json:"dtype"`
	Shape   []int    `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"`
}

// WriteSafetensors writes parameters in the safetensors format.
//
// Errors: the writer's; *[param.Error] for blocks without distinct names.
func WriteSafetensors(w io.Writer, b device.Backend, p device.Params) error {
	if err := check("weights.WriteSafetensors", b, p); err != nil {
		return err
	}
	header, err := safetensorsHeader(p)
	if err != nil {
		return err
	}
	if _, err := w.Write(header); err != nil {
		return fmt.Errorf("weights.WriteSafetensors: %w", err)
	}
	for i := range p.Blocks() {
		if _, err := w.Write(block(b, p.Block(i))); err != nil {
			return fmt.Errorf("weights.WriteSafetensors: %w", err)
		}
	}
	return nil
}

// safetensorsHeader returns the header's length in eight bytes and the header, padded with blanks
// so that the arrays begin at a multiple of eight.
func safetensorsHeader(p device.Params) ([]byte, error) {
	entries, at := map[string]tensor{}, int64(0)
	for _, s := range p.Shapes {
		size := 4 * int64(s.Rows) * int64(s.Cols)
		entries[s.Name] = tensor{"F32", axes(s), [2]int64{at, at + size}}
		at += size
	}
	text, err := json.Marshal(entries)
	if err != nil {
		return nil, err
	}
	text = append(text, bytes.Repeat([]byte{' '}, -len(text)&7)...)
	return append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...), nil
}

// block returns the content of a block of parameters.
func block(b device.Backend, m device.Matrix) []byte {
	numbers := make([]float32, m.Rows*m.Cols)
	b.Download(numbers, m)
	out := make([]byte, 0, 4*len(numbers))
	for _, v := range numbers {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
	}
	return out
}

// ReadSafetensors sets parameters to the values in a safetensors file. The file must hold an array
// for each block, with the block's name and shape; other arrays are ignored. If reading fails, the
// parameters are unchanged.
//
// Errors: [ErrFormat]; the reader's; *[param.Error] for blocks without distinct names.
func ReadSafetensors(r io.Reader, b device.Backend, p device.Params) error {
	if err := check("weights.ReadSafetensors", b, p); err != nil {
		return err
	}
	entries, err := readHeader(r)
	if err != nil {
		return err
	}
	return fill(b, p, func(s device.Shape) ([]int, int64, int64, func([]byte) []float32, error) {
		e, found := entries[s.Name]
		if !found {
			return nil, 0, 0, nil, malformed("no array is named %q", s.Name)
		}
		return e.Shape, e.Offsets[0], e.Offsets[1],
			func(data []byte) []float32 {
				width, read := decoder(e.Type)
				return numbers(data, width, read)
			}, nil
	}, r)
}

// readHeader reads the header of a safetensors file.
func readHeader(r io.Reader) (map[string]tensor, error) {
	var length [8]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, truncated(err)
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > headerBytes {
		return nil, malformed("the header has %d bytes, at most %d are read", n, headerBytes)
	}
	text, err := io.ReadAll(io.LimitReader(r, int64(n)))
	if err != nil || uint64(len(text)) < n {
		return nil, truncated(err)
	}
	var raw map[string]json.RawMessage
	limits := param.Limits{Depth: 3, Values: 8 * headerTensors}
	if err := limits.Decode(text, &raw); errors.Is(err, param.ErrTooMuch) {
		return nil, malformed("%v", err)
	} else if err != nil {
		return nil, malformed("the header is not a JSON object without duplicate names")
	}
	entries := make(map[string]tensor, len(raw))
	for name, value := range raw {
		if name == metadataKey {
			continue
		}
		var e tensor
		if err := param.Decode(value, &e); err != nil {
			return nil, malformed("array %q has an invalid entry in the header", name)
		}
		entries[name] = e
	}
	return entries, nil
}

func truncated(err error) error {
	if err == nil || err == io.EOF || err == io.ErrUnexpectedEOF {
		return malformed("the file ends too early")
	}
	return fmt.Errorf("weights: reading: %w", err)
}
