package privacytest

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"
)

var audit = flag.Bool("audit", false, "run the long statistical audits")

// The mechanisms below are black boxes on a count of records. The neighbours have 3 and 4 records.

func laplaceDraw(b float64) float64 {
	e := -b * math.Log(1-rand.Float64())
	if rand.Uint64()&1 == 1 {
		return -e
	}
	return e
}

// gridLaplace draws Laplace noise on a grid. Correct versions use it, so that their lowest bits do
// not leak.
func gridLaplace(b float64) float64 { return math.Round(laplaceDraw(b)*0x1p20) * 0x1p-20 }

// gridNormal draws Gaussian noise on the same grid.
func gridNormal(std float64) float64 { return math.Round(std*rand.NormFloat64()*0x1p20) * 0x1p-20 }

func one(v float64) []float64 { return []float64{v} }

// claims lists pairs of a correct mechanism and a broken mechanism with the same claim.
var claims = []struct {
	name           string
	epsilon, delta float64
	right, wrong   func(n int) []float64
}{
	{"noise too small by 0.7", 0.5, 0,
		func(n int) []float64 { return one(float64(n) + gridLaplace(2)) },
		func(n int) []float64 { return one(float64(n) + gridLaplace(1.4)) }},
	{"inverted scale", 0.5, 0,
		func(n int) []float64 { return one(float64(n) + gridLaplace(2)) },
		func(n int) []float64 { return one(float64(n) + gridLaplace(0.5)) }},
	{"low bits of floating-point noise", 1, 0,
		func(n int) []float64 { return one(float64(n-3) + gridLaplace(1)) },
		func(n int) []float64 { return one(float64(n-3) + laplaceDraw(1)) }},
	{"noise used twice", 1, 0,
		func(n int) []float64 {
			return []float64{float64(n) + gridLaplace(2), 2*float64(n) + gridLaplace(4)}
		},
		func(n int) []float64 {
			e := gridLaplace(2)
			return []float64{float64(n) + e, 2*float64(n) + e}
		}},
	{"no noise on small counts", 0.5, 0,
		func(n int) []float64 { return one(float64(n) + gridLaplace(2)) },
		func(n int) []float64 {
			if n < 4 {
				return one(0)
			}
			return one(float64(n) + gridLaplace(2))
		}},
	{"tails cut off", 0.5, 1e-3,
		func(n int) []float64 { return one(float64(n) + gridLaplace(2)) },
		func(n int) []float64 {
			for {
				if e := gridLaplace(2); math.Abs(e) < 3 {
					return one(float64(n) + e)
				}
			}
		}},
	{"Gaussian noise sold as pure", 0.3, 0,
		func(n int) []float64 { return one(float64(n) + gridLaplace(3.4)) },
		func(n int) []float64 { return one(float64(n) + gridNormal(1)) }},
	{"randomised response with the wrong coin", 1, 0,
		func(n int) []float64 { return respond(n, 1/(1+math.Exp(1))) },
		func(n int) []float64 { return respond(n, 0.2) }},
	{"the number of outputs", 0.5, 0,
		func(n int) []float64 { return []float64{float64(n) + gridLaplace(2), 0} },
		func(n int) []float64 { return make([]float64, n) }},
	{"a seed from the data", 0.5, 0,
		func(n int) []float64 { return one(float64(n) + gridLaplace(2)) },
		func(n int) []float64 {
			r := rand.New(rand.NewPCG(uint64(n), 0))
			return one(float64(n) + 2*r.ExpFloat64())
		}},
	{"not-a-number where the data overflow", 0.5, 0,
		func(n int) []float64 { return one(float64(n) + gridLaplace(2)) },
		func(n int) []float64 {
			if n > 3 && rand.Uint64()&1 == 0 {
				return one(math.NaN())
			}
			return one(float64(n) + gridLaplace(2))
		}},
	{"scale from the data", 0.5, 0,
		func(n int) []float64 { return one(gridLaplace(2)) },
		func(n int) []float64 { return one(gridLaplace(math.Exp(float64(n)))) }},
	{"noise of rank two", 0.5, 0,
		func(n int) []float64 {
			return []float64{float64(n) + gridLaplace(6), float64(n) + gridLaplace(6),
				float64(n) + gridLaplace(6)}
		},
		func(n int) []float64 {
			a, b := gridLaplace(6), gridLaplace(6)
			return []float64{float64(n) + a, float64(n) + b, float64(n) - 0.7*a - b}
		}},
	{"noise that cancels in a sum of one data set", 0.5, 0,
		func(n int) []float64 { return []float64{gridLaplace(2), gridLaplace(2), gridLaplace(2)} },
		func(n int) []float64 {
			a, b := gridLaplace(2), gridLaplace(2)
			return []float64{a, b, []float64{a + b, b - a}[n-3]}
		}},
	{"float32 noise", 1, 0,
		func(n int) []float64 { return one(float64(n) + gridLaplace(1)) },
		func(n int) []float64 { return one(float64(n) + float64(float32(laplaceDraw(1)))) }},
	{"report the noisy maximum with its value", 0.5, 0,
		func(n int) []float64 { return argmaxOf(n, false) },
		func(n int) []float64 { return argmaxOf(n, true) }},
}

func respond(n int, lie float64) []float64 {
	v := float64(n % 2)
	if rand.Float64() < lie {
		v = 1 - v
	}
	return one(v)
}

// argmaxOf is report-noisy-max over counts that all move together. If values is set, it also
// releases the noisy values, which costs more.
func argmaxOf(n int, values bool) []float64 {
	best, at, most := math.Inf(-1), 0, []float64{}
	for i := range 16 {
		v := float64(n) + gridLaplace(4)
		most = append(most, v)
		if v > best {
			best, at = v, i
		}
	}
	if values {
		return append(most, float64(at))
	}
	return one(float64(at))
}

func TestBrokenNoiseIsRefuted(t *testing.T) {
	for _, c := range claims {
		t.Run(c.name, func(t *testing.T) {
			claim := Claim[int]{Run: c.right, D0: 3, D1: 4, Epsilon: c.epsilon, Delta: c.delta,
				FalseAlarm: 1e-8}
			claim.Check(t)
			claim.Run = c.wrong
			e := claim.contradiction(t)
			t.Log(e)
			if e.P > claim.FalseAlarm {
				t.Error("the broken mechanism is not refuted")
			}
		})
	}
}
