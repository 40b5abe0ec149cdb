package optim

import (
	"encoding/json"
	"math"
	"sync"
	"testing"
)

// reference returns the parameters after all steps of the textbook form of a rule, computed in
// float64.
func reference(c Config, grads [][]float64, p []float64) []float64 {
	p = append([]float64(nil), p...)
	m, v := make([]float64, len(p)), make([]float64, len(p))
	for t, g := range grads {
		for i := range p {
			switch c.Rule {
			case SGD:
				p[i] -= c.LR * g[i]
			case Momentum:
				m[i] = c.Beta1*m[i] + g[i]
				p[i] -= c.LR * m[i]
			case Adam:
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

func configs() []Config {
	return []Config{
		{Rule: SGD, LR: 0.1},
		{Rule: Momentum, LR: 0.01, Beta1: 0.9},
		{Rule: Adam, LR: 0.01, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8},
		{Rule: Adam, LR: 0.01, Beta1: 0, Beta2: 0.9, Eps: 1e-3},
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
		state := c.New(n)
		for _, g := range grads {
			state.BeginStep()
			var wg sync.WaitGroup // ranges of any size, from several goroutines
			for lo := 0; lo < n; lo += 64 {
				wg.Go(func() { state.UpdateRange(got, lo, g[lo:min(lo+64, n)], scale) })
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

func TestProblems(t *testing.T) {
	for _, c := range configs() {
		if err := c.Validate(); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	nan := math.NaN()
	for _, c := range []Config{{}, {Rule: SGD}, {Rule: SGD, LR: nan}, {Rule: SGD, LR: math.Inf(1)},
		{Rule: SGD, LR: -1},
		{Rule: Momentum, LR: 1, Beta1: 1}, {Rule: Adam, LR: 1, Beta1: nan, Beta2: .9, Eps: 1},
		{Rule: Adam, LR: 1}, {Rule: 9, LR: 1}} {
		if c.Validate() == nil {
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
		var back Config
		if err := json.Unmarshal(b, &back); err != nil || back != c {
			t.Fatalf("%s was read back as %+v, %v", b, back, err)
		}
	}
	var r Rule
	if r.UnmarshalText([]byte("rmsprop")) == nil {
		t.Error("an unknown rule is accepted")
	}
}

func BenchmarkAdam(b *testing.B) {
	const n = 1 << 18
	p, g := make([]float32, n), make([]float64, n)
	for i := range g {
		g[i] = math.Sin(float64(i))
	}
	s := configs()[2].New(n)
	b.SetBytes(n)
	for b.Loop() {
		s.BeginStep()
		s.UpdateRange(p, 0, g, 1)
	}
}
