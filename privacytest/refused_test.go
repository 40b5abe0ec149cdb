package privacytest

import (
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
)

// refusing counts failures of a test inside a test, and ends it by a panic.
type refusing struct {
	testing.TB
	failed, ended int
}

func (*refusing) Helper()                 {}
func (r *refusing) Errorf(string, ...any) { r.failed++ }
func (r *refusing) Fatalf(string, ...any) { r.ended++; panic(r) }

// run returns how often f failed and whether it was ended.
func (r *refusing) run(f func(tb testing.TB)) (failed int, ended bool) {
	defer func() {
		if p := recover(); p != nil && p != any(r) {
			panic(p)
		}
		failed, ended = r.failed, r.ended > 0
	}()
	f(r)
	return
}

// TestClaimsThatCannotFailAreRefused: a false-alarm rate of 0 refutes nothing, and neither does a
// claim with δ = 1 or without outputs. Such tests end at once, as do audits without scores of all
// canaries.
func TestClaimsThatCannotFailAreRefused(t *testing.T) {
	one := func(int) []float64 { return []float64{1} }
	claim := func(epsilon, delta, alarm float64) func(testing.TB) {
		return func(tb testing.TB) {
			Claim[int]{Run: one, Epsilon: epsilon, Delta: delta, FalseAlarm: alarm, Samples: 3}.Check(tb)
		}
	}
	silent := Claim[int]{Run: func(int) []float64 { return nil }, FalseAlarm: 0.5, Samples: 3}
	rare := silent
	rare.Run = func(d int) []float64 { return make([]float64, d) }
	rare.D1 = 1
	audit := func(canaries, scores int, delta, alarm float64) func(testing.TB) {
		return func(tb testing.TB) {
			OneRun{Canaries: canaries, Guesses: 9, Delta: delta, FalseAlarm: alarm,
				Train: func([]bool) ([]float64, error) { return make([]float64, scores), nil }}.Audit(tb)
		}
	}
	nan := math.NaN()
	for i, c := range []struct {
		f    func(testing.TB)
		good bool
	}{
		{claim(0, 0, 0.5), true}, {claim(-1, 0, 0.5), false}, {claim(nan, 0, 0.5), false},
		{claim(1, 1, 0.5), false}, {claim(1, -1e-9, 0.5), false}, {claim(1, nan, 0.5), false},
		{claim(1, 0, 0), false}, {claim(1, 0, 1), false}, {claim(1, 0, nan), false},
		{silent.Check, false}, {func(tb testing.TB) { silent.LowerBound(tb) }, false},
		{rare.Check, true},
		{audit(4, 4, 0, 0.5), true}, {audit(4, 3, 0, 0.5), false}, {audit(4, 5, 0, 0.5), false},
		{audit(0, 0, 0, 0.5), false}, {audit(4, 4, 1, 0.5), false}, {audit(4, 4, 0, 1), false},
	} {
		if _, ended := new(refusing).run(c.f); ended == c.good {
			t.Errorf("case %d: ended %t", i, ended)
		}
	}
}

// TestAuditsReportEveryRefutation: Check fails for a claimed ε that is too small, and for an event
// under which so many right guesses are impossible. Fewer than 120 of the 200 guesses are right
// with probability below 1e-30.
func TestAuditsReportEveryRefutation(t *testing.T) {
	told := OneRun{Canaries: 200, FalseAlarm: 1e-3, Delta: 1e-9,
		Train: func(planted []bool) (scores []float64, err error) {
			for _, p := range planted {
				scores = append(scores, float64(number(p)))
			}
			return scores, nil
		}}
	for _, c := range []struct {
		event   accountant.Event
		claimed float64
		want    int
	}{{nil, 100, 0}, {nil, 0.1, 1}, {nil, math.NaN(), 1},
		{accountant.Gaussian{NoiseMultiplier: 100}, 100, 1},
		{accountant.Gaussian{NoiseMultiplier: 100}, 0.1, 2}} {
		told.Event = c.event
		if n, _ := new(refusing).run(func(tb testing.TB) { told.Check(tb, c.claimed) }); n != c.want {
			t.Errorf("ε = %v, %v: %d failures, want %d", c.claimed, c.event, n, c.want)
		}
	}
	told.Guesses = 2 * told.Canaries // no canary is guessed twice
	if a := told.Audit(t); a.Guesses != told.Canaries {
		t.Errorf("%d guesses about %d canaries", a.Guesses, told.Canaries)
	}
}
