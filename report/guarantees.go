package report

import (
	"errors"
	"math"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
)

// guarantee returns the guarantee for the synthetic records, nil if there is none.
func (in Input) guarantee() *ledger.Guarantee {
	if in.Guarantee != nil || in.Generator == nil {
		return in.Guarantee
	}
	g := in.Generator.Guarantee()
	return &g
}

// checkGuarantees returns an error unless a guarantee covers everything that is published.
func (in Input) checkGuarantees() error {
	const want = "a guarantee with a finite ε, made with secret noise: without one nothing covers " +
		"what is published"
	given := func(g *ledger.Guarantee) any {
		switch {
		case g == nil:
			return nil
		case g.NotPrivate != "":
			return "not private: " + g.NotPrivate
		default:
			return g.Epsilon
		}
	}
	var errs []error
	if g := in.guarantee(); !covers(g) {
		errs = append(errs, param.New("report.Input.Guarantee", given(g), want))
	}
	if in.Fidelity != nil && !covers(&in.Fidelity.Guarantee) {
		errs = append(errs, param.New("report.Input.Fidelity.Guarantee",
			given(&in.Fidelity.Guarantee), want))
	}
	return errors.Join(errs...)
}

// covers reports whether a guarantee promises anything.
func covers(g *ledger.Guarantee) bool {
	return g != nil && g.NotPrivate == "" && g.Epsilon >= 0 && !math.IsInf(g.Epsilon, 1) &&
		g.Delta >= 0 && g.Delta < 1
}
