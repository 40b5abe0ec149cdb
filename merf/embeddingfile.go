package merf

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// kindEmbedding is the kind of files that hold a released embedding.
const kindEmbedding = "merf embedding"

// embeddingHeader describes an embedding without its sums and counts.
type embeddingHeader struct {
	Schema    records.Schema   `json:"schema"`
	Kernel    json.RawMessage  `json:"kernel,omitempty"` // absent if user-defined
	Seed      uint64           `json:"seed,string"`
	Nominal   int              `json:"nominal,omitempty"`
	SumStd    float64          `json:"sum_std"`
	CountStd  float64          `json:"count_std"`
	Guarantee ledger.Guarantee `json:"guarantee"`
}

// Save writes the embedding in a self-describing format that LoadEmbedding reads. The file does not
// contain a user-defined kernel; the caller must pass it to LoadEmbedding. Errors: *param.Error for
// the zero value; all errors of w.
func (e *Embedding) Save(w io.Writer) error {
	if e.known().features == nil {
		return param.New("merf.Embedding", nil, "an embedding released by a plan")
	}
	h := embeddingHeader{Schema: e.config.Schema, Seed: e.config.Seed, Nominal: e.config.Nominal,
		SumStd: e.noise.sum, CountStd: e.noise.count, Guarantee: e.guarantee}
	if kernel, err := rff.MarshalEmbedding(e.config.Kernel); err == nil {
		h.Kernel = kernel
	}
	f, err := synth.NewFile(h, e.parts()...)
	if err != nil {
		return fmt.Errorf("merf: %w", err)
	}
	f.Kind = kindEmbedding
	return f.Write(w)
}

// parts returns the file's parts for the sums and the counts.
func (e *Embedding) parts() []synth.Part {
	classes := classesOf(e.config.Schema)
	return []synth.Part{synth.FloatsPart("sums", &e.sums, classes*e.Features()),
		synth.FloatsPart("counts", &e.counts, classes)}
}

// LoadEmbedding reads an embedding that Save wrote. It uses the kernel argument if the file
// contains no kernel. A caller who passes the file's own kernel trusts it: its features may exceed
// the limits for files.
//
// Errors: synth.ErrFormat, with a *records.LimitError for features that take too much memory;
// synth.ErrVersion, synth.ErrTruncated and synth.ErrChecksum. A hostile
// file can only cause an error, and memory is bounded by a small multiple of the file's size.
func LoadEmbedding(r io.Reader, kernel ...rff.EmbeddingKernel) (*Embedding, error) {
	f, err := synth.DecodeFile(r)
	if err != nil {
		return nil, fmt.Errorf("merf: %w", err)
	}
	return decodeEmbedding(f, kernel)
}

func decodeEmbedding(f *synth.File, kernel []rff.EmbeddingKernel) (*Embedding, error) {
	if f.Kind != kindEmbedding {
		return nil, synth.Malformed(fmt.Errorf("the file contains a %.40q, want an embedding", f.Kind))
	}
	var h embeddingHeader
	if err := f.Decode(&h); err != nil {
		return nil, err
	}
	e, err := h.embedding(kernel)
	if err != nil {
		return nil, synth.Malformed(err)
	}
	if err := f.Load(e.parts()...); err != nil {
		return nil, err
	}
	return e, nil
}

// embedding rebuilds the embedding that the header describes, without its sums and counts.
func (h embeddingHeader) embedding(kernel []rff.EmbeddingKernel) (*Embedding, error) {
	if err := h.Schema.Validate(); err != nil {
		return nil, err
	}
	if !(h.SumStd > 0 && h.CountStd >= 0) || h.Nominal < 0 || len(h.Guarantee.Entries) == 0 {
		return nil, fmt.Errorf("noise ±%v on sums and ±%v on counts, %d records, %d entries of a "+
			"guarantee; want positive noise on sums, and entries", // JSON has no infinite values
			h.SumStd, h.CountStd, h.Nominal, len(h.Guarantee.Entries))
	}
	e := &Embedding{config: Config{Schema: h.Schema, Seed: h.Seed, Nominal: h.Nominal},
		noise: noise{sum: h.SumStd, count: h.CountStd}, guarantee: h.Guarantee}
	if len(kernel) == 1 {
		e.config.Kernel = kernel[0]
	}
	if h.Kernel != nil {
		var err error
		if e.config.Kernel, err = rff.UnmarshalEmbedding(h.Kernel); err != nil {
			return nil, err
		}
	}
	if e.config.Kernel == nil {
		return nil, errors.New("the file contains no kernel, and none was passed to LoadEmbedding")
	}
	if len(kernel) == 1 && reflect.DeepEqual(kernel[0], e.config.Kernel) {
		e.config.limits.Parameters = math.MaxInt64
	}
	var err error
	e.features, err = e.config.features()
	return e, err
}
