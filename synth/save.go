package synth

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/durable"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
)

// A System reads back what one system writes. Every system's package has a function System.
type System struct {
	Name  string                              // as in Program and Generator
	Plan  func(SavedPlan) (Plan, error)       // rebuilds a plan and works out its bill again
	Model func(*File, Loading) (Model, error) // rebuilds what Model.Encode wrote
}

// Systems are the systems that a file may have been written by.
type Systems []System

// Loading is what reading a generator back needs beside the file.
type Loading struct {
	Backend       device.Backend               // never nil
	Architectures []models.DensityArchitecture // that are not the module's own, found by name
	Decodings     []models.GeneratorArchitecture
	Limits        records.Limits // of what the bytes may ask for
}

// A LoadOption gives Load what a file cannot hold.
type LoadOption func(*Loading)

// LoadOn computes on the given backend.
func LoadOn(b device.Backend) LoadOption { return func(l *Loading) { l.Backend = b } }

// WithArchitecture lets Load rebuild networks of an architecture that is not the module's own: a is
// used where the file names a.Name().
func WithArchitecture(a models.DensityArchitecture) LoadOption {
	return func(l *Loading) { l.Architectures = append(l.Architectures, a) }
}

// WithDecoding is WithArchitecture for the generators of systems that train them on public codes.
func WithDecoding(a models.GeneratorArchitecture) LoadOption {
	return func(l *Loading) { l.Decodings = append(l.Decodings, a) }
}

// WithLimits bounds what the bytes of a generator or a plan may ask for: how deep their JSON is
// nested (64 by default), how many values it has (100,000), and how many parameters a network of a
// plan. The other limits are about records.
func WithLimits(limits records.Limits) LoadOption { return func(l *Loading) { l.Limits = limits } }

// loading collects the options.
//
// Errors: *param.Error for a limit that is none.
func loading(opts []LoadOption) (l Loading, err error) {
	for _, apply := range opts {
		if apply != nil {
			apply(&l)
		}
	}
	if l.Backend == nil {
		l.Backend = device.CPU()
	}
	return l, l.Limits.Validate()
}

// generatorHeader is what the frame says of a generator in its file.
type generatorHeader struct {
	Model     json.RawMessage      `json:"model"`
	Guarantee accountant.Guarantee `json:"guarantee"`
}

// file is the generator as a file.
func (g *Generator) file() (*File, error) {
	if err := g.made(); err != nil {
		return nil, err
	}
	f, err := g.model.Encode()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", g.system, err)
	}
	head, err := json.Marshal(generatorHeader{Model: f.Header, Guarantee: g.guarantee})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", g.system, err)
	}
	return &File{Kind: g.system, Header: head, Sections: f.Sections}, nil
}

// Save writes the generator in a self-describing form that Load reads in any process.
//
// Errors: the writer's; *param.Error for the zero value; an architecture that cannot be written.
func (g *Generator) Save(w io.Writer) error {
	f, err := g.file()
	if err != nil {
		return err
	}
	return f.Write(w)
}

// SaveFile saves to a file that appears whole or not at all: a full disk or a crash leaves whatever
// was there before.
//
// Errors: those of Save and of the file system.
func (g *Generator) SaveFile(path string) error {
	f, err := g.file()
	if err != nil {
		return err
	}
	return durable.WriteFile(path, f.Write)
}

// Load reads a generator that Save wrote.
//
// Errors: ErrFormat, ErrVersion, ErrTruncated, ErrChecksum. A hostile file gives an error; memory
// is bounded by a small multiple of the file's size.
func (list Systems) Load(r io.Reader, opts ...LoadOption) (*Generator, error) {
	l, err := loading(opts)
	if err != nil {
		return nil, err
	}
	f, err := decodeFile(r, l.Limits)
	if err != nil {
		return nil, err
	}
	s, err := list.find(f.Kind)
	if err != nil {
		return nil, err
	}
	var h generatorHeader
	if err := f.Decode(&h); err != nil {
		return nil, err
	}
	m, err := s.Model(&File{Kind: f.Kind, Header: h.Model, Sections: f.Sections}, l)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	return NewGenerator(s.Name, m, h.Guarantee), nil
}

func (list Systems) find(name string) (System, error) {
	for _, s := range list {
		if s.Name == name && s.Model != nil && s.Plan != nil {
			return s, nil
		}
	}
	return System{}, fmt.Errorf("%w: written by an unknown system %.40q", ErrFormat, name)
}

// LoadFile reads a generator from a file.
//
// Errors: those of Load and of the file system.
func (list Systems) LoadFile(path string, opts ...LoadOption) (*Generator, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return list.Load(bufio.NewReader(f), opts...)
}

// A SavedPlan is a plan as a file holds it.
type SavedPlan struct {
	Schema records.Schema
	Budget accountant.Budget
	Config json.RawMessage // what Work.Config wrote
	Limits records.Limits  // of what the plan may ask for
}

// Network refuses a network that the plan names and that is larger than the limits allow, before it
// is built.
//
// Errors: ErrFormat, a *records.LimitError.
func (p SavedPlan) Network(what string, parameters int64) error {
	if err := p.Limits.CheckParameters(what, parameters); err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return nil
}

// Decided refuses a plan that leaves a noise multiplier open: every plan that was written holds its
// own, and to search for one is what takes time and memory.
//
// Errors: ErrFormat.
func (p SavedPlan) Decided(noise ...float64) error {
	if slices.Contains(noise, 0) {
		return fmt.Errorf("%w: a plan without its noise", ErrFormat)
	}
	return nil
}

// ReadPlan reads the plan of any of the systems and works out its bill again: what a file says a
// plan costs is not believed.
//
// Errors: ErrFormat for another version or an unknown system, and for a plan beyond its limits (see
// [WithLimits]), a *records.LimitError; those of the system's own Plan.
func (list Systems) ReadPlan(text []byte, opts ...LoadOption) (Plan, error) {
	l, err := loading(opts)
	if err != nil {
		return nil, err
	}
	var j planJSON
	if err := checkDocument(text, l.Limits); err != nil {
		return nil, fmt.Errorf("%w: plan: %w", ErrFormat, err)
	}
	if err := json.Unmarshal(text, &j); err != nil {
		return nil, fmt.Errorf("%w: plan: %w", ErrFormat, err)
	}
	if j.Version != planVersion {
		return nil, param.New("synth.Plan.version", j.Version, fmt.Sprint(planVersion))
	}
	s, err := list.find(j.System)
	if err != nil {
		return nil, err
	}
	return s.Plan(SavedPlan{j.Schema, j.Budget, j.Config, l.Limits})
}
