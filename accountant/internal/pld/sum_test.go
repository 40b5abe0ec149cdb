package pld

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSumsOfOneUse compares a sum with the exact curve of one use: its ε is not below it, and most
// often little above it. A few rare large losses are beyond the period of a sum.
func TestSumsOfOneUse(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	near := 0
	for range 60 {
		q, mu := math.Exp(-4*rng.Float64()), math.Exp(2*rng.Float64()-1)
		pairs := SampledBoth(q, &Pairs{Remove: Gauss{mu}})
		delta := math.Pow(10, -3-5*rng.Float64()) * q
		own := NewSingle(pairs, true).Epsilon(delta)
		aim := NewAim(own.Upper*(1+rng.Float64()), delta)
		if aim == nil {
			continue
		}
		s := aim.NewSum()
		s.Add(aim.Use(pairs), 1)
		eps := s.Epsilon(true)
		if !(eps >= own.Lower) {
			t.Errorf("q = %g, μ = %g: ε(%g) = %v, want slightly above %v", q, mu, delta, eps, own)
		}
		if eps <= 1.02*own.Upper {
			near++
		}
	}
	if near < 40 {
		t.Errorf("%d of 60 sums are near the exact ε, want 40", near)
	}
}

// TestSumsOfGaussians compares sums of many Gaussian releases, added as any other event, with their
// closed form.
func TestSumsOfGaussians(t *testing.T) {
	for _, n := range []int{1, 7, 1000, 1_000_000} {
		const mu, delta = 0.4, 1e-6
		_, _, eps := GaussianEpsilon(mu, delta)
		aim := NewAim(eps*1.01, delta)
		use := aim.Use(&Pairs{Remove: Gauss{mu / math.Sqrt(float64(n))}})
		s := aim.NewSum()
		s.Add(use, n/2)
		s.Add(use, n-n/2)
		if got := s.Epsilon(true); !(got >= eps && got <= 1.003*eps) {
			t.Errorf("%d uses: ε = %v, want slightly above %v", n, got, eps)
		}
		if s.AddGaussian(mu); !math.IsInf(s.Epsilon(true), 1) {
			t.Errorf("ε = %v beyond the aim", s.Epsilon(true))
		}
		s = aim.NewSum()
		for range 4 {
			s.AddGaussian(mu / 2)
		}
		if got := s.Epsilon(true); !(got >= eps && got <= 1.0001*eps) {
			t.Errorf("four Gaussian releases: ε = %v, want %v", got, eps)
		}
	}
}

// TestSumsProveNothingBeyondTheirRange: a number that is not known, or as large as fixed point can
// hold, proves nothing.
func TestSumsProveNothingBeyondTheirRange(t *testing.T) {
	aim := NewAim(1, 1e-6)
	use := aim.Use(&Pairs{Remove: Gauss{0.01}})
	for name, spoil := range map[string]func(*Sum){
		"scale":    func(s *Sum) { s.sides[1].scale = most },
		"infinite": func(s *Sum) { s.sides[0].inf = most },
		"all of δ": func(s *Sum) { s.sides[1].inf = infUnit },
		"errors":   func(s *Sum) { s.sides[0].err = most },
		"Gaussian": func(s *Sum) { s.AddGaussian(math.Inf(1)) },
		"NaN":      func(s *Sum) { s.AddGaussian(math.NaN()) },
		"uses":     func(s *Sum) { s.Add(use, math.MaxInt/4) },
	} {
		s := aim.NewSum()
		s.Add(use, 1)
		if eps := s.Epsilon(true); !(eps < 1) {
			t.Fatalf("one use costs %v", eps)
		}
		if spoil(s); !math.IsInf(s.Epsilon(true), 1) {
			t.Errorf("%s: ε = %v, want +Inf", name, s.Epsilon(true))
		}
	}
	plain := aim.NewSum()
	plain.Add(use, 1)
	for name, more := range map[string]func(*direction){
		"scale":    func(d *direction) { d.scale += logUnit },
		"infinite": func(d *direction) { d.inf += infUnit / 2 },
		"error":    func(d *direction) { d.err += errUnit },
	} {
		s := plain.Clone()
		if more(&s.sides[1]); !(s.delta(1, 0.1) > plain.delta(1, 0.1)) {
			t.Errorf("%s: more of it leaves δ as it is", name)
		}
	}
	if aim.Use(&Pairs{Remove: Gauss{1e4}}) != nil || NewAim(math.NaN(), 0.1) != nil ||
		NewAim(1, math.NaN()) != nil || NewAim(1, 0) != nil {
		t.Error("a sum of losses beyond its range")
	}
}

// TestFixedPointIsRoundedUp checks that no number shrinks in fixed point, and that sums of them do
// not wrap around.
func TestFixedPointIsRoundedUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 5))
	for range 10_000 {
		x := math.Exp(60*rng.Float64() - 50)
		if v := fixed(x, logUnit); v < most && !(float64(v) >= x*logUnit) {
			t.Fatalf("%g becomes %d", x, v)
		}
	}
	if fixed(math.NaN(), 1) != most || fixed(math.Inf(1), 1) != most || fixed(-1, 1) != 0 {
		t.Error("numbers out of range are not at the ends")
	}
	for _, b := range []int64{1 << 40, most - 1, most} {
		if plus(most-1, b, 1) != most || plus(1, b, math.MaxInt/4) != most ||
			plus(1, b, math.MaxInt/2+1) != most { // for 1<<40 the low word is 0
			t.Errorf("a sum with %d wraps around", b)
		}
	}
	if plus(3, 5, 7) != 38 {
		t.Error("3 + 7·5 is not 38")
	}
}

// TestSumsHaveNoOrder: the numbers of a sum are the same in any order, and however uses are split.
func TestSumsHaveNoOrder(t *testing.T) {
	aim := NewAim(1, 1e-6)
	rng := rand.New(rand.NewPCG(1, 1))
	var uses []*Use
	for i := range 12 {
		uses = append(uses, aim.Use(SampledBoth(0.01+0.005*float64(i), &Pairs{Remove: Gauss{0.5}})))
	}
	sums := []*Sum{aim.NewSum(), aim.NewSum()}
	for _, u := range uses {
		sums[0].Add(u, 5)
		sums[0].AddGaussian(0.01)
	}
	for _, k := range rng.Perm(5 * len(uses)) {
		sums[1] = sums[1].Clone()
		sums[1].Add(uses[k%len(uses)], 1)
		if k < len(uses) {
			sums[1].AddGaussian(0.01)
		}
	}
	for i := range sums[0].sides {
		a, b := sums[0].sides[i], sums[1].sides[i]
		if !slices.Equal(a.logs, b.logs) || !slices.Equal(a.turns, b.turns) || a.scale != b.scale ||
			a.inf != b.inf || a.err != b.err || sums[0].plain != sums[1].plain {
			t.Errorf("direction %d: two orders have different sums", i)
		}
	}
}
