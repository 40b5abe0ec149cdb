package mechanism_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
)

// copied returns a copy of a struct. Without reflection, go vet forbids copies of a mutex.
func copied[T any](from *T) *T {
	to := new(T)
	reflect.ValueOf(to).Elem().Set(reflect.ValueOf(from).Elem())
	return to
}

// TestCopiesDrawNothing: a copy of a run, an allowance or a grant would draw the noise of the first
// again, so it is refused, with samples and without, before and after the first has drawn.
func TestCopiesDrawNothing(t *testing.T) {
	l := ledger.New(accountant.Budget{Epsilon: 100, Delta: 1e-6})
	run := mechanism.Begin(t.Context(), l)
	refused := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, mechanism.ErrNotCovered) {
			t.Errorf("%s: got %v, want ErrNotCovered", what, err)
		}
	}
	plain := accountant.Gaussian{NoiseMultiplier: 1}
	_, err := copied(run).Reserve("p", plain, 1)
	refused("a run reserves", err)
	for _, e := range []accountant.Event{plain, accountant.Laplace{Scale: 1},
		accountant.PoissonSampled{Probability: 0.5, Event: plain}} {
		a, err := run.Reserve("p", e, 2)
		if err != nil {
			t.Fatal(err)
		}
		_, err = copied(a).Next()
		refused("an allowance", err)
		g, err := a.Next()
		if err != nil {
			t.Fatal(err)
		}
		draw := func(g *mechanism.Grant) error {
			part := mechanism.Part{Sum: mechanism.NewFixedSum(1, 0x1p-30), Std: 1, Out: []float64{0}}
			if e == (accountant.Laplace{Scale: 1}) {
				return g.Laplace(1, part)
			}
			return g.Release(1, part)
		}
		early := copied(g)
		if rows, _ := early.PoissonSample(100, nil, nil); rows != nil {
			t.Errorf("%v: a copy of a grant samples", e)
		}
		if _, sampled := e.(accountant.PoissonSampled); sampled {
			g.PoissonSample(100, nil, nil)
		}
		refused("a grant before the draw", draw(copied(g)))
		if err := draw(g); err != nil {
			t.Errorf("%v: %v", e, err)
		}
		refused("a grant after the draw", draw(copied(g)))
	}
	_, err = copied(run).Resume("p", plain)
	refused("a run resumes", err)
}
