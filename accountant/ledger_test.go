package accountant

import (
	"errors"
	"strings"
	"testing"
)

func TestDPAccountingNames(t *testing.T) {
	for kind, x := range everyEvent() {
		s, err := dpAccounting(x.e, x.r)
		switch kind {
		case "discrete_gaussian", "exponential_mechanism", "pure", "approximate", "disjoint", "curve",
			"sparse_histogram", "random_allocation":
			if !errors.Is(err, ErrUnsupported) {
				t.Errorf("%s: %q, %v", kind, s, err)
			}
		default:
			if err != nil || !strings.Contains(s, "dp_event.") {
				t.Errorf("%s: %q, %v", kind, s, err)
			}
		}
	}
	got := must[string](t)(dpAccounting(poissonSteps(0.01, 1.1, 10000), AddOrRemoveOne))
	want := "dp_event.SelfComposedDpEvent(event=dp_event.PoissonSampledDpEvent(sampling_probability=0.01, event=dp_event.GaussianDpEvent(noise_multiplier=1.1)), count=10000)"
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestQueries(t *testing.T) {
	curve := must[[]TradeOffPoint](t)(TradeOff(poissonSteps(0.01, 1.5, 1000), AddOrRemoveOne))
	for i, p := range curve {
		if p.TruePositive < p.FalsePositive || p.TruePositive > 1 ||
			(i > 0 && p.TruePositive < curve[i-1].TruePositive-1e-9) {
			t.Errorf("%+v", curve)
		}
	}
	// For one Gaussian the curve is Φ(Φ⁻¹(α) + μ): at 1 % and μ = 1 it is 9.24 %.
	g := must[[]TradeOffPoint](t)(TradeOff(Gaussian{1}, AddOrRemoveOne, 0.01))
	within(t, "true positives", g[0].TruePositive, 0.0923, 0.098)
	a := must[Attack](t)(AttackBounds(Gaussian{1}, 1e-5, AddOrRemoveOne))
	within(t, "accuracy", a.BestAccuracy, 0.6914, 0.6916)
	within(t, "posterior", a.Posterior, 0.98, 1)
	if !strings.Contains(a.String(), "1% of non-members") {
		t.Error(a)
	}
}
