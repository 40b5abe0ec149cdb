package pld

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// The file of pins holds what pairs and compositions answered when it was written, with digests of
// all digits. Whoever means to change an answer writes it anew and says why.
var updatePins = flag.Bool("update-pins", false, "write testdata/pins.txt")

// pin writes numbers with nine digits, and a digest of all of their digits.
func pin(numbers ...float64) string {
	text := ""
	for _, x := range numbers {
		text += fmt.Sprintf("%.9g ", x)
	}
	return fmt.Sprintf("%s#%.2x", text, sha256.Sum256(fmt.Appendf(nil, "%b", numbers)))
}

func (a Answer) pin() string {
	return fmt.Sprint(pin(a.Lower, a.Upper), " ", a.OK, a.Blunt, a.Limited)
}

// drawnPairs draws the pairs of one mechanism.
func drawnPairs(rng *rand.Rand) (string, *Pairs) {
	between := func(lo, hi float64) float64 { return lo * math.Exp(rng.Float64()*math.Log(hi/lo)) }
	q, mu := between(1e-3, 0.95), between(0.05, 4)
	switch rng.IntN(13) {
	case 0:
		return "gauss", &Pairs{Remove: Gauss{mu}}
	case 1:
		return "sampled gauss", SampledBoth(q, &Pairs{Remove: Gauss{mu}})
	case 2:
		return "opposite", &Pairs{Remove: Opposite{q, mu}}
	case 3:
		return "glued", &Pairs{Remove: NewGlued(q, mu)}
	case 4:
		return "laplace", &Pairs{Remove: Laplace(1 / mu)}
	case 5:
		return "sampled laplace", SampledBoth(q, &Pairs{Remove: Laplace(1 / mu)})
	case 6:
		return "bounded range", &Pairs{Remove: BoundedRange(mu), Envelope: true}
	case 7:
		m := NewMixture(1/mu, []float64{0, 0.5, 1, 1.7}, []float64{1 - q, q / 2, q / 4, q / 4})
		return "mixture", &Pairs{Remove: m, Add: NewMirror(m)}
	case 8:
		e := math.Exp(mu)
		return "discrete", &Pairs{Remove: NewSymmetric([]float64{-mu, 0, mu},
			[]float64{0.6 / (1 + e), 0.4 - 1e-6, 0.6 * e / (1 + e)}, 1e-6)}
	case 9:
		return "discrete, with mass that is lost", &Pairs{Remove: NewDiscrete(
			[]float64{-1, 0.1, 0.2 + mu}, []float64{0.2, 0.3, 0.4}, 0.1, 0.05)}
	case 10:
		return "table", &Pairs{Remove: NewTable([]float64{-mu, -mu / 3, 0, mu / 2, mu},
			[]float64{1 - math.Exp(-mu) + 1e-3, 0.5, 0.3, 0.1, 1e-4}), Loose: true}
	case 11:
		return "maximum", &Pairs{Remove: NewMaximum([]Pair{Gauss{mu}, Laplace(2 / mu),
			NewSampled(q, Gauss{2 * mu})}), Envelope: true}
	}
	return "blend", &Pairs{Remove: NewBlend(q, Gauss{mu / 2}, Gauss{mu}), Add: NewBlend(q, Gauss{mu},
		Gauss{mu / 3})}
}

// TestPinsOfPairs: random pairs, alone, in compositions and in sums.
func TestPinsOfPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(881, 1))
	var lines []string
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for i := range 64 {
		name, p := drawnPairs(rng)
		delta := []float64{1e-5, 1e-9, 1e-2, 1e-20}[i%4]
		eps := []float64{0, 0.4, 2, 7}[i/4%4]
		say("%d %s", i, name)
		for _, lower := range []bool{true, false} {
			o := NewSingle(p, lower)
			if o == nil {
				say("  alone: none")
				continue
			}
			lo, up := o.Delta(eps)
			say("  alone: %s at %g, %s %t", o.Epsilon(delta).pin(), delta, pin(lo, up), o.Exact())
		}
		for _, order := range []float64{1.2, 2, 9, 70} {
			v, ok := Renyi(p.Remove, order)
			say("  order %g: %s %t", order, pin(v), ok)
		}
		other, more := drawnPairs(rng)
		c := NewComposition()
		c.Append(p, []int{1, 2, 3, 20}[i/2%4])
		if i%3 > 0 {
			c.Append(more, []int{1, 4}[i%2])
			say("  and %s", other)
		}
		guess, ok := c.Guess(delta)
		say("  composed: %s at %g, guess %s %t, loose %t", c.Epsilon(delta, i%4 < 3).pin(), delta,
			pin(guess), ok, c.Loose())
		say("  composed: δ %s", c.Delta(eps).pin())
		a := NewAim(1+float64(i%5), []float64{1e-6, 1e-3, 1e-12}[i%3])
		s := a.NewSum()
		s.AddGaussian(0.05 * float64(i%4))
		if u := a.Use(p); u != nil {
			s.Add(u, 1+i%3)
			copied := s.Clone()
			s.AddGaussian(0.1)
			say("  sum: %s", pin(s.Epsilon(true), copied.Epsilon(true), copied.Epsilon(false)))
		}
		if i%9 == 0 {
			steps, mu := 1+rng.IntN(9), 0.2+rng.Float64()
			for _, upper := range []bool{true, false} {
				o := NewSingle(Allocated(steps, mu, upper).Pairs(), true)
				say("  allocated %d: %s", steps, o.Epsilon(delta).pin())
			}
		}
		lo, mid, up := GaussianEpsilon(0.01*math.Pow(1.1, float64(i)), delta)
		say("  gauss: %s", pin(lo, mid, up, GaussianDelta(eps, lo), GaussianDeltaError(eps, lo)))
	}
	text := strings.Join(append([]string{arithmetic()}, lines...), "\n") + "\n"
	const file = "testdata/pins.txt"
	if *updatePins {
		_ = os.MkdirAll("testdata", 0o777)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, want := strings.Split(text, "\n"), strings.Split(string(old), "\n")
	if got[0] != want[0] {
		t.Skip("numbers are rounded otherwise here")
	}
	for i, line := range got {
		if i >= len(want) || line != want[i] {
			t.Fatalf("%s:%d: got\n%s\nwant the line there", file, i+1, line)
		}
	}
}

// arithmetic is a digest of how this processor, with this version of Go, rounds.
func arithmetic() string {
	h := sha256.New()
	for x := 1e-6; x < 30; x *= 1.003 {
		s, c := math.Sincos(x)
		fmt.Fprintln(h, math.Exp(x), math.Exp(-x), math.Expm1(-x), math.Log(x), math.Log1p(x), s, c,
			math.Erf(x), math.Erfc(x), math.Asinh(x), math.Atan2(s, x), math.Hypot(x, 1), x*s+c, x*x-c)
	}
	return fmt.Sprintf("arithmetic %.8x", h.Sum(nil))
}
