package pld

import "math"

// byMoments bounds δ(ε), or the smallest ε, by moments of the version up (see discretise) at the
// losses that the pairs plan. The bound is looser than the bound by a convolution, but it needs no
// window. It also holds if a convolution finds no answer.
//
// δ(ε) = E[(1 − e^{ε−L})₊] is at most the mass at infinite loss plus
// E[e^{θ(L−ε)}]·θ^θ/(1+θ)^{1+θ} for every θ > 0, because (1 − e^{−y})₊ ≤ e^{θy}·θ^θ/(1+θ)^{1+θ}.
// Source: Canonne, Kamath and Steinke 2020, Proposition 12.
func (q *question) byMoments(w *workspace, theta float64) Answer {
	var tilts [len(tiltFactors)]float64
	var logs [len(tiltFactors)]float64 // Σ log moments, rounded up
	for i, f := range tiltFactors {
		tilts[i] = f * max(theta, 0.1)
	}
	keep := 0.0
	for i, p := range q.pairs {
		n := float64(q.n[i])
		w.g.nodes = apart(p.plan(q.tailMass()))
		up, inf := w.g.connect(p)
		keep += n * math.Log1p(-min(inf, 1))
		for j, t := range tilts {
			logs[j] += n * logMomentAbove(w.g.nodes, up, t)
		}
	}
	inf := min(1, -math.Expm1(keep)*(1+float64(len(q.pairs)+8)*2*ulp))
	a := Answer{Upper: math.Inf(1), Blunt: true}
	if q.byEps {
		a.Upper = 1
	}
	for j, t := range tilts {
		k := logs[j] + 4*ulp*float64(len(q.pairs))*math.Abs(logs[j]) + t*math.Log(t) -
			(1+t)*math.Log1p(t) + 8*ulp*(1+t)*(1+math.Log1p(t))
		switch {
		case q.byEps:
			log := k - t*q.eps
			a.Upper = min(a.Upper, inf+math.Exp(log+4*ulp*(math.Abs(k)+t*q.eps))*(1+4*ulp))
		case q.delta > inf:
			log := math.Log(q.delta - inf)
			a.Upper = min(a.Upper, max(0, k-log+8*ulp*(math.Abs(k)+math.Abs(log)))/t*(1+4*ulp))
		}
	}
	a.OK = a.Upper < math.Inf(1)
	return a
}

// tiltFactors are multiplied with the tilt that centres the sum on the answer; byMoments tries all
// products.
var tiltFactors = [...]float64{0.03, 0.1, 0.3, 0.5, 0.7, 0.85, 1, 1.2, 1.5, 2.2, 4}

// logMomentAbove returns log Σ massⱼ e^{θlⱼ}, rounded up.
func logMomentAbove(loss, mass []float64, theta float64) float64 {
	top, size := math.Inf(-1), 0.0
	for j, m := range mass {
		if m != 0 {
			top = max(top, math.Log(m)+theta*loss[j])
			size = max(size, theta*math.Abs(loss[j])+math.Abs(math.Log(m)))
		}
	}
	if math.IsInf(top, -1) {
		return top
	}
	sum := 0.0
	for j, m := range mass {
		if m != 0 {
			sum += math.Exp(math.Log(m) + theta*loss[j] - top)
		}
	}
	return top + math.Log(sum) + ulp*(8+float64(len(mass))+4*size+2*math.Abs(top))
}
