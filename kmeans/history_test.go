package kmeans_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// estimated returns a configuration with every kind of public state: an estimated clip norm, memory
// and random splits.
func estimated(iterations int) kmeans.Config {
	return kmeans.Config{K: 3, Iterations: iterations, NoiseMultiplier: 2, Memory: 0.5,
		Small: kmeans.SplitLargest, Norm: &kmeans.DPNorm{Max: 9, Bins: 6, NoiseMultiplier: 2}}
}

// merged returns a configuration with more centres than clusters.
func merged(iterations int) kmeans.Config {
	c := cfgFor(3, iterations)
	c.K, c.Centers = 2, 3
	return c
}

// mergedAfter returns a configuration whose centres are merged after one of the iterations.
func mergedAfter(merge, iterations int) kmeans.Config {
	c := merged(iterations)
	c.Merge = merge
	return c
}

// reserved returns the allowances of a fit on a ledger.
func reserved(t *testing.T, ctx context.Context, l *ledger.Ledger, cfg kmeans.Config) (norm,
	iterations *mechanism.Allowance) {
	t.Helper()
	all := must(mechanism.ReserveAll(ctx, l, ledger.Transaction{Lines: cfg.Lines()}))(t)
	if cfg.Norm == nil {
		return nil, all[0]
	}
	return all[0], all[1]
}

// TestFitsGoOn cancels fits after each release and resumes them from their history. With the same
// noise, a resumed fit must give the same model as an uninterrupted fit, with the same number of
// releases.
func TestFitsGoOn(t *testing.T) {
	data := table(t, square, blobs(rand.New(rand.NewPCG(1, 1)), 200, 1, corners...))
	for name, cfg := range map[string]kmeans.Config{"estimated": estimated(4), "given": cfgFor(3, 4),
		"merged": merged(4), "merged after 2": mergedAfter(2, 4)} {
		fresh := func() context.Context {
			return entropy.WithTap(context.Background(), &recorder{seed: 6})
		}
		whole := must(kmeans.Fit(fresh(), cfg, kmeans.Raw(square), data,
			ledgerOf(accountant.AddOrRemoveOne)))(t)
		for stop := range 5 {
			if stop == 0 && cfg.Norm == nil {
				continue
			}
			ctx, cancel := context.WithCancel(fresh())
			l, h := ledgerOf(accountant.AddOrRemoveOne), &kmeans.History{}
			norm, iterations := reserved(t, ctx, l, cfg)
			opts := []kmeans.Option{kmeans.WithAllowances(norm, iterations), kmeans.WithHistory(h)}
			_, err := kmeans.Fit(ctx, cfg, kmeans.Raw(square), data, l, append(opts, kmeans.WithProgress(
				func(i, _ int, _ float64) {
					if i == stop {
						cancel()
					}
				}))...)
			if cancel(); stop < cfg.Iterations && !errors.Is(err, context.Canceled) ||
				len(h.Iterations) != stop {
				t.Fatalf("%s, stopped at %d: got error %v and %d iterations in the history", name, stop, err,
					len(h.Iterations))
			}
			var seen []int
			m := must(kmeans.Fit(context.Background(), cfg, kmeans.Raw(square), data, l,
				append(opts, kmeans.WithProgress(
					func(i, _ int, _ float64) { seen = append(seen, i) }))...))(t)
			if !reflect.DeepEqual(m, whole) {
				t.Errorf("%s, stopped at %d: the resumed fit gives another model", name, stop)
			}
			if want := []int{1, 2, 3, 4}[stop:]; len(seen) != len(want) || !slices.Equal(seen, want) {
				t.Errorf("%s, stopped at %d: the resumed fit made iterations %v", name, stop, seen)
			}
			for _, e := range l.Entries() {
				if e.Spent != e.Reserved {
					t.Errorf("%s, stopped at %d: a ledger entry is not fully spent: %+v", name, stop, e)
				}
			}
			again, err := kmeans.Fit(context.Background(), cfg, kmeans.Raw(square), untouchable{data, t},
				l, opts...)
			if err != nil || !reflect.DeepEqual(again, whole) {
				t.Errorf("%s, stopped at %d: repeating a complete fit gives another model or error %v", name,
					stop, err)
			}
		}
	}
}

// TestLostReleasesAreLeftOut checks that releases lost in an interruption are not drawn again. A
// lost clip norm is replaced by the largest norm. If all iterations are lost, the model has the
// first centres and equal weights.
func TestLostReleasesAreLeftOut(t *testing.T) {
	data := table(t, square, blobs(rand.New(rand.NewPCG(1, 1)), 200, 1, corners...))
	for lost := range 5 {
		cfg, l, h := estimated(4), ledgerOf(accountant.AddOrRemoveOne), &kmeans.History{}
		cfg.Init = kmeans.Init{Method: kmeans.Given,
			Centers: [][]float32{{.1, 0}, {0, .1}, {-.1, 0}, {0, -.1}}[:cfg.K]}
		norm, iterations := reserved(t, t.Context(), l, cfg)
		for _, a := range append([]*mechanism.Allowance{norm},
			slices.Repeat([]*mechanism.Allowance{iterations}, lost)...) {
			if _, err := a.Next(); err != nil {
				t.Fatal(err)
			}
		}
		m := must(kmeans.Fit(t.Context(), cfg, kmeans.Raw(square), data, l,
			kmeans.WithAllowances(norm, iterations),
			kmeans.WithHistory(h), kmeans.WithSeed(2)))(t)
		if m.ClipNorm != cfg.Norm.Max || len(h.Iterations) != 4-lost || h.ClipNorm != m.ClipNorm {
			t.Errorf("%d lost: got clip norm %v and %d iterations", lost, m.ClipNorm, len(h.Iterations))
		}
		for _, e := range l.Entries() {
			if e.Spent != e.Reserved {
				t.Errorf("%d lost: a ledger entry is not fully spent: %+v", lost, e)
			}
		}
		if lost < 4 {
			continue
		}
		for i, w := range m.Weights() {
			if w != 1.0/3 {
				t.Errorf("cluster %d has weight %v, want 1/3", i, w)
			}
			if c := m.Centers[i]; math.Abs(math.Hypot(float64(c[0]), float64(c[1]))-0.1) > 1e-4 {
				t.Errorf("cluster %d is at %v, which is not a first centre", i, c)
			}
		}
	}
}

// TestWhatAFitCannotGoOnFrom checks that invalid histories and wrong allowances are refused before
// a record is read. Histories may come from files.
func TestWhatAFitCannotGoOnFrom(t *testing.T) {
	data := untouchable{table(t, square, [][]float32{{1, 1}}), t}
	cfg := estimated(3)
	good := kmeans.Iteration{Sums: make([]float64, 6), Counts: make([]float64, 3)}
	bad := func(sums, counts int, v float64) kmeans.Iteration {
		it := kmeans.Iteration{Sums: make([]float64, sums), Counts: make([]float64, counts)}
		it.Counts[0] = v
		return it
	}
	for name, h := range map[string]kmeans.History{
		"a negative norm":        {ClipNorm: -1},
		"a norm of NaN":          {ClipNorm: math.NaN()},
		"too large a norm":       {ClipNorm: 10},
		"iterations without one": {Iterations: []kmeans.Iteration{good}},
		"more than were drawn":   {ClipNorm: 3, Iterations: []kmeans.Iteration{good, good}},
		"too few sums":           {ClipNorm: 3, Iterations: []kmeans.Iteration{bad(5, 3, 0)}},
		"too many counts":        {ClipNorm: 3, Iterations: []kmeans.Iteration{bad(6, 4, 0)}},
		"infinite counts":        {ClipNorm: 3, Iterations: []kmeans.Iteration{bad(6, 3, math.Inf(1))}},
		"counts of NaN":          {ClipNorm: 3, Iterations: []kmeans.Iteration{bad(6, 3, math.NaN())}},
	} {
		l := ledgerOf(accountant.AddOrRemoveOne)
		norm, iterations := reserved(t, t.Context(), l, cfg)
		if _, err := iterations.Next(); err != nil {
			t.Fatal(err)
		}
		var wrong *param.Error
		if _, err := kmeans.Fit(t.Context(), cfg, kmeans.Raw(square), data, l,
			kmeans.WithAllowances(norm, iterations),
			kmeans.WithHistory(&h)); !errors.As(err, &wrong) {
			t.Errorf("%s: got %v, want *param.Error", name, err)
		}
	}
	l := ledgerOf(accountant.AddOrRemoveOne)
	norm, iterations := reserved(t, t.Context(), l, cfg)
	other := estimated(3)
	other.NoiseMultiplier = 1
	shorter := estimated(2)
	plain := cfgFor(3, 3)
	for name, c := range map[string]struct {
		cfg              kmeans.Config
		norm, iterations *mechanism.Allowance
	}{"less noise": {other, norm, iterations}, "fewer iterations": {shorter, norm, iterations},
		"no clip norm": {cfg, nil, iterations}, "no iterations": {cfg, norm, nil},
		"exchanged":            {cfg, iterations, norm},
		"a clip norm too many": {plain, norm, iterations}} {
		var wrong *param.Error
		if _, err := kmeans.Fit(t.Context(), c.cfg, kmeans.Raw(square), data, l,
			kmeans.WithAllowances(c.norm, c.iterations)); !errors.As(err, &wrong) {
			t.Errorf("%s: got %v, want *param.Error", name, err)
		}
	}
	for name, r := range map[string]accountant.Relation{"another relation": accountant.ReplaceOne,
		"the same relation": accountant.AddOrRemoveOne} {
		var wrong *param.Error
		if _, err := kmeans.Fit(t.Context(), cfg, kmeans.Raw(square), data, ledgerOf(r),
			kmeans.WithAllowances(norm, iterations)); !errors.As(err, &wrong) {
			t.Errorf("allowances of another ledger of %s: %v", name, err)
		}
	}
	if err := cfg.Check(kmeans.Raw(square), records.Data(data)); err != nil {
		t.Error(err)
	}
	if err := cfg.Check(nil, nil); err == nil {
		t.Error("Check accepts nil features and data, want an error")
	}
}
