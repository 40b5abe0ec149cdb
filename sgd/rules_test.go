package sgd

import (
	"encoding/json"
	"math"
	"sync"
	"testing"
)

// reference returns the parameters after all steps of the textbook form of a rule, computed in
// float64.
func reference(c settings, grads [][]float64, p []float64) []float64 {
	p = append([]float64(nil), p...)
	m, v := make([]float64, len(p)), make([]float64, len(p))
	for t, g := range grads {
		for i := range p {
			switch c.Rule {
			case plain:
				p[i] -= c.LR * g[i]
			case heavyBall:
				m[i] = c.Beta1*m[i] + g[i]
				p[i] -= c.LR * m[i]
			case adam:
				m[i] = c.Beta1*m[i] + (1-c.Beta1)*g[i]
				v[i] = c.Beta2*v[i] + (1-c.Beta2)*g[i]*g[i]
				mh := m[i] / (1 - math.Pow(c.Beta1, float64(t+1)))
				vh := v[i] / (1 - math.Pow(c.Beta2, float64(t+1)))
				p[i] -= c.LR * mh / (math.Sqrt(vh) + c.Eps)
			}
		}
	}
	return p
}

func configs() []settings {
	return []settings{
		{Rule: plain, LR: 0.1},
		{Rule: heavyBall, LR: 0.01, Beta1: 0.9},
		{Rule: adam, LR: 0.01, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8},
		{Rule: adam, LR: 0.01, Beta1: 0, Beta2: 0.9, Eps: 1e-3},
	}
}

func TestRulesMatchTextbook(t *testing.T) {
	const n, steps, scale = 1000, 30, 0.25
	for _, c := range configs() {
		var grads, scaled [][]float64
		for s := range steps {
			g, h := make([]float64, n), make([]float64, n)
			for i := range g {
				g[i] = math.Sin(float64(s*n+i)) * math.Exp(float64(i%7-3))
				h[i] = g[i] * scale
			}
			grads, scaled = append(grads, g), append(scaled, h)
		}
		want := reference(c, scaled, make([]float64, n))
		got := make([]float32, n)
		state := c.start(n)
		for _, g := range grads {
			state.begin(1)
			var wg sync.WaitGroup // ranges of any size, from several goroutines
			for lo := 0; lo < n; lo += 64 {
				wg.Go(func() { state.updateRange(got, lo, g[lo:min(lo+64, n)], scale) })
			}
			wg.Wait()
		}
		for i := range got {
			if math.Abs(float64(got[i])-want[i]) > 2e-5*(1+math.Abs(want[i])) {
				t.Fatalf("%v: parameter %d is %v, want %v", c, i, got[i], want[i])
			}
		}
	}
}

func problems(c settings) error {
	k := &checker{}
	c.check(k)
	return k.Err()
}

func TestProblems(t *testing.T) {
	for _, c := range configs() {
		if err := problems(c); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	nan := math.NaN()
	for _, c := range []settings{{}, {Rule: plain}, {Rule: plain, LR: nan},
		{Rule: plain, LR: math.Inf(1)}, {Rule: plain, LR: -1},
		{Rule: heavyBall, LR: 1, Beta1: 1}, {Rule: adam, LR: 1, Beta1: nan, Beta2: .9, Eps: 1},
		{Rule: adam, LR: 1}, {Rule: 9, LR: 1}} {
		if problems(c) == nil {
			t.Errorf("%+v: accepted", c)
		}
	}
}

func TestRuleText(t *testing.T) {
	for _, c := range configs() {
		b, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		var back settings
		if err := json.Unmarshal(b, &back); err != nil || back != c {
			t.Fatalf("%s was read back as %+v, %v", b, back, err)
		}
	}
	var r rule
	if r.UnmarshalText([]byte("rmsprop")) == nil {
		t.Error("an unknown rule is accepted")
	}
}

func BenchmarkRule(b *testing.B) {
	const n = 1 << 18
	p, g := make([]float32, n), make([]float64, n)
	for i := range g {
		g[i] = math.Sin(float64(i))
	}
	s := configs()[2].start(n)
	b.SetBytes(n)
	for b.Loop() {
		s.begin(1)
		s.updateRange(p, 0, g, 1)
	}
}
