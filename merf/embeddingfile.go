package merf

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// KindEmbedding is the name of a released embedding in a file.
const KindEmbedding = "merf embedding"

// embeddingHeader is everything an embedding consists of but its numbers.
type embeddingHeader struct {
	Schema    records.Schema       `json:"schema"`
	Kernel    json.RawMessage      `json:"kernel,omitempty"` // absent if user-defined
	Seed      uint64               `json:"seed,string"`
	Nominal   int                  `json:"nominal,omitempty"`
	SumStd    float64              `json:"sum_std"`
	CountStd  float64              `json:"count_std"`
	Guarantee accountant.Guarantee `json:"guarantee"`
}

const (
	sectionSums   = "sums"
	sectionCounts = "counts"
)

// Save writes the embedding in a self-describing form that LoadEmbedding reads in any process. A
// kernel that is not package rff's own is left out and has to be given to LoadEmbedding. Errors are
// the writer's.
func (e *Embedding) Save(w io.Writer) error {
	if e.known().features == nil {
		return param.New("merf.Embedding", nil, "an embedding that a plan has released")
	}
	h := embeddingHeader{Schema: e.config.Schema, Seed: e.config.Seed, Nominal: e.config.Nominal,
		SumStd: e.noise.sum, CountStd: e.noise.count, Guarantee: e.guarantee}
	if kernel, err := rff.MarshalEmbedding(e.config.Kernel); err == nil {
		h.Kernel = kernel
	}
	head, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("merf: %w", err)
	}
	f := synth.File{Kind: KindEmbedding, Header: head, Sections: e.sections()}
	return f.Write(w)
}

// sections are the embedding's numbers as a file holds them.
func (e *Embedding) sections() []synth.Section {
	return []synth.Section{{Name: sectionSums, Data: synth.Floats64(e.sums)},
		{Name: sectionCounts, Data: synth.Floats64(e.counts)}}
}

// LoadEmbedding reads an embedding that Save wrote. A kernel given here is used where the file
// holds none.
//
// Errors: synth.ErrFormat and its like. A hostile file gives an error; memory is bounded by a small
// multiple of the file's size.
func LoadEmbedding(r io.Reader, kernel ...rff.EmbeddingKernel) (*Embedding, error) {
	f, err := synth.DecodeFile(r)
	if err != nil {
		return nil, fmt.Errorf("merf: %w", err)
	}
	return decodeEmbedding(f, kernel)
}

func decodeEmbedding(f *synth.File, kernel []rff.EmbeddingKernel) (*Embedding, error) {
	if f.Kind != KindEmbedding {
		return nil, malformed(fmt.Errorf("written as %.40q", f.Kind))
	}
	var h embeddingHeader
	if err := json.Unmarshal(f.Header, &h); err != nil {
		return nil, malformed(err)
	}
	e, err := h.embedding(kernel)
	if err != nil {
		return nil, err
	}
	return e, e.readNumbers(f)
}

func (e *Embedding) readNumbers(f *synth.File) (err error) {
	classes := classesOf(e.config.Schema)
	if e.sums, err = readSection(f, sectionSums, int64(classes)*int64(e.Features())); err != nil {
		return err
	}
	e.counts, err = readSection(f, sectionCounts, int64(classes))
	return err
}

// embedding rebuilds what the header describes; numbers are still to come.
func (h embeddingHeader) embedding(kernel []rff.EmbeddingKernel) (*Embedding, error) {
	if err := h.Schema.Validate(); err != nil {
		return nil, malformed(err)
	}
	if !(h.SumStd > 0) || !(h.CountStd >= 0) || h.Nominal < 0 { // JSON has no infinite numbers
		return nil, malformed(fmt.Errorf("noise of ±%v and ±%v, %d records", h.SumStd, h.CountStd,
			h.Nominal))
	}
	c := Config{Schema: h.Schema, Seed: h.Seed, Nominal: h.Nominal}
	switch {
	case h.Kernel != nil:
		k, err := rff.UnmarshalEmbedding(h.Kernel)
		if err != nil {
			return nil, malformed(err)
		}
		c.Kernel = k
	case len(kernel) == 1 && kernel[0] != nil:
		c.Kernel = kernel[0]
	default:
		return nil, malformed(fmt.Errorf("it holds no kernel, and none was given"))
	}
	features, err := c.features()
	if err != nil {
		return nil, malformed(err)
	}
	return &Embedding{config: c, features: features, noise: noise{sum: h.SumStd, count: h.CountStd},
		guarantee: h.Guarantee}, nil
}

func readSection(f *synth.File, name string, want int64) ([]float64, error) {
	data, err := f.Section(name)
	if err != nil {
		return nil, err
	}
	if want > maxSums || int64(len(data)) != 8*want {
		return nil, malformed(fmt.Errorf("%d bytes of %s for %d numbers", len(data), name, want))
	}
	return synth.ReadFloats64(data, int(want))
}

func malformed(err error) error { return fmt.Errorf("%w: %w", synth.ErrFormat, err) }
