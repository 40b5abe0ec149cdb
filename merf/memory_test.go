package merf

import (
	"context"
	"runtime"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

// watched draws feature maps that record whether they have mapped a record. A feature map with
// scratch memory would then hold features of that record.
type watched struct{ rff.EmbeddingKernel }

type watchedEmbedding struct {
	rff.Embedding
	used bool
}

func (k watched) Embedding(l rff.Layout, seed uint64) (rff.Embedding, error) {
	e, err := k.EmbeddingKernel.Embedding(l, seed)
	return &watchedEmbedding{Embedding: e}, err
}

func (e *watchedEmbedding) Transform(be device.Backend, b device.Batch, dst device.Matrix) {
	e.used = true
	e.Embedding.Transform(be, b, dst)
}

// TestEmbeddingsHoldNoScratchOfRecords checks that the feature map of a released embedding has
// mapped no private record, although the plan's feature map has.
func TestEmbeddingsHoldNoScratchOfRecords(t *testing.T) {
	c := Config{Schema: records.Binary(3), Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5},
		Kernel: watched{rff.RBF{Dim: 4, Bandwidth: 1}}}
	for _, b := range []Batches{{}, {Probability: 0.9, Steps: 3}} {
		c.Batches = b
		p, err := c.Plan()
		if err != nil {
			t.Fatal(err)
		}
		data, err := records.FromFlat(c.Schema, make([]float32, 60))
		if err != nil {
			t.Fatal(err)
		}
		e, err := p.Embed(context.Background(), ledger.New(c.Budget), data)
		if err != nil {
			t.Fatal(err)
		}
		if !p.work.features.(*watchedEmbedding).used {
			t.Error("the plan's features have mapped no record")
		}
		if e.features.(*watchedEmbedding).used {
			t.Error("the embedding's features have mapped private records")
		}
	}
}

// TestWideColumnsTakeMemoryByRow checks that summing the features of a column of 60,000 buckets
// does not allocate a vector of 60,000 coordinates for every row. Such vectors would take 246 MB
// for a batch.
func TestWideColumnsTakeMemoryByRow(t *testing.T) {
	schema, err := records.NewSchema(records.Hashed("h", 60_000), records.Numeric("x", 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	const n = 4096
	data, err := records.FromColumns(schema,
		records.Values{Codes: make([]int32, n), Dictionary: []string{"a"}},
		records.Values{Numbers: make([]float64, n)})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Config{Schema: schema, Kernel: rff.Pairs{Order: 1},
		Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5}}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	w := newWorker(p.work, device.CPU())
	for lo := 0; lo < n; lo += w.size() {
		w.addRange(data, lo, min(lo+w.size(), n), nil)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 16<<20 {
		t.Errorf("%d MB were allocated, want at most 16", took>>20)
	}
}
