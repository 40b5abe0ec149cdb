package kmeans_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

var corners = [][]float64{{6, 6}, {-6, 6}, {6, -6}, {-6, -6}}

func fit(t testing.TB, cfg kmeans.Config, f kmeans.Features, data records.Data,
	opts ...kmeans.Option) *kmeans.Model {
	t.Helper()
	m := must(kmeans.Fit(context.Background(), cfg, f, data,
		ledgerOf(accountant.AddOrRemoveOne), opts...))(t)
	return m
}

// fitSeeded is fit with noise of a fixed seed, for tests whose result must not depend on random
// noise.
func fitSeeded(t testing.TB, cfg kmeans.Config, f kmeans.Features, data records.Data,
	opts ...kmeans.Option) *kmeans.Model {
	t.Helper()
	ctx := privacytest.Seeded(t, context.Background(), 1)
	return must(kmeans.Fit(ctx, cfg, f, data, ledgerOf(accountant.AddOrRemoveOne), opts...))(t)
}

// found returns the number of true centres within the given distance of a centre of the model.
func found(m *kmeans.Model, truth [][]float64, within float64) (n int) {
	for _, c := range truth {
		if slices.ContainsFunc(m.Centers, func(x []float32) bool {
			return math.Hypot(float64(x[0])-c[0], float64(x[1])-c[1]) < within
		}) {
			n++
		}
	}
	return n
}

func TestFindsBlobsWithLittleNoise(t *testing.T) {
	data := table(t, square, blobs(rand.New(rand.NewPCG(1, 1)), 500, 0.7, corners...))
	public := table(t, square, blobs(rand.New(rand.NewPCG(2, 2)), 10, 0.7, corners...))
	base := kmeans.Config{K: 4, Iterations: 12, NoiseMultiplier: 1, Small: kmeans.SplitLargest}
	for name, in := range map[string]kmeans.Init{
		"mean first": {},
		"public":     kmeans.Public(records.DeclarePublic(public)),
		"given": {Method: kmeans.Given,
			Centers: [][]float32{{1, 1}, {-1, 1}, {1, -1}, {-1, -1}}},
	} {
		cfg := base
		cfg.Init = in
		best := 0
		for seed := range uint64(3) { // Lloyd's algorithm may end in a local optimum
			m := fitSeeded(t, cfg, kmeans.Raw(square), data, kmeans.WithSeed(seed))
			best = max(best, found(m, corners, 0.5))
			for _, c := range m.Counts {
				if best == 4 && math.Abs(c-500) > 100 {
					t.Errorf("%s: counts %v, want about 500 each", name, m.Counts)
				}
			}
		}
		if best != 4 {
			t.Errorf("%s: found %d clusters, want 4", name, best)
		}
	}
}

// TestKernelSeparatesRings checks that kernel k-means separates two concentric rings. No pair of
// centres in the plane can separate them.
func TestKernelSeparatesRings(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	var rows [][]float32
	for i := range 4000 {
		radius, angle := 1.0, 2*math.Pi*rng.Float64()
		if i%2 == 1 {
			radius = 8
		}
		rows = append(rows,
			[]float32{float32(radius * math.Cos(angle)), float32(radius * math.Sin(angle))})
	}
	data := table(t, square, rows)
	m := must(rff.RBF{Dim: 60, Bandwidth: 4}.New(2, 1))(t)
	cfg := kmeans.Config{K: 2, Iterations: 10, NoiseMultiplier: 2}
	right := func(f kmeans.Features) float64 {
		model := fitSeeded(t, cfg, f, data)
		var b device.Batch
		data.Range(0, data.Len(), &b)
		got := make([]int32, b.Rows)
		model.Assign(device.CPU(), f, b, got)
		same := 0
		for i, c := range got {
			if int(c) == i%2 {
				same++
			}
		}
		return math.Abs(float64(same)/float64(len(got))-0.5) + 0.5
	}
	if r := right(m); r < 0.95 {
		t.Errorf("kernel k-means assigns %.2f of two rings correctly, want at least 0.95", r)
	}
	if r := right(kmeans.Raw(square)); r > 0.7 {
		t.Errorf("plain k-means assigns %.2f of two rings correctly: the test has no power", r)
	}
}

// TestSameBitsHoweverItRuns checks that the released bits do not depend on memory limits or the
// number of workers.
func TestSameBitsHoweverItRuns(t *testing.T) {
	data := table(t, square, blobs(rand.New(rand.NewPCG(1, 1)), 3000, 1, corners...))
	f := must(rff.RBF{Dim: 20, Bandwidth: 4}.New(2, 1))(t)
	cfg := kmeans.Config{K: 4, Iterations: 3, NoiseMultiplier: 5,
		Norm: &kmeans.DPNorm{Max: 2, Bins: 10, NoiseMultiplier: 5}}
	var want []float32
	for name, opts := range map[string][]kmeans.Option{
		"default":  nil,
		"streamed": {kmeans.WithCache(0)},
		"workers":  {kmeans.WithBackend(device.CPUWith(3))},
		"alone":    {kmeans.WithBackend(device.CPUWith(1)), kmeans.WithCache(1)},
	} {
		m := tapped(t, &recorder{seed: 9}, cfg, f, data, accountant.AddOrRemoveOne, opts...)
		got := slices.Concat(m.Centers...)
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: other centres than with other options", name)
		}
	}
}

func TestNoiseIsFreshInEachRun(t *testing.T) {
	data := table(t, square, blobs(rand.New(rand.NewPCG(1, 1)), 10, 1, corners...))
	a, b := fit(t, cfgFor(2, 1), kmeans.Raw(square), data),
		fit(t, cfgFor(2, 1), kmeans.Raw(square), data)
	if slices.Equal(a.Counts, b.Counts) {
		t.Error("two runs drew the same noise")
	}
}

// untouchable is data that fails the test if a record is read.
type untouchable struct {
	records.Data
	t *testing.T
}

func (u untouchable) Range(lo, hi int, b *device.Batch)    { u.t.Error("records were read") }
func (u untouchable) Gather(rows []int32, b *device.Batch) { u.t.Error("records were read") }

func TestRefusalComesBeforeAnyRecordIsRead(t *testing.T) {
	data := untouchable{table(t, square, blobs(rand.New(rand.NewPCG(1, 1)), 10, 1, corners...)), t}
	l := ledger.New(accountant.Budget{Epsilon: 0.1, Delta: 1e-5})
	estimated := cfgFor(2, 5)
	estimated.ClipNorm, estimated.Norm = 0, &kmeans.DPNorm{Max: 10, Bins: 8, NoiseMultiplier: 3}
	for _, cfg := range []kmeans.Config{cfgFor(2, 5), estimated} {
		_, err := kmeans.Fit(t.Context(), cfg, kmeans.Raw(square), data, l)
		if !errors.Is(err, accountant.ErrBudgetExceeded) {
			t.Errorf("got error %v, want ErrBudgetExceeded", err)
		}
		if n := len(l.Entries()); n != 0 {
			t.Errorf("the ledger has %d entries after a refusal, want none", n)
		}
	}
	if _, err := kmeans.Fit(t.Context(), kmeans.Config{}, kmeans.Raw(square), data, l); err == nil {
		t.Error("Fit accepts the zero configuration, want an error")
	}
}

// TestCancellation checks that a cancelled Fit returns the context's error. The reservation must
// stay on the ledger.
func TestCancellation(t *testing.T) {
	data := table(t, square, blobs(rand.New(rand.NewPCG(1, 1)), 100, 1, corners...))
	ctx, cancel := context.WithCancel(context.Background())
	l := ledgerOf(accountant.AddOrRemoveOne)
	seen := 0
	_, err := kmeans.Fit(ctx, cfgFor(2, 9), kmeans.Raw(square), data, l,
		kmeans.WithProgress(func(i, of int, epsilon float64) {
			seen = i
			if i == 4 {
				cancel()
			}
		}))
	if !errors.Is(err, context.Canceled) || seen != 4 {
		t.Fatalf("got error %v after iteration %d, want context.Canceled after 4", err, seen)
	}
	e := l.Entries()
	if len(e) != 1 || e[0].Reserved != 9 || e[0].Spent != 4 {
		t.Errorf("ledger entries %+v, want one with 9 reserved and 4 spent", e)
	}
	before := ledgerOf(accountant.AddOrRemoveOne)
	if _, err := kmeans.Fit(ctx, cfgFor(2, 9), kmeans.Raw(square), data, before); !errors.Is(err,
		context.Canceled) || len(before.Entries()) != 0 {
		t.Errorf("cancelled context: error %v, ledger entries %+v, want none", err, before.Entries())
	}
}

func TestProgressIsPublic(t *testing.T) {
	cfg := cfgFor(2, 3)
	var steps []int
	var last float64
	fit(t, cfg, kmeans.Raw(square), table(t, square, nil),
		kmeans.WithProgress(func(i, of int, epsilon float64) {
			if of != 3 || !(epsilon > last) {
				t.Errorf("iteration %d of %d has ε = %v after ε = %v, want 3 iterations and increasing ε", i,
					of, epsilon, last)
			}
			steps, last = append(steps, i), epsilon
		}))
	if !slices.Equal(steps, []int{1, 2, 3}) {
		t.Errorf("got reports of iterations %v, want 1, 2, 3", steps)
	}
}

// TestAnyRecordsGiveAModel checks that the model is valid for empty data, and for records that are
// not finite.
func TestAnyRecordsGiveAModel(t *testing.T) {
	nan := float32(math.NaN())
	for _, rows := range [][][]float32{nil, {{nan, nan}}, {{1e30, -1e30}}, {{1, 2}}} {
		for _, small := range []kmeans.Small{kmeans.KeepCenter, kmeans.SplitLargest} {
			cfg := kmeans.Config{K: 3, Iterations: 4, NoiseMultiplier: 50, Small: small,
				Shrink: kmeans.ShrinkToMean}
			m := fit(t, cfg, kmeans.Raw(square), table(t, square, rows))
			if err := m.Validate(); err != nil {
				t.Errorf("%v: %v", small, err)
			}
			for _, c := range m.Centers {
				if n := math.Hypot(float64(c[0]), float64(c[1])); n > m.ClipNorm*(1+1e-6) {
					t.Errorf("a centre has norm %v, above the clip norm %v", n, m.ClipNorm)
				}
			}
		}
	}
}

func TestSetsAreClusteredSparse(t *testing.T) {
	s := records.Sets(40, 10)
	var rows [][]uint32
	for i := range 600 {
		base := uint32(i % 2 * 20)
		rows = append(rows, []uint32{base, base + 1, base + 2 + uint32(i%15)})
	}
	data := must(records.FromItems(s, rows))(t)
	m := must(rff.RBF{Dim: 40, Bandwidth: 1.5}.New(40, 1))(t)
	for name, f := range map[string]kmeans.Features{"kernel": m, "raw": kmeans.Raw(s)} {
		cfg := kmeans.Config{K: 2, Iterations: 8, NoiseMultiplier: 1, Small: kmeans.SplitLargest}
		model := fit(t, cfg, f, data)
		var b device.Batch
		data.Range(0, 600, &b)
		got := make([]int32, 600)
		model.Assign(device.CPU(), f, b, got)
		for i := range got {
			if got[i] != got[i%2] {
				t.Errorf("%s: record %d is not in the cluster of the other records of its kind", name, i)
				break
			}
		}
		if got[0] == got[1] {
			t.Errorf("%s: both kinds of records are in the same cluster", name)
		}
	}
}

func TestConfigurationErrors(t *testing.T) {
	good := cfgFor(2, 3)
	change := func(f func(*kmeans.Config)) kmeans.Config { c := good; f(&c); return c }
	data := table(t, square, nil)
	for path, cfg := range map[string]kmeans.Config{
		"Config.K":               change(func(c *kmeans.Config) { c.K = 0 }),
		"Config.Iterations":      change(func(c *kmeans.Config) { c.Iterations = -1 }),
		"Config.NoiseMultiplier": change(func(c *kmeans.Config) { c.NoiseMultiplier = math.NaN() }),
		"Config.Share":           change(func(c *kmeans.Config) { c.Share = 1.5 }),
		"Config.CountShare":      change(func(c *kmeans.Config) { c.CountShare = 1 }),
		"Config.ClipNorm":        change(func(c *kmeans.Config) { c.ClipNorm = math.Inf(1) }),
		"Config.Norm": change(func(c *kmeans.Config) {
			c.Norm = &kmeans.DPNorm{Max: 1, Bins: 3, NoiseMultiplier: 1}
		}),
		"Config.Small":  change(func(c *kmeans.Config) { c.Small = 7 }),
		"Config.Shrink": change(func(c *kmeans.Config) { c.Shrink = -1 }),
		"DPNorm.Max": change(func(c *kmeans.Config) {
			c.ClipNorm = 0
			c.Norm = &kmeans.DPNorm{Bins: 3, NoiseMultiplier: 1}
		}),
		"DPNorm.Min": change(func(c *kmeans.Config) {
			c.ClipNorm = 0
			c.Norm = &kmeans.DPNorm{Max: 1, Min: 2, Bins: 3, NoiseMultiplier: 1}
		}),
		"DPNorm.Bins": change(func(c *kmeans.Config) {
			c.ClipNorm = 0
			c.Norm = &kmeans.DPNorm{Max: 1, Bins: 1, NoiseMultiplier: 1}
		}),
		"DPNorm.NoiseMultiplier": change(func(c *kmeans.Config) {
			c.ClipNorm = 0
			c.Norm = &kmeans.DPNorm{Max: 1, Bins: 3}
		}),
		"Init.Method": change(func(c *kmeans.Config) { c.Init = kmeans.Init{Method: 99} }),
		"Init.Records": change(func(c *kmeans.Config) {
			c.Init = kmeans.Init{Method: kmeans.FromPublic}
		}),
		"Init.Centers": change(func(c *kmeans.Config) {
			c.Init = kmeans.Init{Method: kmeans.Given, Centers: [][]float32{{1, 2}}}
		}),
	} {
		_, err := kmeans.Fit(t.Context(), cfg, kmeans.Raw(square), data,
			ledgerOf(accountant.AddOrRemoveOne))
		var typed *param.Error
		if !errors.As(err, &typed) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got error %v, want *param.Error with this path", path, err)
		}
	}
	for name, c := range map[string]struct {
		cfg kmeans.Config
		f   kmeans.Features
	}{
		"centres of another width": {change(func(c *kmeans.Config) {
			c.Init = kmeans.Init{Method: kmeans.Given, Centers: [][]float32{{1}, {2}}}
		}), kmeans.Raw(square)},
		"centres that are not real": {change(func(c *kmeans.Config) {
			c.Init.Centers = [][]float32{{1, 2}, {1, float32(math.NaN())}}
		}), kmeans.Raw(square)},
		"public records of another width": {change(func(c *kmeans.Config) {
			c.Init = kmeans.Public(records.DeclarePublic(table(t, records.Binary(3),
				[][]float32{{1, 0, 1}})))
		}), kmeans.Raw(square)},
		"features without a bound": {change(func(c *kmeans.Config) {
			c.ClipNorm = 0
		}), stubborn{kmeans.Raw(square), math.Inf(1), nil}},
	} {
		var typed *param.Error
		if _, err := kmeans.Fit(t.Context(), c.cfg, c.f, data,
			ledgerOf(accountant.AddOrRemoveOne)); !errors.As(err, &typed) {
			t.Errorf("%s: got error %v, want *param.Error", name, err)
		}
	}
	if _, err := kmeans.Fit(t.Context(), good, nil, nil, nil); err == nil {
		t.Error("Fit accepts nil arguments, want an error")
	}
}

func TestCalibrate(t *testing.T) {
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		b := accountant.Budget{Epsilon: 0.5, Delta: 1e-5, Relation: r}
		cfg := kmeans.Config{K: 10, Iterations: 20, Norm: &kmeans.DPNorm{Max: 10, Bins: 20}}
		got := must(cfg.Calibrate(b))(t)
		bound, err := accountant.Epsilon(got.Event(r), b.Delta, r)
		if err != nil || bound.Upper > b.Epsilon || bound.Upper < 0.98*b.Epsilon {
			t.Errorf("%v: the calibrated fit has ε = %v (error %v), want 98 to 100 %% of 0.5", r, bound, err)
		}
		if cfg.Norm.NoiseMultiplier != 0 {
			t.Error("calibration changed the caller's configuration")
		}
	}
	if _, err := (kmeans.Config{}).Calibrate(accountant.Budget{}); err == nil {
		t.Error("Calibrate accepts the zero configuration and budget, want an error")
	}
}

func TestPrivateNormIsRecovered(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	s := records.Interval(8, -1e6, 1e6)
	for _, typical := range []float64{0.3, 5, 700, 2e5} {
		var rows [][]float32
		for range 3000 {
			row := make([]float32, 8)
			var sq float64
			for j := range row {
				row[j] = float32(rng.NormFloat64())
				sq += float64(row[j]) * float64(row[j])
			}
			length := typical * (0.9 + 0.1*rng.Float64()) / math.Sqrt(sq)
			for j := range row {
				row[j] *= float32(length)
			}
			rows = append(rows, row)
		}
		cfg := kmeans.Config{K: 2, Iterations: 1, NoiseMultiplier: 5,
			Norm: &kmeans.DPNorm{Min: 0.01, Max: 1e5, Bins: 36, NoiseMultiplier: 20}}
		m := fitSeeded(t, cfg, kmeans.Raw(s), table(t, s, rows))
		if typical > 1e5 {
			if m.ClipNorm != 1e5 {
				t.Errorf("norms above all bins give the clip norm %v, want 1e5", m.ClipNorm)
			}
		} else if m.ClipNorm < 0.85*typical || m.ClipNorm > 2*typical {
			t.Errorf("norms of about %v give the clip norm %v, want a similar number", typical, m.ClipNorm)
		}
	}
}

// TestRecordsGoToTheNearestCentre checks that records are assigned to the clusters of the nearest
// centres, in batches of any size.
func TestRecordsGoToTheNearestCentre(t *testing.T) {
	data := table(t, square, blobs(rand.New(rand.NewPCG(1, 1)), 300, 2, corners...))
	m := fit(t, kmeans.Config{K: 4, Iterations: 5, NoiseMultiplier: 1}, kmeans.Raw(square), data)
	var b device.Batch
	data.Range(0, data.Len(), &b)
	want, got := make([]int32, b.Rows), make([]int32, b.Rows)
	m.Assign(device.CPU(), kmeans.Raw(square), b, want)
	for i := range 40 {
		m.Assign(device.CPU(), kmeans.Raw(square), b.Slice(i, i+1), got[i:i+1])
	}
	if !slices.Equal(got[:40], want[:40]) {
		t.Error("single records are assigned differently than a batch")
	}
	for i, c := range want {
		x := b.Dense.Row(i)
		best := math.Inf(1)
		for _, center := range m.Centers {
			best = min(best, math.Hypot(float64(x[0]-center[0]), float64(x[1]-center[1])))
		}
		if d := math.Hypot(float64(x[0]-m.Centers[c][0]), float64(x[1]-m.Centers[c][1])); d > best+1e-4 {
			t.Fatalf("record %d has distance %.4f from its centre, but %.4f from the nearest", i, d, best)
		}
	}
}
