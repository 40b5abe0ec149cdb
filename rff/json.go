package rff

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/seed7ba64551/privgen/internal/param"
)

// ErrFormat is returned for bytes that do not describe a kernel or a map.
var ErrFormat = errors.New("rff: malformed description")

// kinds are the kernels and features of this package, by their names in files.
var kinds = map[string]reflect.Type{
	"rbf": reflect.TypeFor[RBF](), "scales": reflect.TypeFor[Scales](),
	"sum": reflect.TypeFor[Sum](), "pairs": reflect.TypeFor[Pairs](),
	"patches": reflect.TypeFor[Patches](), "strokes": reflect.TypeFor[Strokes](),
	"scattering": reflect.TypeFor[Scattering](),
}

type tagged struct {
	Kernel string          `json:"kernel"`
	Params json.RawMessage `json:"params"`
}

// marshal writes the description of a kernel or of features, tagged with its name.
//
// Errors: an error for a type of another package.
func marshal(k any) ([]byte, error) {
	for name, kind := range kinds {
		if reflect.TypeOf(k) != kind {
			continue
		}
		params, err := json.Marshal(k)
		if err != nil {
			return nil, fmt.Errorf("rff: %w", err)
		}
		return json.Marshal(tagged{name, params})
	}
	return nil, fmt.Errorf("rff: a %T cannot be written: want a type of package rff", k)
}

// unmarshal reads a description of a K that marshal wrote. Errors: [ErrFormat].
func unmarshal[K any](data []byte) (k K, err error) {
	var t tagged
	if err := param.Decode(data, &t); err != nil {
		return k, fmt.Errorf("%w: %v", ErrFormat, err)
	}
	kind, known := kinds[t.Kernel]
	if !known || !kind.Implements(reflect.TypeFor[K]()) {
		return k, fmt.Errorf("%w: unknown kernel %.40q", ErrFormat, t.Kernel)
	}
	v := reflect.New(kind)
	if err := param.Decode(t.Params, v.Interface()); err != nil {
		return k, fmt.Errorf("%w: %v", ErrFormat, err)
	}
	return v.Elem().Interface().(K), nil
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
	k, err := marshal(m.kernel)
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
	k, err := unmarshal[Kernel](f.Kernel)
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
