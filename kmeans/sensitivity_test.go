package kmeans_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

var square = records.Interval(2, -10, 10)

func cfgFor(k, iterations int) kmeans.Config {
	return kmeans.Config{K: k, Iterations: iterations, NoiseMultiplier: 1.7, ClipNorm: 3,
		CountShare: 0.2,
		Init:       kmeans.StartAt([][]float32{{1, 0}, {-1, 0}, {0, 1}}[:k])}
}

// pulled returns, for each release, the norm of (difference of inputs ÷ standard deviation), which
// the declared effect must bound.
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

// neighbours returns the neighbours of rows: with each record removed, with a new one added, or
// with each replaced by records chosen for the largest change of sums and counts.
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

// TestSensitivityByBruteForce compares every release's inputs on a data set and
// on all of its neighbours, with the first one's outputs replayed, against the
// effect that the release declared and the ledger was charged for.
func TestSensitivityByBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	rows := append(blobs(rng, 3, 1, []float64{2, 0}, []float64{-2, 0}, []float64{0, 3}),
		[]float32{10, 10}, []float32{-9, 0}, []float32{3, 0})
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		for _, share := range []float64{0, 0.02, 0.5, 0.9, -1} {
			t.Run(fmt.Sprintf("%v/%v", r, share), func(t *testing.T) {
				cfg := cfgFor(3, 3)
				cfg.CountShare = share
				if share < 0 { // more centres than clusters
					cfg.CountShare, cfg.K, cfg.Centers = 0, 2, 3
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
							t.Fatalf("release %d moves by %v, declared %v", i, d, allowed)
						}
						if e := base.releases[i].Effect; math.Abs(e*cfg.NoiseMultiplier-1) > 1e-12 {
							t.Fatalf("effect %v, multiplier %v", e, cfg.NoiseMultiplier)
						}
					}
				}
				// The bound is attained, so no more noise is added than necessary.
				if worst*cfg.NoiseMultiplier < 0.99 {
					t.Errorf("worst neighbour moves a release by %.3f of what is paid for",
						worst*cfg.NoiseMultiplier)
				}
			})
		}
	}
}

// TestSensitivityOfPrivateNorm does the same for an estimated clip norm followed by iterations.
func TestSensitivityOfPrivateNorm(t *testing.T) {
	rows := [][]float32{{1, 0}, {2, 0}, {0, 2.5}, {-7, 0}, {9, 9}, {0, 0}}
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		cfg := cfgFor(2, 2)
		cfg.ClipNorm, cfg.Norm = 0, &kmeans.DPNorm{Max: 4, Bins: 4, NoiseMultiplier: 0.9}
		base := &recorder{seed: 4}
		tapped(t, base, cfg, kmeans.Raw(square), table(t, square, rows), r)
		if len(base.releases) != 3 {
			t.Fatalf("%d releases", len(base.releases))
		}
		for _, other := range neighbours(r, rows) {
			rec := &recorder{seed: 4, replay: base.outputs()}
			tapped(t, rec, cfg, kmeans.Raw(square), table(t, square, other), r)
			for i, d := range pulled(t, base, rec) {
				if d > base.releases[i].Effect*(1+1e-9) {
					t.Fatalf("%v: release %d moves by %v, declared %v", r, i, d, base.releases[i].Effect)
				}
			}
		}
	}
}

// TestEveryRecordCountsOnce: counts of one iteration add up to the number of
// records, also for features that are not finite.
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
				t.Errorf("release %d counts %v of %d records", i, n, len(rows))
			}
			var sq float64
			for _, v := range rel.Inputs[0] {
				sq += v * v
			}
			if limit := 3 * float64(len(rows)); math.IsNaN(sq) || math.Sqrt(sq) > limit {
				t.Errorf("release %d: sums of norm %v exceed %v", i, math.Sqrt(sq), limit)
			}
		}
	}
}

// TestClippedRowsHoldInFloat: a single record's sum has norm at most C exactly.
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

// TestEventIsWhatIsSpent compares the configuration's event with the lines on the ledger, for any
// records.
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
				l := ledger(r)
				if _, err := kmeans.Fit(t.Context(), cfg, kmeans.Raw(square), d, l); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				entries, lines := l.Entries(), cfg.Lines()
				if len(entries) != len(lines) {
					t.Fatalf("%s: entries %+v", name, entries)
				}
				for i, e := range entries {
					if e.Spent != lines[i].Count || e.Reserved != e.Spent || e.Purpose != lines[i].Purpose ||
						!accountant.EqualEvents(e.Event, lines[i].Event) {
						t.Errorf("%s: ledger holds %+v, configuration says %+v", name, e, lines[i])
					}
				}
				want, err := accountant.Epsilon(cfg.Event(r), 1e-5, r)
				if err != nil || math.Abs(l.Epsilon().Upper-want.Upper) > 1e-9*want.Upper {
					t.Errorf("%s: ledger publishes %v, event costs %v (%v)", name, l.Epsilon(), want, err)
				}
			}
		}
	}
}

// TestPairedFeaturesAreNeverClipped: without a clip norm, the features' norm bound of 1 is used,
// and their norm is 1.
func TestPairedFeaturesAreNeverClipped(t *testing.T) {
	s := records.Binary(30)
	m, err := rff.RBF{Dim: 16, Bandwidth: 3}.New(30, 1)
	if err != nil {
		t.Fatal(err)
	}
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
		t.Errorf("squared norm %v of one record's features", sq)
	}
}

// undeclared is a backend without promises: the cluster of a record may depend on other records.
type undeclared struct{ device.Backend }

// With such a backend the guarantee names the real noise class too.
func TestBackendsWithoutPromisesAreNotExact(t *testing.T) {
	for be, want := range map[device.Backend]int{device.CPU(): 1, (undeclared{device.CPU()}): 2} {
		s := records.Interval(2, -1, 1)
		data, err := records.FromFlat(s, make([]float32, 20))
		if err != nil {
			t.Fatal(err)
		}
		ledger := accountant.NewLedger(accountant.Budget{Epsilon: 1e3, Delta: 1e-5})
		cfg := kmeans.Config{K: 2, Iterations: 1, NoiseMultiplier: 3}
		if _, err := kmeans.Fit(t.Context(), cfg, kmeans.Raw(s), data, ledger,
			kmeans.WithBackend(be)); err != nil {
			t.Fatal(err)
		}
		if c := ledger.Guarantee().NoiseClass; len(c) != want || want == 2 &&
			c[1] != accountant.RealNoise {
			t.Errorf("%s: noise classes %v", be.Name(), c)
		}
	}
}
