package rff

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/internal/param"
)

// ErrFormat is returned for bytes that do not describe a kernel or a map.
var ErrFormat = errors.New("rff: malformed description")

// marshalKernel writes one of this package's kernels, tagged with its name. A [Custom] kernel
// contains a function and cannot be written; its maps can.
//
// Errors: an error for a kernel that cannot be written.
func marshalKernel(k Kernel) ([]byte, error) {
	name := kernelName(k)
	if name == "" {
		return nil, fmt.Errorf("rff.marshalKernel: a kernel of type %T cannot be written: want RBF "+
			"or Scales", k)
	}
	params, err := json.Marshal(k)
	if err != nil {
		return nil, fmt.Errorf("rff: %w", err)
	}
	return json.Marshal(tagged{name, params})
}

type tagged struct {
	Kernel string          `json:"kernel"`
	Params json.RawMessage `json:"params"`
}

func kernelName(k Kernel) string {
	switch k.(type) {
	case RBF:
		return "rbf"
	case Scales:
		return "scales"
	}
	return ""
}

// unmarshalKernel reads a kernel that [marshalKernel] wrote. Errors: [ErrFormat].
func unmarshalKernel(data []byte) (Kernel, error) {
	var t tagged
	if err := param.Decode(data, &t); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrFormat, err)
	}
	switch t.Kernel {
	case "rbf":
		return decode[RBF](t.Params)
	case "scales":
		return decode[Scales](t.Params)
	}
	return nil, fmt.Errorf("%w: unknown kernel %.40q", ErrFormat, t.Kernel)
}

func decode[K Kernel](params []byte) (Kernel, error) { return decodeParams[K](params) }

func decodeParams[K any](params []byte) (k K, err error) {
	if err := param.Decode(params, &k); err != nil {
		return k, fmt.Errorf("%w: %v", ErrFormat, err)
	}
	return k, nil
}

// mapFile is a saved map: its kernel, record width and seed. For a custom kernel it has the
// frequencies instead of the kernel.
type mapFile struct {
	Kernel json.RawMessage `json:"kernel,omitempty"`
	Custom *customFile     `json:"custom,omitempty"`
	In     int             `json:"in"`
	Seed   uint64          `json:"seed,string"`
}

type customFile struct {
	Name        string `json:"name"`
	Dim         int    `json:"dim"`
	Frequencies string `json:"frequencies"` // base64 of little-endian float32, width × frequencies
	Phases      string `json:"phases,omitempty"`
}

// MarshalJSON writes the kernel, the record width and the seed, from which the map can be drawn
// again. For a [Custom] kernel it writes the frequencies instead of the kernel.
func (m *Map) MarshalJSON() ([]byte, error) {
	f := mapFile{In: m.in, Seed: m.seed}
	if c, ok := m.kernel.(Custom); ok {
		freq, phase := m.table()
		f.Custom = &customFile{c.Name, c.Dim, encodeFloats(freq), encodeFloats(phase)}
		return json.Marshal(f)
	}
	var err error
	if f.Kernel, err = marshalKernel(m.kernel); err != nil {
		return nil, err
	}
	return json.Marshal(f)
}

// UnmarshalJSON reads a map that MarshalJSON wrote. It allocates memory in proportion to the length
// of data. Frequencies are drawn when the map is first used. Errors: [ErrFormat], [*param.Error].
func (m *Map) UnmarshalJSON(data []byte) error {
	var f mapFile
	if err := param.Decode(data, &f); err != nil {
		return fmt.Errorf("%w: %v", ErrFormat, err)
	}
	read, err := f.open()
	if err != nil {
		return err
	}
	m.kernel, m.spectrum, m.in, m.seed = read.kernel, read.spectrum, read.in, read.seed
	m.freq, m.phase = read.freq, read.phase
	return nil
}

func (f mapFile) open() (*Map, error) {
	if f.Custom != nil {
		return f.Custom.open(f.In, f.Seed)
	}
	k, err := unmarshalKernel(f.Kernel)
	if err != nil {
		return nil, err
	}
	return k.New(f.In, f.Seed)
}

func (f customFile) open(in int, seed uint64) (*Map, error) {
	c := Custom{Name: f.Name, Dim: f.Dim, Phase: f.Phases != "",
		Frequencies: func(*rand.Rand, []float64) {}}
	m, err := build(c, spectrum{name: "Custom", dim: c.Dim, phase: c.Phase, draw: c.Frequencies}, in,
		seed)
	if err != nil {
		return nil, err
	}
	n := m.spectrum.frequencies()
	if m.freq, err = decodeFloats(f.Frequencies, in*n); err != nil {
		return nil, err
	}
	if c.Phase {
		m.phase, err = decodeFloats(f.Phases, n)
	}
	return m, err
}

func encodeFloats(v []float32) string {
	b := make([]byte, 0, 4*len(v))
	for _, f := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return base64.StdEncoding.EncodeToString(b)
}

func decodeFloats(s string, n int) ([]float32, error) {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil || len(b) != 4*n {
		return nil, fmt.Errorf("%w: %d bytes of frequencies in valid base64, want %d", ErrFormat, len(b),
			4*n)
	}
	v := make([]float32, n)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		if !finite(v[i]) {
			return nil, fmt.Errorf("%w: frequency %d is %v, want a finite number", ErrFormat, i, v[i])
		}
	}
	return v, nil
}
