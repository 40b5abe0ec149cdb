package sets_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// TestPassesOverShards checks, for every method, that FitPasses on sums of shards results in the
// same generator and ledger as FitOn on all records.
func TestPassesOverShards(t *testing.T) {
	schema := records.Sets(12, 6)
	var rows [][]uint32
	for i := range uint32(300) {
		rows = append(rows, []uint32{i % 5, 5 + i%7, (i * i) % 12})
	}
	data := must(records.FromItems(schema, rows))(t)
	key := mechanism.NewKey()
	for name, p := range plans(t, schema, accountant.Budget{Epsilon: 2, Delta: 1e-5}) {
		purposes := 0
		read := func(ctx context.Context, pass synth.Pass) (*mechanism.Partial, error) {
			purposes++
			all, err := p.Partial(pass)
			if err != nil {
				return nil, err
			}
			for lo := 0; lo < 300; lo += 70 {
				shard, err := p.Partial(pass)
				if err != nil {
					return nil, err
				}
				if err := shard.Add(ctx, data.Slice(lo, min(lo+70, 300))); err != nil {
					return nil, err
				}
				b, err := shard.Seal(key, mechanism.Shard{Name: fmt.Sprint(lo)})
				if err != nil {
					return nil, err
				}
				if err := all.Open(key, b, b); err != nil {
					return nil, err
				}
			}
			return all, nil
		}
		one, two := ledger.New(p.Budget()), ledger.New(p.Budget())
		seeded := func() context.Context { return privacytest.Seeded(t, context.Background(), 3) }
		want := must(p.FitOn(seeded(), one, data))(t)
		got := must(p.FitPasses(seeded(), two, read))(t)
		if !reflect.DeepEqual(drawn(t, want), drawn(t, got)) {
			t.Errorf("%s: FitPasses and FitOn result in different records", name)
		}
		if !reflect.DeepEqual(one.Entries(), two.Entries()) {
			t.Errorf("%s: the ledger has %v, want %v", name, two.Entries(), one.Entries())
		}
		if purposes == 0 {
			t.Errorf("%s: no pass was made", name)
		}
	}
}

func drawn(t *testing.T, g *synth.Generator) (rows [][]uint32) {
	t.Helper()
	data, err := g.Sample(t.Context(), 200, synth.Seed(4))
	if err != nil {
		t.Fatal(err)
	}
	err = records.EachSet(data, func(_ int, items []uint32) error {
		rows = append(rows, append([]uint32(nil), items...))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestPassesOfOthersAreRefused checks that FitPasses refuses sums of another plan and, if the
// ledger's unit is the user, sums of rows. Partial must refuse passes of another plan.
func TestPassesOfOthersAreRefused(t *testing.T) {
	schema := records.Sets(12, 6)
	data := must(records.FromItems(schema, [][]uint32{{1, 2}, {3}}))(t)
	all := plans(t, schema, accountant.Budget{Epsilon: 2, Delta: 1e-5})
	other := plans(t, schema, accountant.Budget{Epsilon: 1, Delta: 1e-5})
	var wrong *param.Error
	for name, p := range all {
		for why, c := range map[string]struct {
			from synth.PassProgram
			unit string
			ok   bool
		}{
			"its own":      {p, records.UnitRecord, true},
			"another plan": {other[name], records.UnitRecord, false},
			"rows":         {p, records.UnitUser, false},
		} {
			l := ledger.New(p.Budget(), ledger.WithUnit(c.unit))
			_, err := p.FitPasses(t.Context(), l, func(ctx context.Context, pass synth.Pass) (
				*mechanism.Partial, error) {
				s, err := c.from.Partial(pass)
				if err != nil {
					return nil, err
				}
				return s, s.Add(ctx, data)
			})
			if c.ok != (err == nil) || !c.ok && !errors.As(err, &wrong) {
				t.Errorf("%s, sums of %s: error %v", name, why, err)
			}
		}
		for _, pass := range []synth.Pass{{}, {Purpose: "pair counts"},
			{Purpose: "choices", State: []byte{1}}, {Purpose: "item counts", State: []byte{1}}} {
			if _, err := p.Partial(pass); !errors.As(err, &wrong) {
				t.Errorf("%s: a pass of another plan, %+v: got error %v, want a *param.Error", name, pass, err)
			}
		}
		if _, err := p.FitPasses(t.Context(), ledger.New(p.Budget()), nil); !errors.As(err,
			&wrong) {
			t.Errorf("%s: no reader: got error %v, want a *param.Error", name, err)
		}
	}
}
