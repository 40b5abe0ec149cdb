package kmeans_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

var square = records.Interval(2, -10, 10)

func cfgFor(k, iterations int) kmeans.Config {
	return kmeans.Config{K: k, Iterations: iterations, NoiseMultiplier: 1.7, ClipNorm: 3,
		CountShare: 0.2,
		Init:       kmeans.Init{Method: kmeans.Given, Centers: [][]float32{{1, 0}, {-1, 0}, {0, 1}}[:k]}}
}

// pulled returns, for each release, the norm of the difference of the inputs divided by the
// standard deviations. The declared effect must be at least this norm.
func pulled(t *testing.T, a, b *recorder) []float64 {
	t.Helper()
	if len(a.releases) != len(b.releases) {
		t.Fatalf("%d releases for one data set, %d for its neighbour", len(a.releases), len(b.releases))
	}
	var out []float64
	for i, ra := range a.releases {
		var sum float64
		for p := range ra.Inputs {
			for j := range ra.Inputs[p] {
				d := (ra.Inputs[p][j] - b.releases[i].Inputs[p][j]) / ra.Std[p]
				sum += d * d
			}
		}
		out = append(out, math.Sqrt(sum))
	}
	return out
}

// neighbours returns neighbouring data sets of rows. Under add/remove, each record is removed, or
// an extreme record is added. Under replace-one, each record is replaced by extreme records.
// Extreme records are chosen for large changes of sums and counts.
func neighbours(r accountant.Relation, rows [][]float32) [][][]float32 {
	extremes := [][]float32{{10, 0}, {-10, 0}, {0, 10}, {0, -10}, {3, 0}, {-3, 0}, {0, 0}, {2.1, -2.1}}
	var out [][][]float32
	for i := range rows {
		if r == accountant.AddOrRemoveOne {
			out = append(out, append(append([][]float32{}, rows[:i]...), rows[i+1:]...))
			continue
		}
		for _, x := range extremes {
			changed := append([][]float32{}, rows...)
			changed[i] = x
			out = append(out, changed)
		}
	}
	if r == accountant.AddOrRemoveOne {
		for _, x := range extremes {
			out = append(out, append(append([][]float32{}, rows...), x))
		}
	}
	return out
}

// TestSensitivityByBruteForce runs a fit on a data set, and on neighbouring data sets with the
// first run's outputs replayed. The inputs of each release must not differ by more than the
// declared effect, for which the ledger was charged.
func TestSensitivityByBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	rows := append(blobs(rng, 3, 1, []float64{2, 0}, []float64{-2, 0}, []float64{0, 3}),
		[]float32{10, 10}, []float32{-9, 0}, []float32{3, 0})
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		for _, share := range []float64{0, 0.02, 0.5, 0.9, -1, -2} {
			t.Run(fmt.Sprintf("%v/%v", r, share), func(t *testing.T) {
				cfg := cfgFor(3, 3)
				cfg.CountShare = share
				if share < 0 { // more centres than clusters
					cfg.CountShare, cfg.K, cfg.Centers = 0, 2, 3
				}
				if share == -2 { // merged before the last iteration
					cfg.Merge = 1
				}
				base := &recorder{seed: 4}
				tapped(t, base, cfg, kmeans.Raw(square), table(t, square, rows), r)
				worst := 0.0
				for _, other := range neighbours(r, rows) {
					rec := &recorder{seed: 4, replay: base.outputs()}
					tapped(t, rec, cfg, kmeans.Raw(square), table(t, square, other), r)
					for i, d := range pulled(t, base, rec) {
						worst = max(worst, d)
						if allowed := base.releases[i].Effect; d > allowed*(1+1e-9) {
							t.Fatalf("release %d differs by %v, more than the declared %v", i, d, allowed)
						}
						if e := base.releases[i].Effect; math.Abs(e*cfg.NoiseMultiplier-1) > 1e-12 {
							t.Fatalf("declared effect %v, want 1/%v", e, cfg.NoiseMultiplier)
						}
					}
				}
				// A neighbour attains the declared effect, so the noise is not larger than necessary.
				if worst*cfg.NoiseMultiplier < 0.99 {
					t.Errorf("the largest difference is %.3f of the declared effect, want 1",
						worst*cfg.NoiseMultiplier)
				}
			})
		}
	}
}

// TestSensitivityOfPrivateNorm is TestSensitivityByBruteForce for a fit with an estimated clip
// norm.
func TestSensitivityOfPrivateNorm(t *testing.T) {
	rows := [][]float32{{1, 0}, {2, 0}, {0, 2.5}, {-7, 0}, {9, 9}, {0, 0}}
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		cfg := cfgFor(2, 2)
		cfg.ClipNorm, cfg.Norm = 0, &kmeans.DPNorm{Max: 4, Bins: 4, NoiseMultiplier: 0.9}
		base := &recorder{seed: 4}
		tapped(t, base, cfg, kmeans.Raw(square), table(t, square, rows), r)
		if len(base.releases) != 3 {
			t.Fatalf("got %d releases, want 3", len(base.releases))
		}
		for _, other := range neighbours(r, rows) {
			rec := &recorder{seed: 4, replay: base.outputs()}
			tapped(t, rec, cfg, kmeans.Raw(square), table(t, square, other), r)
			for i, d := range pulled(t, base, rec) {
				if d > base.releases[i].Effect*(1+1e-9) {
					t.Fatalf("%v: release %d differs by %v, more than the declared %v", r, i, d,
						base.releases[i].Effect)
				}
			}
		}
	}
}

// TestEveryRecordCountsOnce checks that the counts of an iteration add up to the number of records,
// also if some features are not finite.
func TestEveryRecordCountsOnce(t *testing.T) {
	rows := blobs(rand.New(rand.NewPCG(1, 2)), 20, 1, []float64{2, 0}, []float64{-2, 0},
		[]float64{0, 3})
	spoiled := stubborn{kmeans.Raw(square), 3, func(i int32, row []float32) {
		switch i {
		case 3:
			row[0] = float32(math.NaN())
		case 7:
			row[1] = float32(math.Inf(-1))
		case 9:
			row[0] = math.MaxFloat32
		}
	}}
	for _, cache := range []int64{0, 1 << 20} {
		rec := &recorder{seed: 1}
		tapped(t, rec, cfgFor(3, 4), spoiled, table(t, square, rows), accountant.AddOrRemoveOne,
			kmeans.WithCache(cache))
		for i, rel := range rec.releases {
			var n float64
			for _, c := range rel.Inputs[1] {
				n += c
			}
			if n != float64(len(rows)) {
				t.Errorf("release %d counts %v records, want %d", i, n, len(rows))
			}
			var sq float64
			for _, v := range rel.Inputs[0] {
				sq += v * v
			}
			if limit := 3 * float64(len(rows)); math.IsNaN(sq) || math.Sqrt(sq) > limit {
				t.Errorf("release %d: the sums have norm %v, want at most %v", i, math.Sqrt(sq), limit)
			}
		}
	}
}

// TestClippedRowsHoldInFloat checks that the sum of a single record has norm at most the clip norm,
// without any tolerance for rounding.
func TestClippedRowsHoldInFloat(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	s := records.Interval(7, -1e30, 1e30)
	cfg := kmeans.Config{K: 1, Iterations: 1, NoiseMultiplier: 1, ClipNorm: 1}
	for range 300 {
		row := make([]float32, 7)
		for j := range row {
			row[j] = float32(rng.NormFloat64() * math.Pow(10, rng.Float64()*20-8))
		}
		rec := &recorder{seed: 1}
		tapped(t, rec, cfg, kmeans.Raw(s), table(t, s, [][]float32{row}), accountant.AddOrRemoveOne)
		var sq float64
		for _, v := range rec.releases[0].Inputs[0] {
			sq += v * v
		}
		if sq > 1 {
			t.Fatalf("squared norm %v after clipping to 1", sq)
		}
	}
}

// TestEventIsWhatIsSpent compares the configuration's event with the entries of the ledger, for
// several data sets.
func TestEventIsWhatIsSpent(t *testing.T) {
	data := map[string]*records.Table{
		"empty": table(t, square, nil),
		"one":   table(t, square, [][]float32{{1, 1}}),
		"many":  table(t, square, blobs(rand.New(rand.NewPCG(1, 1)), 50, 2, []float64{1, 1})),
		"nan":   table(t, square, [][]float32{{float32(math.NaN()), 1}, {float32(math.Inf(1)), 0}}),
	}
	plain, estimated := cfgFor(2, 5), cfgFor(2, 5)
	estimated.ClipNorm, estimated.Norm = 0,
		&kmeans.DPNorm{Max: 10, Min: 0.1, Bins: 8, NoiseMultiplier: 3}
	for name, d := range data {
		for _, cfg := range []kmeans.Config{plain, estimated} {
			for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
				l := ledgerOf(r)
				if _, err := kmeans.Fit(t.Context(), cfg, kmeans.Raw(square), d, l); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				entries, lines := l.Entries(), cfg.Lines()
				if len(entries) != len(lines) {
					t.Fatalf("%s: ledger entries %+v, want as many as Lines returns", name, entries)
				}
				for i, e := range entries {
					if e.Spent != lines[i].Count || e.Reserved != e.Spent || e.Purpose != lines[i].Purpose ||
						!accountant.EqualEvents(e.Event, lines[i].Event) {
						t.Errorf("%s: ledger entry %+v, want %+v", name, e, lines[i])
					}
				}
				want, err := accountant.Epsilon(cfg.Event(r), 1e-5, r)
				if err != nil || math.Abs(l.Epsilon().Upper-want.Upper) > 1e-9*want.Upper {
					t.Errorf("%s: the ledger has ε = %v, the event costs %v (error %v)", name, l.Epsilon(), want,
						err)
				}
			}
		}
	}
}

// TestPairedFeaturesAreNeverClipped checks that random Fourier features keep their norm of 1 if no
// clip norm is given. Their norm bound is then the clip norm.
func TestPairedFeaturesAreNeverClipped(t *testing.T) {
	s := records.Binary(30)
	m := must(rff.RBF{Dim: 16, Bandwidth: 3}.New(30, 1))(t)
	row := make([]float32, 30)
	row[4], row[5] = 1, 1
	rec := &recorder{seed: 1}
	tapped(t, rec, kmeans.Config{K: 1, Iterations: 1, NoiseMultiplier: 1}, m,
		table(t, s, [][]float32{row}), accountant.AddOrRemoveOne)
	var sq float64
	for _, v := range rec.releases[0].Inputs[0] {
		sq += v * v
	}
	if sq > 1 || sq < 1-1e-5 {
		t.Errorf("one record's features have squared norm %v, want 1", sq)
	}
}

// promising is a backend with other promises: a record's cluster may depend on other records, or on
// the call.
type promising struct {
	device.Backend
	promises device.Promises
}

func (p promising) Promises() device.Promises { return p.promises }

// TestBackendsWithoutPromisesAreNotExact checks that the guarantee of a fit on a backend without
// both promises also names the real noise class, for the norms and for the iterations. So does that
// of a fit whose sums another process added up on such a backend.
func TestBackendsWithoutPromisesAreNotExact(t *testing.T) {
	s := records.Interval(2, -1, 1)
	f := kmeans.Raw(s)
	data := must(records.FromFlat(s, make([]float32, 20)))(t)
	cfg := kmeans.Config{K: 2, Iterations: 1, NoiseMultiplier: 3,
		Norm: &kmeans.DPNorm{Max: 1, Bins: 4, NoiseMultiplier: 3}}
	check := func(what string, want int, fit func(l *ledger.Ledger) error) {
		l := ledger.New(accountant.Budget{Epsilon: 1e3, Delta: 1e-5})
		if err := fit(l); err != nil {
			t.Fatal(err)
		}
		for _, e := range l.Guarantee().Entries {
			if c := e.NoiseClass; len(c) != want || want == 2 && !slices.Contains(c, ledger.RealNoise) {
				t.Errorf("%s, %s: got noise classes %v", what, e.Purpose, c)
			}
		}
	}
	for be, want := range map[device.Backend]int{device.CPU(): 1,
		promising{device.CPU(), device.Promises{}}:                2,
		promising{device.CPU(), device.Promises{RowsAlone: true}}: 2,
		promising{device.CPU(), device.Promises{SameBits: true}}:  2} {
		check("fit on "+be.Name(), want, func(l *ledger.Ledger) error {
			_, err := kmeans.Fit(t.Context(), cfg, f, data, l, kmeans.WithBackend(be))
			return err
		})
		check("sums from "+be.Name(), want, func(l *ledger.Ledger) error {
			_, err := kmeans.FitPasses(t.Context(), cfg, f, "raw", s, l, func(ctx context.Context,
				p kmeans.Pass) (*mechanism.Partial, error) {
				sums, err := p.NewPartial(be, f)
				if err != nil {
					return nil, err
				}
				return sums, sums.Add(ctx, data)
			})
			return err
		})
	}
}
