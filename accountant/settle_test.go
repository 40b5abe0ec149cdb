package accountant

import "testing"

// TestCalibratedCountsFit: CalibrateCount returns no count that fits the target by its quick price
// only. The count must also fit by its full bracket. The targets lie between the two prices.
func TestCalibratedCountsFit(t *testing.T) {
	d, between := newDraws(3), 0
	for range 12 {
		q, z, first := d.between(1e-4, 0.02), d.between(0.6, 3), d.between(1, 30)
		n := int(d.between(5, 2000))
		event := func(n int) Event {
			return Composed{Events: []Event{Gaussian{first}, poissonSteps(q, z, n)}}
		}
		alts := must[[][]term](t)(reduce(event(n), AddOrRemoveOne))
		quick := must[Price](t)(priceAll(t.Context(), alts, 1e-5, AddOrRemoveOne, false)).Upper
		full := must[Bound](t)(Epsilon(event(n), 1e-5, AddOrRemoveOne)).Upper
		if full <= quick*(1+1e-6) {
			continue
		}
		between++
		target := Budget{Epsilon: (quick + full) / 2, Delta: 1e-5}
		got, achieved, err := CalibrateCount(target, n, event)
		if err != nil {
			t.Fatal(err)
		}
		if v := upper(t, event(got), 1e-5, AddOrRemoveOne); v > target.Epsilon ||
			achieved.Upper > target.Epsilon {
			t.Errorf("%d steps for ε = %g cost %g (returned: %g)", got, target.Epsilon, v, achieved.Upper)
		}
	}
	if between == 0 {
		t.Error("no target lies between the two prices, want at least one")
	}
}

// TestCalibratedCrowdsFit: a ledger rounds many different samples upward, so calibration does, too.
// Without that, a ledger refused an event that was calibrated for all of its budget.
func TestCalibratedCrowdsFit(t *testing.T) {
	target := Budget{Epsilon: 1, Delta: 1e-5}
	event := func(z float64, count int) (all Composed) {
		for i := range mostCostly + 1 {
			all.Events = append(all.Events, Repeated{SampledSum{.01 + .001*float64(i), z}, count})
		}
		return all
	}
	z, _, err := CalibrateNoise(target, func(z float64) Event { return event(z, 1) })
	if err != nil {
		t.Fatal(err)
	}
	count, _, err := CalibrateCount(target, 99, func(n int) Event { return event(3, n) })
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []Event{event(z, 1), event(3, count)} {
		b := Budget{Delta: 1e-5}
		p, err := must[Reduced](t)(Reduce(e, target.Relation)).Price(t.Context(), b, 0, false)
		if err != nil || p.Upper > target.Epsilon || p.Upper < .5 {
			t.Errorf("a ledger charges %v for an ε of 1, %v", p, err)
		}
	}
}
