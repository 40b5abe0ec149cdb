package synth

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/models"
)

// A Part is a value that is stored in a section of a file, such as the parameters of a network or
// the state of an optimiser. Save returns its bytes, and Load restores it from them.
type Part struct {
	Name string
	Save func() ([]byte, error)
	Load func([]byte) error
}

// StatePart returns the part of a value that writes its own state, such as an optimiser.
func StatePart(name string, s models.Stateful) Part {
	return Part{name, func() ([]byte, error) { return s.AppendState(nil), nil }, s.SetState}
}

// RandomPart returns the part of a source of public randomness.
func RandomPart(name string, source *rand.PCG) Part {
	return Part{name, source.MarshalBinary, source.UnmarshalBinary}
}

// errNotFinite is the error of saving a number that ReadFloats would refuse.
var errNotFinite = errors.New("a number is not finite: training has diverged, or its settings are " +
	"too extreme")

// FloatsPart returns the part of a list of n numbers. Save fails if one is not finite. Load
// allocates no more than the section's size.
func FloatsPart[T float32 | float64](name string, list *[]T, n int) Part {
	return Part{name, func() ([]byte, error) {
		for _, x := range *list {
			if x-x != 0 {
				return nil, fmt.Errorf("%s: %w", name, errNotFinite)
			}
		}
		return Floats(*list), nil
	},
		func(data []byte) (err error) {
			*list, err = ReadFloats[T](data, n)
			return err
		}}
}

// NewFile returns a file with a JSON header and parts.
//
// Errors: the error of encoding/json for a header that JSON cannot hold; all errors of the parts.
func NewFile(header any, parts ...Part) (*File, error) {
	head, err := json.Marshal(header)
	if err != nil {
		return nil, err
	}
	f := &File{Header: head}
	for _, p := range parts {
		data, err := p.Save()
		if err != nil {
			return nil, err
		}
		f.Sections = append(f.Sections, Section{p.Name, data})
	}
	return f, nil
}

// Decode reads the header.
//
// Errors: ErrFormat.
func (f *File) Decode(header any) error { return decode(f.Header, header) }

// Load reads parts, one after another.
//
// Errors: ErrFormat.
func (f *File) Load(parts ...Part) error {
	for _, p := range parts {
		data, err := f.Section(p.Name)
		if err != nil {
			return err
		}
		if err := p.Load(data); err != nil {
			return Malformed(fmt.Errorf("section %s: %w", p.Name, err))
		}
	}
	return nil
}

// Decode reads a configuration written by Work.Config.
//
// Errors: ErrFormat.
func (p SavedPlan) Decode(config any) error { return decode(p.Config, config) }

// PlanOf returns a system's plan as a Plan, nil if err is not nil.
//
// Errors: err, unchanged.
func PlanOf[P Plan](p P, err error) (Plan, error) {
	if err != nil {
		return nil, err
	}
	return p, nil
}

func decode(text json.RawMessage, into any) error {
	if err := param.Decode(text, into); err != nil {
		return Malformed(err)
	}
	return nil
}

// Malformed returns an error that wraps ErrFormat and the cause.
func Malformed(why error) error {
	if why == nil || errors.Is(why, ErrFormat) {
		return why
	}
	return fmt.Errorf("%w: %w", ErrFormat, why)
}
