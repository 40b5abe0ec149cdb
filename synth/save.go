package synth

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/durable"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
)

// A System reads the files of one system. Every system's package has a function System.
type System struct {
	Name  string                              // as in Program and Generator
	Plan  func(SavedPlan) (Plan, error)       // rebuilds a plan and computes its price again
	Model func(*File, Loading) (Model, error) // rebuilds a model from the result of Model.Encode
}

// Systems lists the systems whose files can be read.
type Systems []System

// Loading holds the inputs for reading a generator, in addition to the file.
type Loading struct {
	Backend       device.Backend               // never nil
	Architectures []models.DensityArchitecture // user-defined ones, found by name
	Decodings     []models.GeneratorArchitecture
	Limits        records.Limits // on the contents of the file
}

// A LoadOption supplies a value that a file cannot hold.
type LoadOption func(*Loading)

// LoadOn makes the loaded generator compute on the given backend.
func LoadOn(b device.Backend) LoadOption { return func(l *Loading) { l.Backend = b } }

// WithArchitecture lets Load rebuild networks of a user-defined architecture: a is used if the file
// names a.Name().
func WithArchitecture(a models.DensityArchitecture) LoadOption {
	return func(l *Loading) { l.Architectures = append(l.Architectures, a) }
}

// WithDecoding is WithArchitecture for systems whose generators decode random codes.
func WithDecoding(a models.GeneratorArchitecture) LoadOption {
	return func(l *Loading) { l.Decodings = append(l.Decodings, a) }
}

// WithLimits limits the contents of a generator or plan file. It limits the depth of the JSON (64
// by default) and the number of values in it (100,000, and 300,000 in a guarantee). It also limits
// the number of parameters of a network in a plan, and Values the cells of models of tables. The
// other limits concern records.
func WithLimits(limits records.Limits) LoadOption { return func(l *Loading) { l.Limits = limits } }

// loading collects the options.
//
// Errors: *param.Error for an invalid limit.
func loading(opts []LoadOption) (l Loading, err error) {
	apply(&l, opts)
	if l.Backend == nil {
		l.Backend = device.CPU()
	}
	return l, l.Limits.Validate()
}

// generatorHeader is the part of a generator's file header that all systems share.
type generatorHeader struct {
	Model     json.RawMessage  `json:"model"`
	Guarantee ledger.Guarantee `json:"guarantee"` // has entries, since every fit reserves its noise
}

// file returns the generator as a file.
func (g *Generator) file() (*File, error) {
	if err := g.made(); err != nil {
		return nil, err
	}
	f, err := g.model.Encode()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", g.system, err)
	}
	if err := checkDocument(f.Header, records.Limits{}); err != nil {
		return nil, Malformed(err)
	}
	head, err := json.Marshal(generatorHeader{Model: f.Header, Guarantee: g.guarantee})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", g.system, err)
	}
	return &File{Kind: g.system, Header: head, Sections: f.Sections}, nil
}

// Save writes the generator in a self-describing format that Load reads in any process.
//
// Errors: all errors of the writer; *param.Error for the zero value; all errors of Model.Encode,
// for example for an architecture that cannot be written.
func (g *Generator) Save(w io.Writer) error {
	f, err := g.file()
	if err != nil {
		return err
	}
	return f.Write(w)
}

// SaveFile saves to a file atomically: if the disk is full or the process crashes, a previous
// file is unchanged.
//
// Errors: all errors of Save and of the file system.
func (g *Generator) SaveFile(path string) error {
	return durable.WriteFile(path, g.Save)
}

// Load reads a generator that Save wrote.
//
// Errors: ErrFormat, ErrVersion, ErrTruncated, ErrChecksum. A hostile file results in an error;
// memory is bounded by a small multiple of the file's size.
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
	if err := checkDocument(h.Model, l.Limits); err != nil || len(h.Guarantee.Entries) == 0 {
		return nil, Malformed(cmp.Or(err, errors.New("a generator without the entries of a guarantee")))
	}
	m, err := s.Model(&File{Kind: f.Kind, Header: h.Model, Sections: f.Sections}, l)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	return NewGenerator(s.Name, m, h.Guarantee), nil
}

func (list Systems) find(name string) (System, error) {
	var known []string
	for _, s := range list {
		if s.Name == name && s.Model != nil && s.Plan != nil {
			return s, nil
		}
		known = append(known, s.Name)
	}
	return System{}, fmt.Errorf("%w: written by an unknown system %.40q: must be one of %q", ErrFormat,
		name, known)
}

// ReadModel reads a model from a part of a file. The part's Kind names its system. Systems that
// contain a model of another system call it.
//
// Errors: ErrFormat for an unknown system; all errors of the system's Model.
func (list Systems) ReadModel(f *File, l Loading) (Model, error) {
	for _, s := range list {
		if s.Name == f.Kind && s.Model != nil {
			return s.Model(f, l)
		}
	}
	return nil, Malformed(fmt.Errorf("a model of an unknown system %.40q", f.Kind))
}

// LoadFile reads a generator from a file.
//
// Errors: all errors of Load and of the file system.
func (list Systems) LoadFile(path string, opts ...LoadOption) (*Generator, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return list.Load(bufio.NewReader(f), opts...)
}

// A SavedPlan is a plan read from a file.
type SavedPlan struct {
	Schema records.Schema
	Budget accountant.Budget
	Config json.RawMessage // the configuration from Work.Config
	Limits records.Limits  // on the contents of the plan
}

// Network checks a network that the plan describes against the limits before it is built.
//
// Errors: ErrFormat, a *records.LimitError.
func (p SavedPlan) Network(what string, parameters int64) error {
	if err := p.Limits.CheckParameters(what, parameters); err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return nil
}

// Decided returns an error if a noise multiplier of the plan is 0, which would request calibration.
// Every written plan contains its noise multipliers, and calibration takes time and memory.
//
// Errors: ErrFormat.
func (p SavedPlan) Decided(noise ...float64) error {
	if slices.Contains(noise, 0) {
		return fmt.Errorf("%w: a noise multiplier of the plan is missing", ErrFormat)
	}
	return nil
}

// ReadPlan reads the plan of any of the systems and computes its price again: the price in the
// file is not trusted.
//
// Errors: ErrFormat for malformed JSON or an unknown system; ErrFormat and *records.LimitError for
// a plan beyond its limits (see [WithLimits]); *param.Error for another version; all errors of the
// system's own Plan.
func (list Systems) ReadPlan(text []byte, opts ...LoadOption) (Plan, error) {
	l, err := loading(opts)
	if err != nil {
		return nil, err
	}
	var j planJSON
	if err := checkDocument(text, l.Limits); err != nil {
		return nil, fmt.Errorf("%w: plan: %w", ErrFormat, err)
	}
	if err := param.Decode(text, &j); err != nil {
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
