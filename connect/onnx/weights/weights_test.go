package weights_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/connect/onnx/weights"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
)

func some(shapes ...device.Shape) device.Params {
	if shapes == nil {
		shapes = []device.Shape{{Name: "0.weight", Rows: 3, Cols: 2}, {Name: "0.bias", Rows: 1, Cols: 2},
			{Name: "é \"", Rows: 1, Cols: 1}}
	}
	p := device.NewParams(device.CPU(), shapes...)
	for i := range p.Flat.Data {
		p.Flat.Data[i] = float32(math.Sin(float64(i + 1)))
	}
	return p
}

// format is a file format of parameters.
type format struct {
	write func(io.Writer, device.Backend, device.Params) error
	read  func([]byte, device.Params) error
}

func formats() map[string]format {
	return map[string]format{
		"safetensors": {weights.WriteSafetensors, func(data []byte, p device.Params) error {
			return weights.ReadSafetensors(bytes.NewReader(data), device.CPU(), p)
		}},
		"npz": {weights.WriteNPZ, func(data []byte, p device.Params) error {
			return weights.ReadNPZ(bytes.NewReader(data), int64(len(data)), device.CPU(), p)
		}},
	}
}

func written(t testing.TB, f format, p device.Params) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f.write(&b, device.CPU(), p); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestParametersComeBack(t *testing.T) {
	for name, f := range formats() {
		p := some()
		data := written(t, f, p)
		back := device.NewParams(device.CPU(), p.Shapes[2], p.Shapes[0], p.Shapes[1]) // in another order
		if err := f.read(data, back); err != nil {
			t.Fatalf("%s: got error %v, want none", name, err)
		}
		for i, s := range []int{2, 0, 1} {
			if !slices.Equal(back.Block(i).Data, p.Block(s).Data) {
				t.Errorf("%s: block %d is read back as %v", name, s, back.Block(i).Data)
			}
		}
	}
}

// TestWrongFilesChangeNothing: a file that does not fit is an error and leaves the parameters
// unchanged.
func TestWrongFilesChangeNothing(t *testing.T) {
	nan := some()
	nan.Flat.Data[4] = float32(math.NaN())
	for name, f := range formats() {
		good := written(t, f, some())
		for what, data := range map[string][]byte{
			"transposed": written(t, f, some(device.Shape{Name: "0.weight", Rows: 2, Cols: 3},
				device.Shape{Name: "0.bias", Rows: 1, Cols: 2}, device.Shape{Name: "é \"", Rows: 1, Cols: 1})),
			"lacking": written(t, f, some(device.Shape{Name: "0.weight", Rows: 3, Cols: 2})),
			"NaN":     written(t, f, nan),
			"short":   good[:len(good)-5],
			"empty":   nil,
			"no file": []byte("{}"),
		} {
			p := some()
			for i := range p.Flat.Data {
				p.Flat.Data[i] = 7
			}
			if err := f.read(data, p); !errors.Is(err, weights.ErrFormat) {
				t.Errorf("%s, %s: got error %v, want ErrFormat", name, what, err)
			}
			if slices.Max(p.Flat.Data) != 7 || slices.Min(p.Flat.Data) != 7 {
				t.Errorf("%s, %s: the parameters have changed", name, what)
			}
		}
	}
}

// safetensors returns a file with the given header and data.
func safetensors(header string, data []byte) []byte {
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...),
		data...)
}

func TestOtherTypesAreRounded(t *testing.T) {
	for kind, data := range map[string][]byte{
		"F16":  {0x00, 0x3c, 0x01, 0x00, 0xff, 0xfb}, // 1, 2^-24, -65504
		"BF16": {0x80, 0x3f, 0x80, 0x33, 0x80, 0xc7}, // 1, 2^-24, -65536
		"F64": binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(
			binary.LittleEndian.AppendUint64(nil, math.Float64bits(1)), math.Float64bits(0x1p-24)),
			math.Float64bits(-65504)),
	} {
		want := []float32{1, 0x1p-24, -65504}
		if kind == "BF16" {
			want[2] = -65536
		}
		p := device.NewParams(device.CPU(), device.Shape{Name: "a", Rows: 1, Cols: 3})
		header := fmt.Sprintf(`{"__metadata__":{"a":"b"},"a":{"dtype":%q,"shape":[3,1],`+
			`"data_offsets":[4,%d]},"other":{"dtype":"I8","shape":[4],"data_offsets":[0,4]}}`, kind,
			4+len(data))
		file := safetensors(header, append([]byte("abcd"), data...))
		if err := weights.ReadSafetensors(bytes.NewReader(file), device.CPU(), p); err != nil {
			t.Fatalf("%s: got error %v, want none", kind, err)
		}
		if !slices.Equal(p.Flat.Data, want) {
			t.Errorf("%s is read as %v", kind, p.Flat.Data)
		}
	}
}

func TestHeadersThatLie(t *testing.T) {
	p := device.NewParams(device.CPU(), device.Shape{Name: "a", Rows: 1, Cols: 2},
		device.Shape{Name: "b", Rows: 1, Cols: 2})
	entry := func(name, kind string, from, to int64) string {
		return fmt.Sprintf(`%q:{"dtype":%q,"shape":[2],"data_offsets":[%d,%d]}`, name, kind, from, to)
	}
	data := make([]byte, 64)
	for what, header := range map[string]string{
		"overlap":     entry("a", "F32", 0, 8) + "," + entry("b", "F32", 4, 12),
		"huge":        entry("a", "F32", 0, 1<<40) + "," + entry("b", "F32", 0, 8),
		"backwards":   entry("a", "F32", 8, 0) + "," + entry("b", "F32", 8, 16),
		"far":         entry("a", "F32", 0, 8) + "," + entry("b", "F32", 1<<50, 1<<50+8),
		"integers":    entry("a", "I32", 0, 8) + "," + entry("b", "F32", 8, 16),
		"other width": entry("a", "F64", 0, 8) + "," + entry("b", "F32", 8, 16),
		"no object":   `"a":3,"b":3`,
	} {
		file := safetensors("{"+header+"}", data)
		err := weights.ReadSafetensors(bytes.NewReader(file), device.CPU(), p)
		if !errors.Is(err, weights.ErrFormat) {
			t.Errorf("%s: got error %v, want ErrFormat", what, err)
		}
	}
	for what, file := range map[string][]byte{
		"a long header": binary.LittleEndian.AppendUint64(nil, 1<<60),
		"a deep header": safetensors(strings.Repeat("[", 1000), nil),
		"no JSON":       safetensors("hello", nil),
	} {
		if err := weights.ReadSafetensors(bytes.NewReader(file), device.CPU(), p); !errors.Is(err,
			weights.ErrFormat) {
			t.Errorf("%s: got error %v, want ErrFormat", what, err)
		}
	}
}

func TestArguments(t *testing.T) {
	wrong := func(what string, err error) {
		t.Helper()
		if p := new(param.Error); !errors.As(err, &p) {
			t.Errorf("%s: got error %v, want *param.Error", what, err)
		}
	}
	twice := some(device.Shape{Name: "a", Rows: 1, Cols: 1}, device.Shape{Name: "a", Rows: 1, Cols: 1})
	for name, f := range formats() {
		wrong(name, f.write(io.Discard, device.CPU(), twice))
		wrong(name, f.write(io.Discard, nil, some()))
		wrong(name, f.write(io.Discard, device.CPU(), device.Params{}))
		wrong(name, f.read(nil, twice))
		if err := f.write(full{}, device.CPU(), some()); err == nil {
			t.Errorf("%s: the write function returns no error of the writer", name)
		}
	}
	wrong("no file", weights.ReadNPZ(nil, 0, device.CPU(), some()))
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

// TestFilesAreWhatOthersRead: the header of a safetensors file is padded to eight bytes, and covers
// the file without gaps; an archive has one array for each block.
func TestFilesAreWhatOthersRead(t *testing.T) {
	data := written(t, formats()["safetensors"], some())
	n := binary.LittleEndian.Uint64(data)
	var header map[string]struct {
		Shape   []int `json:"shape"`
		Offsets []int `json:"data_offsets"`
	}
	if err := json.Unmarshal(data[8:8+n], &header); err != nil || n%8 != 0 {
		t.Fatal(err, n)
	}
	if got := fmt.Sprint(header["0.weight"], header["0.bias"]); got != "{[3 2] [0 24]} {[2] [24 32]}" {
		t.Error(got)
	}
	if len(data) != 8+int(n)+4*9 {
		t.Errorf("got a wrong length of %d bytes", len(data))
	}
	data = written(t, formats()["npz"], some())
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil || len(archive.File) != 3 || archive.File[0].Name != "0.weight.npy" {
		t.Error(err, len(archive.File))
	}
}

func FuzzRead(f *testing.F) {
	for _, one := range formats() {
		f.Add(written(f, one, some()))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for name, one := range formats() {
			p := some()
			if one.read(data, p) != nil {
				continue
			}
			back := some()
			if err := one.read(written(t, one, p), back); err != nil ||
				!slices.Equal(back.Flat.Data, p.Flat.Data) {
				t.Fatalf("%s: got error %v, or other numbers", name, err)
			}
		}
	})
}

func Example() {
	net := device.NewParams(device.CPU(), device.Shape{Name: "weight", Rows: 2, Cols: 1})
	copy(net.Flat.Data, []float32{1, 2})
	var file bytes.Buffer
	if err := weights.WriteSafetensors(&file, device.CPU(), net); err != nil {
		panic(err)
	}
	start := device.NewParams(device.CPU(), net.Shapes...)
	if err := weights.ReadSafetensors(&file, device.CPU(), start); err != nil {
		panic(err)
	}
	fmt.Println(start.Flat.Data)
	// Output: [1 2]
}
