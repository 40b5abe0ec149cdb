package merf_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/synth"
)

// TestSealedShardsGiveTheSameGenerator releases sealed shards. Some shards arrive twice. The
// release, the generator and the ledger must be the same as for a run on all records.
func TestSealedShardsGiveTheSameGenerator(t *testing.T) {
	data := drawTable(t, 500, 1)
	c := small(data.Schema(), accountant.AddOrRemoveOne, kernels()["rbf"])
	c.Generator.Steps = 5
	p, k := mustPlan(t, c), mechanism.NewKey()
	worker := mustPlan(t, c) // another process makes its own plan
	var arrived [][]byte
	cuts := []int{0, 0, 100, 101, 350, 500}
	for i := 1; i < len(cuts); i++ {
		for range i%2 + 1 {
			s := worker.NewPartial()
			if err := s.Add(t.Context(), data.Slice(cuts[i-1], cuts[i])); err != nil {
				t.Fatal(err)
			}
			b := must(s.Seal(k, mechanism.Shard{Name: fmt.Sprint(i)}))(t)
			arrived = append(arrived, b)
		}
	}
	slices.Reverse(arrived)
	seeded := func() context.Context { return privacytest.Seeded(t, context.Background(), 5) }
	one, two, three := ledger.New(c.Budget), ledger.New(c.Budget),
		ledger.New(c.Budget)
	want := must(p.FitOn(seeded(), one, data))(t)
	sums := p.NewPartial()
	if err := sums.Open(k, arrived...); err != nil {
		t.Fatal(err)
	}
	e := must(p.Release(seeded(), two, []*mechanism.Partial{sums}))(t)
	shards := must(p.Refit(t.Context(), e))(t)
	passes, err := p.FitPasses(seeded(), three, func(_ context.Context, pass synth.Pass) (
		*mechanism.Partial, error) {
		sums, err := p.Partial(pass)
		if err != nil {
			return nil, err
		}
		return sums, sums.Open(k, arrived...)
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]*synth.Generator{"shards": shards, "passes": passes} {
		if !reflect.DeepEqual(drawnRows(t, want), drawnRows(t, got)) {
			t.Errorf("%s: the generator draws other records than FitOn's", name)
		}
	}
	for _, l := range []*ledger.Ledger{two, three} {
		if !reflect.DeepEqual(one.Entries(), l.Entries()) {
			t.Errorf("the ledger has %v, want %v", l.Entries(), one.Entries())
		}
	}
}

func drawnRows(t *testing.T, g *synth.Generator) device.Batch {
	t.Helper()
	data := must(g.Sample(t.Context(), 50, synth.Seed(1)))(t)
	var b device.Batch
	data.Range(0, data.Len(), &b)
	return b
}
