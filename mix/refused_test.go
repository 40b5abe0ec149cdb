package mix_test

import (
	"context"
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/records"
)

// TestWhatAReleaseIsNotUsedFor: draws and training refuse what no release gives, and end when they
// are cancelled.
func TestWhatAReleaseIsNotUsedFor(t *testing.T) {
	m := mixed(t, true)
	moments := must(m.Moments())(t)
	net := classifier(t)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	trainer := mix.Trainer{Epochs: 1}
	sample := func(ctx context.Context, n int) error {
		_, err := moments.Sample(ctx, n, 1)
		return err
	}
	described := func(s records.Schema) error {
		_, err := moments.Described(must(records.FromFlat(s, make([]float32, s.Dim())))(t))
		return err
	}
	dim := m.Schema().Dim()
	for what, c := range map[string]struct{ err, want error }{
		"-1 records":       {sample(t.Context(), -1), new(param.Error)},
		"no records":       {sample(t.Context(), 0), nil},
		"a cancelled draw": {sample(cancelled, 3), context.Canceled},
		"training without records": {trainer.FitMoments(t.Context(), net, moments, 0),
			new(param.Error)},
		"training with one":    {trainer.FitMoments(t.Context(), net, moments, 1), nil},
		"cancelled training":   {trainer.FitMoments(cancelled, net, moments, 9), context.Canceled},
		"cancelled rows":       {trainer.Fit(cancelled, net, m.Rows()), context.Canceled},
		"records as they are":  {described(records.Interval(dim, 0, 1)), nil},
		"records of other dim": {described(records.Interval(dim+1, 0, 1)), new(param.Error)},
		"sets": {second(m.Rows().Table(records.Sets(dim, 3).WithLabels("a", "b", "c"))),
			new(param.Error)},
		"a class more": {second(m.Rows().Table(records.Interval(dim, 0, 1).WithLabels("a", "b", "c",
			"d"))), new(param.Error)},
		"rows": {second(m.Rows().Table(m.Schema())), nil},
	} {
		wrong := (*param.Error)(nil)
		if typed := errors.As(c.want, &wrong); typed && !errors.As(c.err, &wrong) ||
			!typed && !errors.Is(c.err, c.want) {
			t.Errorf("%s: got %v, want %T", what, c.err, c.want)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestPlansAreForTheirBudget: a plan for another schema and budget has them, and no plan has noise
// that cannot be drawn.
func TestPlansAreForTheirBudget(t *testing.T) {
	c := mix.Config{Schema: records.Binary(9), Sampling: mix.Poisson{Nominal: 40, Degree: 4},
		Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5}, Mixtures: 90, ClipNorm: 3}
	s, b := records.Interval(4, 0, 1), accountant.Budget{Epsilon: 2, Delta: 1e-6}
	p := must(c.PlanFor(s, b))(t).(*mix.Plan)
	if !p.Config.Schema.Equal(s) || p.Config.Budget != b {
		t.Errorf("a plan for %v and %v is for %v and %v", s, b, p.Config.Schema, p.Config.Budget)
	}
	for what, change := range map[string]func(c *mix.Config){
		"mixtures": func(*mix.Config) {},
		"centres":  func(c *mix.Config) { c.Centers = mix.Centers{Share: 0.3, ClipNorm: 1} },
		"degrees":  func(c *mix.Config) { c.Sampling = mix.Poisson{Nominal: 40} },
	} {
		bad := c
		bad.Budget = accountant.Budget{Epsilon: 1e-9, Delta: 1e-300}
		change(&bad)
		if p, err := bad.Plan(); err == nil || p != nil {
			t.Errorf("%s: a plan without a budget", what)
		}
		bad.Budget = c.Budget
		if _, err := bad.Plan(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}
