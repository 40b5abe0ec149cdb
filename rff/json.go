package rff

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/internal/param"
)

// ErrFormat is returned for bytes that do not describe a kernel or a map.
var ErrFormat = errors.New("rff: malformed description")

// marshalKernel writes one of this package's kernels, tagged with its name.
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

// mapFile is a saved map.
type mapFile struct {
	Kernel json.RawMessage `json:"kernel"`
	In     int             `json:"in"`
	Seed   uint64          `json:"seed,string"`
}

// MarshalJSON writes the kernel, the record width and the seed, from which the map can be drawn
// again.
func (m *Map) MarshalJSON() ([]byte, error) {
	k, err := marshalKernel(m.kernel)
	if err != nil {
		return nil, err
	}
	return json.Marshal(mapFile{k, m.in, m.seed})
}

// UnmarshalJSON reads a map that MarshalJSON wrote. It allocates memory in proportion to the length
// of data. Frequencies are drawn when the map is first used. Errors: [ErrFormat], [*param.Error].
func (m *Map) UnmarshalJSON(data []byte) error {
	var f mapFile
	if err := param.Decode(data, &f); err != nil {
		return fmt.Errorf("%w: %v", ErrFormat, err)
	}
	k, err := unmarshalKernel(f.Kernel)
	if err != nil {
		return err
	}
	read, err := k.New(f.In, f.Seed)
	if err != nil {
		return err
	}
	m.kernel, m.spectrum, m.in, m.seed = read.kernel, read.spectrum, read.in, read.seed
	return nil
}
