package kmeans_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/device/devicetest"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// TestEverySettingIsChecked: each number may be at its limits, and not beyond them.
func TestEverySettingIsChecked(t *testing.T) {
	nan := math.NaN()
	set := func(f func(c *kmeans.Config)) func(*kmeans.Config) { return f }
	k := func(k, centers, merge, n int) func(*kmeans.Config) {
		return func(c *kmeans.Config) { c.K, c.Centers, c.Merge, c.Iterations = k, centers, merge, n }
	}
	norm := func(least, most float64, bins int, z float64) func(*kmeans.Config) {
		return func(c *kmeans.Config) {
			c.Norm = &kmeans.DPNorm{Min: least, Max: most, Bins: bins, NoiseMultiplier: z}
		}
	}
	z := func(z float64) func(*kmeans.Config) {
		return func(c *kmeans.Config) { c.NoiseMultiplier = z }
	}
	clip := func(x float64) func(*kmeans.Config) { return func(c *kmeans.Config) { c.ClipNorm = x } }
	memory := func(x float64) func(*kmeans.Config) { return func(c *kmeans.Config) { c.Memory = x } }
	share := func(x float64) func(*kmeans.Config) { return func(c *kmeans.Config) { c.Share = x } }
	counts := func(x float64) func(*kmeans.Config) {
		return func(c *kmeans.Config) { c.CountShare = x }
	}
	for ok, list := range map[bool][]func(*kmeans.Config){
		true: {k(1, 0, 0, 1), k(1<<20, 0, 0, 1), k(2, 2, 0, 1), k(2, 1024, 0, 1), k(1025, 1025, 0, 1),
			k(2, 3, 1, 2), k(2, 0, 0, 1<<20), norm(0, 1, 2, 1), norm(0, 0x1p100, 1<<20, 1),
			norm(0x1p-60, 1, 2, 1), norm(0, 1, 2, mechanism.MinArgmaxMultiplier), norm(0, 0x1p-59, 2, 1),
			norm(0x1p-60, 0x1p-59, 4, 1), z(1 << 24), z(1e-9), clip(0), clip(0x1p-60), clip(0x1p100),
			memory(0), memory(0.99), share(0), share(1), counts(0), counts(0.99),
			set(func(c *kmeans.Config) { c.Small, c.Shrink = kmeans.SplitLargest, kmeans.NoShrink })},
		false: {k(0, 0, 0, 1), k(1<<20+1, 0, 0, 1), k(2, 1, 0, 1), k(2, -1, 0, 1), k(2, 1025, 0, 1),
			k(2, 3, 2, 2), k(2, 2, 1, 2), k(2, 0, 1, 2), k(2, 3, -1, 2), k(2, 0, 0, 0),
			k(2, 0, 0, 1<<20+1), norm(0, 0, 2, 1), norm(0, 0x1.1p100, 2, 1), norm(0, 1, 1, 1),
			norm(0, 1, 1<<20+1, 1), norm(0x1p-61, 1, 2, 1), norm(1, 1, 2, 1), norm(-1, 1, 2, 1),
			norm(0, 0x1p-60, 2, 1), norm(0, nan, 2, 1), norm(nan, 1, 2, 1),
			norm(0, 1, 2, mechanism.MinArgmaxMultiplier/2), norm(0, 1, 2, 0), norm(0, 1, 2, 1<<25), z(0),
			z(nan), z(1 << 25), clip(-1), clip(0x1p-61), clip(0x1.1p100), clip(nan), memory(-0.1),
			memory(1), memory(nan), share(-0.1), share(1.1), share(nan), counts(-0.1), counts(1),
			counts(nan), set(func(c *kmeans.Config) { c.Small = 2 }),
			set(func(c *kmeans.Config) { c.Shrink = 2 }), set(func(c *kmeans.Config) { c.Init.Method = 3 }),
			set(func(c *kmeans.Config) { c.Init.Method = kmeans.FromPublic }),
			set(func(c *kmeans.Config) {
				c.Init = kmeans.Init{Method: kmeans.Given, Centers: [][]float32{{1}}}
			}),
			set(func(c *kmeans.Config) {
				norm(0, 1, 2, 1)(c)
				c.ClipNorm = 1
			})},
	} {
		for i, change := range list {
			c := kmeans.Config{K: 2, Iterations: 2, NoiseMultiplier: 1}
			change(&c)
			if err := c.Validate(); (err == nil) != ok {
				t.Errorf("setting %d of %v: %v", i, ok, err)
			}
		}
	}
}

// TestModelsAreChecked: a model is valid only with finite numbers and a cluster for each centre.
func TestModelsAreChecked(t *testing.T) {
	good := func() *kmeans.Model {
		return &kmeans.Model{Centers: [][]float32{{0, 1}, {1, 0}, {1, 1}}, Counts: []float64{3, -1},
			Groups: []int{0, 1, 1}, ClipNorm: 2}
	}
	nan, inf := float32(math.NaN()), math.Inf(1)
	for what, c := range map[string]struct {
		change func(m *kmeans.Model)
		ok     bool
	}{
		"as it is":      {func(*kmeans.Model) {}, true},
		"no groups":     {func(m *kmeans.Model) { m.Groups, m.Counts = nil, []float64{1, 2, 3} }, true},
		"no centres":    {func(m *kmeans.Model) { m.Centers, m.Groups = nil, nil }, false},
		"no counts":     {func(m *kmeans.Model) { m.Counts, m.Groups = nil, nil }, false},
		"other counts":  {func(m *kmeans.Model) { m.Groups = nil }, false},
		"no clip norm":  {func(m *kmeans.Model) { m.ClipNorm = 0 }, false},
		"NaN clip norm": {func(m *kmeans.Model) { m.ClipNorm = math.NaN() }, false},
		"a group less":  {func(m *kmeans.Model) { m.Groups = m.Groups[1:] }, false},
		"no such group": {func(m *kmeans.Model) { m.Groups[0] = 2 }, false},
		"below 0":       {func(m *kmeans.Model) { m.Groups[0] = -1 }, false},
		"a NaN centre":  {func(m *kmeans.Model) { m.Centers[2][1] = nan }, false},
		"an infinite":   {func(m *kmeans.Model) { m.Centers[0][0] = float32(inf) }, false},
		"shorter":       {func(m *kmeans.Model) { m.Centers[1] = m.Centers[1][:1] }, false},
		"empty":         {func(m *kmeans.Model) { m.Centers = [][]float32{{}, {}, {}} }, false},
		"a NaN count":   {func(m *kmeans.Model) { m.Counts[1] = math.NaN() }, false},
		"infinite":      {func(m *kmeans.Model) { m.Counts[0] = -inf }, false},
	} {
		m := good()
		c.change(m)
		if err := m.Validate(); (err == nil) != c.ok || err != nil && !errors.Is(err, kmeans.ErrModel) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if (*kmeans.Model)(nil).Validate() == nil {
		t.Error("no model is valid")
	}
}

// spoiled is data whose rows cannot be read from some visit on, or that cancels the fit then.
type spoiled struct {
	records.Data
	left   *int
	cancel func()
}

func (d spoiled) Range(lo, hi int, b *device.Batch) {
	if *d.left--; *d.left < 0 && d.cancel == nil {
		panic("7")
	} else if *d.left < 0 {
		d.cancel()
	}
	d.Data.Range(lo, hi, b)
}

// TestNothingIsReleasedOfSomeRecords: a pass that fails or is cancelled releases nothing, and ends
// the fit with its error. A fit that is cancelled before it begins reserves nothing.
func TestNothingIsReleasedOfSomeRecords(t *testing.T) {
	data := table(t, square, blobs(rand.New(rand.NewPCG(1, 1)), 10, 0.7, corners...))
	norm := kmeans.Config{K: 2, Iterations: 3, NoiseMultiplier: 2, Norm: &kmeans.DPNorm{Max: 10,
		Bins: 4, NoiseMultiplier: 2}}
	plain := kmeans.Config{K: 2, Iterations: 3, NoiseMultiplier: 2, ClipNorm: 3}
	for what, cfg := range map[string]kmeans.Config{"norm": norm, "plain": plain} {
		for passes := range 4 {
			for _, cancels := range []bool{false, true} {
				ctx, cancel := context.WithCancel(t.Context())
				left, rec := passes, &recorder{seed: 3}
				d := spoiled{Data: data, left: &left}
				want := records.ErrData
				if cancels {
					d.cancel, want = cancel, context.Canceled
				}
				m, err := kmeans.Fit(entropy.WithTap(ctx, rec), cfg, kmeans.Raw(square), d,
					ledgerOf(accountant.AddOrRemoveOne), kmeans.WithCache(0))
				cancel()
				if left >= 0 { // all passes were complete
					if err != nil || what != "plain" {
						t.Errorf("%s, %d passes: %v", what, passes, err)
					}
					continue
				}
				if m != nil || !errors.Is(err, want) || len(rec.releases) != passes {
					t.Errorf("%s, %d passes: %d releases, model %v, error %v, want %v", what, passes,
						len(rec.releases), m != nil, err, want)
				}
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		l := ledgerOf(accountant.AddOrRemoveOne)
		if _, err := kmeans.Fit(ctx, cfg, kmeans.Raw(square), data, l); err == nil ||
			len(l.Entries()) > 0 {
			t.Errorf("%s: a cancelled fit reserves %v, %v", what, l.Entries(), err)
		}
		stop := errors.New("stop")
		for at := range 3 {
			rec, read := &recorder{seed: 3}, 0
			m, err := kmeans.FitPasses(entropy.WithTap(t.Context(), rec), cfg, kmeans.Raw(square), "raw",
				square, ledgerOf(accountant.AddOrRemoveOne), func(ctx context.Context,
					p kmeans.Pass) (*mechanism.Partial, error) {
					if p.Features != "raw" {
						t.Errorf("a pass of the features %q", p.Features)
					}
					if read++; read > at {
						return nil, stop
					}
					sums, err := p.NewPartial(device.CPU(), kmeans.Raw(square))
					if err != nil {
						return nil, err
					}
					return sums, sums.Add(ctx, data)
				})
			if m != nil || !errors.Is(err, stop) || len(rec.releases) != at {
				t.Errorf("%s: %d releases of %d passes, %v", what, len(rec.releases), at, err)
			}
		}
	}
	for what, p := range map[string]kmeans.Pass{
		"norms": {Features: "raw", Schema: square, Config: norm, Norms: true},
		"sums": {Features: "raw", Schema: square, Config: plain, ClipNorm: 3,
			Centers: [][]float64{{0, 1}, {1, 0}}}} {
		for _, d := range []records.Data{data, data.Slice(0, 0)} {
			sums := must(p.NewPartial(device.CPU(), kmeans.Raw(square)))(t)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := sums.Add(ctx, d); !errors.Is(err, context.Canceled) {
				t.Errorf("%s of %d records: a cancelled count gives %v", what, d.Len(), err)
			}
		}
	}
}

// TestRefusedReleasesEndTheFit: if a release is refused, the fit ends with its error.
func TestRefusedReleasesEndTheFit(t *testing.T) {
	refused := errors.New("the data failed")
	data := table(t, square, blobs(rand.New(rand.NewPCG(1, 1)), 10, 0.7, corners...))
	cfg := kmeans.Config{K: 2, Iterations: 2, NoiseMultiplier: 2, Norm: &kmeans.DPNorm{Max: 10,
		Bins:            4,
		NoiseMultiplier: 2}}
	for at := range 2 {
		l := ledgerOf(accountant.AddOrRemoveOne)
		all := must(mechanism.ReserveAll(t.Context(), l, ledger.Transaction{Lines: cfg.Lines()}))(t)
		all[at].RefuseWhen(func() error { return refused })
		m, err := kmeans.Fit(t.Context(), cfg, kmeans.Raw(square), data, l,
			kmeans.WithAllowances(all[0], all[1]))
		if m != nil || !errors.Is(err, refused) {
			t.Errorf("release %d: model %v, error %v", at, m != nil, err)
		}
		other := cfg
		other.Norm, other.ClipNorm = nil, 3
		if _, err := kmeans.Fit(t.Context(), other, kmeans.Raw(square), data, l,
			kmeans.WithAllowances(all[0], all[1])); err == nil {
			t.Error("an allowance for a norm that is given is accepted")
		}
	}
}

// TestDevicesGiveTheSameModel: on a device with separate memory and the CPU's results, a fit has
// the CPU's bits, for dense and for sparse records and however the first centres are found.
func TestDevicesGiveTheSameModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	dense := table(t, square, blobs(rng, 50, 0.7, corners...))
	known := table(t, square, blobs(rng, 9, 0.7, corners...))
	sets := make([][]uint32, 120)
	for i := range sets {
		sets[i] = []uint32{uint32(i % 3), uint32(3 + i%4)}
	}
	sparse, err := records.FromItems(records.Sets(7, 4), sets)
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		data records.Data
		init kmeans.Init
	}{"dense": {dense, kmeans.Init{}}, "sparse": {sparse, kmeans.Init{}},
		"public": {dense, kmeans.Public(records.DeclarePublic(known))},
		"given": {dense, kmeans.Init{Method: kmeans.Given,
			Centers: [][]float32{{9, 9}, {-1, 1}, {1, -1}, {-50, -50}}}}} {
		for _, norm := range []*kmeans.DPNorm{nil, {Max: 10, Bins: 4, NoiseMultiplier: 2}} {
			cfg := kmeans.Config{K: 4, Iterations: 3, NoiseMultiplier: 2, Norm: norm, Init: c.init}
			if norm == nil {
				cfg.ClipNorm = 3
			}
			f := kmeans.Raw(c.data.Schema())
			want := tapped(t, &recorder{seed: 4}, cfg, f, c.data, accountant.AddOrRemoveOne)
			got := tapped(t, &recorder{seed: 4}, cfg, f, c.data, accountant.AddOrRemoveOne,
				kmeans.WithBackend(devicetest.SeparateMemory(device.CPU())))
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s, norm %v: %v on a device, want %v", what, norm != nil, got, want)
			}
			for _, center := range got.Centers {
				if n := math.Hypot(float64(center[0]), float64(center[1])); n > got.ClipNorm*(1+1e-6) {
					t.Errorf("%s: a centre of norm %v with the clip norm %v", what, n, got.ClipNorm)
				}
			}
		}
	}
	// Public centres are the means of the public records: the four corners, clipped.
	cfg := kmeans.Config{K: 4, Iterations: 1, NoiseMultiplier: 1e4, ClipNorm: 20,
		Init: kmeans.Public(records.DeclarePublic(known))}
	var first [][]float64
	_, err = kmeans.FitPasses(t.Context(), cfg, kmeans.Raw(square), "raw", square,
		ledgerOf(accountant.AddOrRemoveOne),
		func(_ context.Context, p kmeans.Pass) (*mechanism.Partial, error) {
			first = p.Centers
			return nil, errors.New("enough")
		})
	if err == nil || len(first) != 4 {
		t.Fatalf("centres %v, %v", first, err)
	}
	for _, c := range corners {
		if !slices.ContainsFunc(first, func(x []float64) bool {
			return math.Hypot(x[0]-c[0], x[1]-c[1]) < 1
		}) {
			t.Errorf("no public centre is near %v: %v", c, first)
		}
	}
}

// TestHistoriesAreChecked: a fit goes on from a history only if it can be one of its own.
func TestHistoriesAreChecked(t *testing.T) {
	data := table(t, square, blobs(rand.New(rand.NewPCG(1, 1)), 10, 0.7, corners...))
	one := func() kmeans.Iteration {
		return kmeans.Iteration{Sums: []float64{1, 2, 3, 4}, Counts: []float64{5, 6}}
	}
	nan, inf := math.NaN(), math.Inf(1)
	for what, c := range map[string]struct {
		norm   bool
		change func(h *kmeans.History)
		ok     bool
	}{
		"as it is":        {true, func(*kmeans.History) {}, true},
		"without a norm":  {false, func(h *kmeans.History) { h.ClipNorm = 0 }, true},
		"a norm too many": {false, func(*kmeans.History) {}, false},
		"a norm too few":  {true, func(h *kmeans.History) { h.ClipNorm = 0 }, false},
		"a larger norm":   {true, func(h *kmeans.History) { h.ClipNorm = 11 }, false},
		"a negative norm": {true, func(h *kmeans.History) { h.ClipNorm = -1 }, false},
		"NaN norm":        {true, func(h *kmeans.History) { h.ClipNorm = nan }, false},
		"a sum is NaN":    {true, func(h *kmeans.History) { h.Iterations[0].Sums[3] = nan }, false},
		"infinite counts": {true, func(h *kmeans.History) { h.Iterations[0].Counts[1] = inf }, false},
		"a sum too few": {true, func(h *kmeans.History) { h.Iterations[0].Sums = []float64{1} },
			false},
		"counts too many": {true, func(h *kmeans.History) {
			h.Iterations[0].Counts = make([]float64, 3)
		}, false},
		"more than drawn": {true, func(h *kmeans.History) {
			h.Iterations = append(h.Iterations, one())
		}, false},
		"fewer than drawn": {true, func(h *kmeans.History) { h.Iterations = nil }, true},
	} {
		cfg := kmeans.Config{K: 2, Iterations: 3, NoiseMultiplier: 2, ClipNorm: 3}
		if c.norm {
			cfg.ClipNorm, cfg.Norm = 0, &kmeans.DPNorm{Max: 10, Bins: 4, NoiseMultiplier: 2}
		}
		l := ledgerOf(accountant.AddOrRemoveOne)
		all, err := mechanism.ReserveAll(t.Context(), l, ledger.Transaction{Lines: cfg.Lines()})
		if err != nil {
			t.Fatal(err)
		}
		var norm *mechanism.Allowance
		if c.norm {
			norm = all[0]
			_, _ = norm.Next()
		}
		if _, err := all[len(all)-1].Next(); err != nil {
			t.Fatal(err)
		}
		h := &kmeans.History{ClipNorm: 2, Iterations: []kmeans.Iteration{one()}}
		c.change(h)
		_, err = kmeans.Fit(t.Context(), cfg, kmeans.Raw(square), data, l, kmeans.WithHistory(h),
			kmeans.WithAllowances(norm, all[len(all)-1]))
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, text := range []string{`"large"`, `""`, `7`} {
		var small kmeans.Small
		var shrink kmeans.Shrink
		var method kmeans.Method
		for _, name := range []any{&small, &shrink, &method} {
			if json.Unmarshal([]byte(text), name) == nil {
				t.Errorf("%s is a %T", text, name)
			}
		}
	}
}
