package merf

import (
	"context"
	"runtime"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

// watched draws feature maps that know whether they have mapped a record, as those that keep
// scratch memory do.
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

// TestEmbeddingsHoldNoScratchOfRecords: the feature map of a released embedding has seen no private
// record, that of the plan has.
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
		e, err := p.Embed(context.Background(), accountant.NewLedger(c.Budget), data)
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

// TestWideColumnsTakeMemoryByRow: features of a column of 60,000 buckets are summed without a
// vector of as many coordinates a row, which would be 246 MB a batch.
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
		t.Errorf("%d MB allocated", took>>20)
	}
}
