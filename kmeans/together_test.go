package kmeans_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/device/devicetest"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// wide is features of any dimension without a norm bound. They are never computed.
type wide struct {
	kmeans.Features
	dim int
}

func (w wide) Dim() int           { return w.dim }
func (w wide) NormBound() float64 { return 0 }

// TestSettingsThatFitTogether: what a configuration, features, records and a ledger may be
// together is accepted up to its limit, and not beyond it.
func TestSettingsThatFitTogether(t *testing.T) {
	data := table(t, square, [][]float32{{1, 1}, {-1, 1}})
	clipped := kmeans.Config{K: 1 << 14, Iterations: 1, NoiseMultiplier: 2, ClipNorm: 1}
	estimated := clipped
	estimated.ClipNorm, estimated.Norm = 0, &kmeans.DPNorm{Max: 1, Bins: 2, NoiseMultiplier: 1}
	unknown := clipped
	unknown.ClipNorm = 0
	larger := clipped
	larger.K++
	public := func(rows int) kmeans.Config {
		c := kmeans.Config{K: 2, Iterations: 1, NoiseMultiplier: 2, ClipNorm: 1}
		c.Init = kmeans.Public(records.DeclarePublic(table(t, square, [][]float32{{1, 2}}[:rows])))
		return c
	}
	for what, c := range map[string]struct {
		cfg kmeans.Config
		dim int
		ok  bool
	}{"a clip norm": {clipped, 1, true}, "an estimated norm": {estimated, 1, true},
		"no norm": {unknown, 1, false}, "no features": {clipped, 0, false},
		"2^28 coordinates": {clipped, 1 << 14, true}, "more features": {clipped, 1<<14 + 1, false},
		"more centres": {larger, 1 << 14, false}, "a public record": {public(1), 2, true},
		"no public record": {public(0), 2, false}} {
		if err := c.cfg.Check(wide{dim: c.dim}, data); (err == nil) != c.ok {
			t.Errorf("%s: %v", what, err)
		}
	}
	// The noise on counts depends on the relation, and its limit on the unit: under replace-one it is
	// more for a large share and less for a small one.
	persons := must(records.GroupBy(data, []int{0, 1}, 2))(t)
	for _, c := range []struct {
		z, share float64
		data     records.Data
		relation accountant.Relation
		fits     bool
	}{{0x1.8p22, 0.9, persons, accountant.AddOrRemoveOne, true},
		{0x1.8p22, 0.9, persons, accountant.ReplaceOne, false},
		{0x1p24, 1e-13, data, accountant.ReplaceOne, true},
		{0x1p24, 1e-13, data, accountant.AddOrRemoveOne, false}} {
		cfg := kmeans.Config{K: 2, Iterations: 1, NoiseMultiplier: c.z, CountShare: c.share}
		for what, fit := range map[string]func(l *ledger.Ledger) error{
			"records": func(l *ledger.Ledger) error {
				_, err := kmeans.Fit(t.Context(), cfg, kmeans.Raw(square), c.data, l)
				return err
			},
			"passes": func(l *ledger.Ledger) error {
				return passesOf(t, cfg, kmeans.Raw(square), c.data, l)
			},
		} {
			l := ledger.New(accountant.Budget{Epsilon: 1e4, Delta: 1e-5, Relation: c.relation},
				ledger.WithUnit(records.UnitOf(c.data)))
			if err := fit(l); (err == nil) != c.fits || (len(l.Entries()) > 0) != c.fits {
				t.Errorf("%s, noise %v, share %v, %v: %v, reserved %v", what, c.z, c.share, c.relation, err,
					l.Entries())
			}
		}
	}
	bad := clipped
	bad.K = 0
	_, err := kmeans.Fit(t.Context(), bad, kmeans.Raw(square), data, nil)
	for _, path := range []string{"kmeans.Fit.ledger", "kmeans.Config.K"} {
		if err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("without a ledger and clusters: %v, want %s", err, path)
		}
	}
}

// TestErrorsOfAFitAreItsOwn: what fails outside a fit ends it with this error.
func TestErrorsOfAFitAreItsOwn(t *testing.T) {
	data := table(t, square, [][]float32{{1, 1}, {-1, 1}})
	cfg := kmeans.Config{K: 2, Iterations: 2, NoiseMultiplier: 2, ClipNorm: 3}
	f, budget := kmeans.Raw(square), accountant.Budget{Epsilon: 1, Delta: 1e-5}
	wrong := cfg
	wrong.K = 0
	for what, try := range map[string]func() error{
		"a budget": func() error {
			_, err := cfg.Calibrate(accountant.Budget{Epsilon: -1, Delta: 1e-5})
			return err
		},
		"no clusters":      func() error { _, err := wrong.Calibrate(budget); return err },
		"a pass of none":   func() error { return partialOf(wrong, square) },
		"a pass of memory": func() error { c := cfg; c.Memory = 1; return partialOf(c, square) },
		"no schema":        func() error { return partialOf(cfg, records.Schema{}) },
		"passes without a schema": func() error {
			_, err := kmeans.FitPasses(t.Context(), cfg, f, "raw", records.Schema{}, ledger.New(budget),
				func(context.Context, kmeans.Pass) (*mechanism.Partial, error) { return nil, nil })
			return err
		},
	} {
		if typed := (*param.Error)(nil); !errors.As(try(), &typed) {
			t.Errorf("%s: got %v, want *param.Error", what, try())
		}
	}
	if c, err := cfg.Calibrate(accountant.Budget{Epsilon: 1e-9, Delta: 1e-300}); err == nil ||
		c.NoiseMultiplier != cfg.NoiseMultiplier {
		t.Errorf("no noise is enough, and still %+v, %v", c, err)
	}
	read := func(context.Context, kmeans.Pass) (*mechanism.Partial, error) {
		t.Error("a pass is read that cannot be paid")
		return nil, nil
	}
	tiny := ledger.New(accountant.Budget{Epsilon: 1e-3, Delta: 1e-9})
	if _, err := kmeans.FitPasses(t.Context(), cfg, f, "raw", square, tiny,
		read); !errors.Is(err, accountant.ErrBudgetExceeded) {
		t.Errorf("passes beyond the budget: %v", err)
	}
	cfg.Init = kmeans.Public(records.DeclarePublic(ends{table(t, square, [][]float32{{1, 2}})}))
	if m, err := kmeans.Fit(t.Context(), cfg, f, data,
		ledgerOf(accountant.AddOrRemoveOne)); m != nil || !errors.Is(err, records.ErrData) {
		t.Errorf("public records that cannot be read: %v, %v", m != nil, err)
	}
	// Uses that somebody else takes during a pass are not there for its release.
	cfg.Init, cfg.ClipNorm = kmeans.Init{}, 0
	cfg.Norm = &kmeans.DPNorm{Max: 10, Bins: 4, NoiseMultiplier: 2}
	for at := range 2 {
		l, passes := ledgerOf(accountant.AddOrRemoveOne), 0
		norm, iterations := reserved(t, t.Context(), l, cfg)
		m, err := kmeans.FitPasses(t.Context(), cfg, f, "raw", square, l,
			func(ctx context.Context, p kmeans.Pass) (*mechanism.Partial, error) {
				if passes++; passes == at+1 {
					for a := []*mechanism.Allowance{norm, iterations}[at]; a.Remaining() > 0; {
						if _, err := a.Next(); err != nil {
							return nil, err
						}
					}
				}
				sums, err := p.NewPartial(device.CPU(), f)
				if err != nil {
					return nil, err
				}
				return sums, sums.Add(ctx, data)
			}, kmeans.WithAllowances(norm, iterations))
		if m != nil || err == nil || passes != at+1 {
			t.Errorf("pass %d without a use: model %v, %d passes, %v", at, m != nil, passes, err)
		}
	}
}

func partialOf(c kmeans.Config, s records.Schema) error {
	_, err := kmeans.Pass{Features: "raw", Schema: s, Config: c, ClipNorm: 3,
		Centers: [][]float64{{0, 1}, {1, 0}}}.NewPartial(device.CPU(), kmeans.Raw(square))
	return err
}

// TestPublicCentresAreClipped: centres of public records beyond the clip norm are on its sphere.
// If there are fewer different records than centres, centres are equal.
func TestPublicCentresAreClipped(t *testing.T) {
	data := table(t, square, [][]float32{{1, 1}})
	for _, be := range []device.Backend{device.CPU(), devicetest.SeparateMemory(device.CPU())} {
		for _, rows := range [][][]float32{{{3, 4}, {3, -4}}, {{3, 4}, {3, 4}, {3, 4}}, {{0.3, 0.4}}} {
			cfg := kmeans.Config{K: 4, Iterations: 1, NoiseMultiplier: 2, ClipNorm: 1,
				Init: kmeans.Public(records.DeclarePublic(table(t, square, rows)))}
			var first [][]float64
			stop := errors.New("enough")
			_, err := kmeans.FitPasses(t.Context(), cfg, kmeans.Raw(data.Schema()), "raw", square,
				ledgerOf(accountant.AddOrRemoveOne),
				func(_ context.Context, p kmeans.Pass) (*mechanism.Partial, error) {
					first = p.Centers
					return nil, stop
				}, kmeans.WithBackend(be))
			if !errors.Is(err, stop) || len(first) != 4 {
				t.Fatalf("centres %v, %v", first, err)
			}
			for _, c := range first {
				near := math.Inf(1)
				for _, r := range rows {
					x, y := float64(r[0]), float64(r[1])
					scale := min(1, 1/math.Hypot(x, y))
					near = min(near, math.Hypot(c[0]-x*scale, c[1]-y*scale))
				}
				if near > 1e-6 {
					t.Errorf("public records %v have the centre %v, want a record of norm 1", rows, c)
				}
			}
		}
	}
}

// TestNothingIsAssignedOfNothing: a batch without records leaves what dst holds, and no model has
// no weights.
func TestNothingIsAssignedOfNothing(t *testing.T) {
	m := &kmeans.Model{Centers: [][]float32{{0, 1}, {1, 0}}, Counts: []float64{3, 1}, ClipNorm: 2}
	dst := []int32{7}
	if m.Assign(device.CPU(), kmeans.Raw(square), device.Batch{}, dst); dst[0] != 7 {
		t.Errorf("no record is in cluster %d", dst[0])
	}
	if w := (*kmeans.Model)(nil).Weights(); w != nil {
		t.Errorf("no model has the weights %v", w)
	}
	for name, v := range map[string]fmt.Stringer{"given": kmeans.Given,
		"split-largest": kmeans.SplitLargest, "none": kmeans.NoShrink} {
		if v.String() != name {
			t.Errorf("%q is the name of %q", v, name)
		}
	}
}
