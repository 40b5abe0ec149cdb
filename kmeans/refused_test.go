package kmeans_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

// broken is data that failed.
type broken struct{ records.Data }

func (broken) Failed() bool { return true }

// TestFitsThatAreRefused: nothing is reserved or read for persons on a ledger that protects one
// record, for data that failed, and for passes that no fit makes.
func TestFitsThatAreRefused(t *testing.T) {
	f := kmeans.Raw(square)
	cfg := kmeans.Config{K: 2, Iterations: 2, NoiseMultiplier: 2, ClipNorm: 3}
	data := table(t, square, [][]float32{{1, 1}, {-1, 1}})
	budget := accountant.Budget{Epsilon: 10, Delta: 1e-5}
	var wrong *param.Error
	passes := 0
	read := func(context.Context, kmeans.Pass) (*mechanism.Partial, error) {
		passes++
		return nil, errors.New("stop")
	}
	l := ledger.New(budget)
	_, err := kmeans.FitPasses(t.Context(), cfg, f, "raw", square.ByPerson(2), l, read)
	if !errors.As(err, &wrong) || passes > 0 || len(l.Entries()) > 0 {
		t.Errorf("persons on a ledger of records: %v, %v", err, l.Entries())
	}
	users := ledger.New(budget, ledger.WithUnit(records.UnitUser))
	if _, err := kmeans.FitPasses(t.Context(), cfg, f, "raw", square.ByPerson(2), users,
		read); errors.As(err, &wrong) || passes != 1 {
		t.Errorf("persons on a ledger of users: %v", err)
	}
	for what, c := range map[string]func(l *ledger.Ledger) error{
		"failed data": func(l *ledger.Ledger) error {
			_, err := kmeans.Fit(t.Context(), cfg, f, broken{data}, l)
			return err
		},
		"users on a ledger of records": func(l *ledger.Ledger) error {
			_, err := kmeans.Fit(t.Context(), cfg, f, records.WithUnit(data, records.UnitUser), l)
			return err
		},
		"no data": func(l *ledger.Ledger) error {
			_, err := kmeans.Fit(t.Context(), cfg, f, nil, l)
			return err
		},
		"memory of more than everything": func(l *ledger.Ledger) error {
			other := cfg
			other.Memory = 1
			_, err := kmeans.Fit(t.Context(), other, f, data, l)
			return err
		},
	} {
		l := ledger.New(budget)
		if err := c(l); err == nil || len(l.Entries()) > 0 {
			t.Errorf("%s: %v, reserved %v", what, err, l.Entries())
		}
	}
	for what, other := range map[string]kmeans.Features{
		"records":         kmeans.Raw(records.Interval(3, -1, 1)),
		"fewer records":   kmeans.Raw(records.Interval(1, -1, 1)),
		"random features": must(rff.RBF{Dim: 4, Bandwidth: 1}.Features(rff.Layout{In: 9}, 1))(t),
	} {
		l := ledger.New(budget)
		_, err := kmeans.Fit(t.Context(), cfg, other, data, l)
		if !errors.As(err, &wrong) || len(l.Entries()) > 0 {
			t.Errorf("%s of another schema: %v, reserved %v", what, err, l.Entries())
		}
	}
	for what, h := range map[string]*kmeans.History{
		"a history without its allowances": {Iterations: []kmeans.Iteration{
			{Sums: make([]float64, 4), Counts: make([]float64, 2)}}},
		"a history of a clip norm": {ClipNorm: 1},
	} {
		l := ledger.New(budget)
		_, err := kmeans.Fit(t.Context(), cfg, f, data, l, kmeans.WithHistory(h))
		if !errors.As(err, &wrong) || len(l.Entries()) > 0 {
			t.Errorf("%s: %v, reserved %v", what, err, l.Entries())
		}
	}
	good := kmeans.Pass{Features: "raw", Schema: square, Config: cfg, ClipNorm: 3,
		Centers: [][]float64{{0, 1}, {1, 0}}}
	if _, err := good.NewPartial(device.CPU(), f); err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func(p *kmeans.Pass){
		"a centre less":     func(p *kmeans.Pass) { p.Centers = p.Centers[1:] },
		"a coordinate less": func(p *kmeans.Pass) { p.Centers = [][]float64{{0, 1}, {1}} },
		"a centre that is no number": func(p *kmeans.Pass) {
			p.Centers = [][]float64{{0, 1}, {1, math.NaN()}}
		},
		"no clip norm":          func(p *kmeans.Pass) { p.ClipNorm = 0 },
		"an infinite clip norm": func(p *kmeans.Pass) { p.ClipNorm = math.Inf(1) },
		"another relation":      func(p *kmeans.Pass) { p.Relation = 2 },
		"norms without bins": func(p *kmeans.Pass) {
			p.Norms, p.Centers, p.ClipNorm = true, nil, 0
		},
	} {
		bad := good
		change(&bad)
		if _, err := bad.NewPartial(device.CPU(), f); !errors.As(err, &wrong) {
			t.Errorf("a pass with %s: %v", what, err)
		}
	}
}
