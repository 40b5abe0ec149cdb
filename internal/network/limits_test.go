package network

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// ranged is data that holds nothing and keeps the ranges that are read.
type ranged struct {
	schema records.Schema
	n      int
	read   *[][2]int
}

func (r ranged) Schema() records.Schema      { return r.schema }
func (r ranged) Len() int                    { return r.n }
func (ranged) Gather([]int32, *device.Batch) { panic("not read in order") }
func (r ranged) Range(lo, hi int, b *device.Batch) {
	*r.read = append(*r.read, [2]int{lo, hi})
	b.Rows = hi - lo
}

// TestBatchesOfWideRecordsAreShort: a batch has at most 2²² coordinates, or one record. Sets have
// no such bound.
func TestBatchesOfWideRecordsAreShort(t *testing.T) {
	for _, c := range []struct {
		s    records.Schema
		want [][2]int
	}{
		{records.Binary(mostCoordinates / 2), [][2]int{{0, 2}, {2, 4}, {4, 5}}},
		{records.Binary(mostCoordinates + 1), [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}}},
		{records.Binary(9), [][2]int{{0, 4}, {4, 5}}},
		{records.Sets(mostCoordinates, 3), [][2]int{{0, 4}, {4, 5}}},
	} {
		var got [][2]int
		err := EachBatch(t.Context(), ranged{c.s, 5, &got}, 4, func(lo int, b device.Batch) {
			if last := got[len(got)-1]; lo != last[0] || b.Rows != last[1]-lo {
				t.Errorf("%v: a batch of %d rows from %d is %v", c.s, b.Rows, lo, last)
			}
		})
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%v: got batches %v, %v, want %v", c.s, got, err, c.want)
		}
	}
}

// TestAnEndedContextHidesWhetherThereAreRecords: the error is the same with records and without.
func TestAnEndedContextHidesWhetherThereAreRecords(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, n := range []int{0, 1} {
		data, err := records.FromFlat(records.Binary(2), make([]float32, 2*n))
		if err != nil {
			t.Fatal(err)
		}
		err = EachBatch(ended, data, 8, func(int, device.Batch) { t.Error("a batch is read") })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("batches of %d records: got error %v, want Canceled", n, err)
		}
		err = EachNonzeros(ended, data, 8, func(int, *records.Nonzeros) { t.Error("rows are read") })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("nonzeros of %d records: got error %v, want Canceled", n, err)
		}
	}
}

// TestModelsWithinModelsShare: the limits of a file are divided by all models that it holds.
func TestModelsWithinModelsShare(t *testing.T) {
	ctx := Sharing(Sharing(t.Context(), 3), 4)
	if got := Sharers(ctx); got != 12 || Sharers(t.Context()) != 1 {
		t.Errorf("got %d and %d models, want 12 and 1", got, Sharers(t.Context()))
	}
}

// TestLimitsOfWhatFilesName: networks, feature maps and lists of pairs may just meet their limits.
func TestLimitsOfWhatFilesName(t *testing.T) {
	s, a := records.Binary(6), models.MLP{Hidden: []int{5}, BatchNorm: true}
	params, state := a.GeneratorSize(3, Heads(s))
	each := max(params, params+state/4)
	kernel := rff.RBF{Dim: 300, Bandwidth: 1}
	table, err := kernel.Embedding(rff.Layout{In: 6}, 1)
	if err != nil {
		t.Fatal(err)
	}
	const pairs = 6 * 5 / 2 * pairNumbers
	for what, c := range map[string]struct {
		most  int64
		check func(records.Limits) error
	}{
		"three networks": {3 * each, func(l records.Limits) error {
			return CheckNamedGenerators(3, synth.SavedPlan{Schema: s, Limits: l}, a, 3)
		}},
		"a feature map": {6 * 300 / 3, func(l records.Limits) error { return CheckFeatures(l, table) }},
		"pairs": {pairs, func(l records.Limits) error {
			_, err := Embedding(l, rff.Pairs{Order: 2}, s, rff.Layout{In: 6}, 1)
			return err
		}},
	} {
		if err := c.check(records.Limits{Parameters: c.most}); err != nil {
			t.Errorf("%s at their limit: %v", what, err)
		}
		over := new(records.LimitError)
		err := c.check(records.Limits{Parameters: c.most - 1})
		if !errors.As(err, &over) || !errors.Is(err, synth.ErrFormat) {
			t.Errorf("%s over their limit: got error %v, want a LimitError and ErrFormat", what, err)
		}
	}
	few := records.Limits{Parameters: 7}
	if _, err := Embedding(few, rff.Pairs{Order: 1}, s, rff.Layout{In: 6}, 1); err != nil {
		t.Errorf("single columns are counted as pairs: %v", err)
	}
	if got := Unshared(few).Parameters; got != leastLimit || few.Parameters != 7 {
		t.Errorf("the parts of a composition get %d parameters, want %d", got, leastLimit)
	}
	if got := Unshared(records.Limits{Parameters: 2 * leastLimit}).Parameters; got != 2*leastLimit {
		t.Errorf("got a limit of %d, want %d as set", got, 2*leastLimit)
	}
}

// TestAChoiceWithoutWeight is the last index, not one beyond.
func TestAChoiceWithoutWeight(t *testing.T) {
	if got := (Choice{0, 0}).Pick(rand.New(zeros{}), -1); got != 1 {
		t.Errorf("index %d is picked, want 1", got)
	}
}
