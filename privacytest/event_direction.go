package privacytest

import (
	"math"
	"slices"
)

// directions returns scores along the linear discriminants of two data sets (Fisher 1936), which are
// combinations of the outputs with much difference and little noise. If the noise of several outputs
// cancels in a combination of them, no single output shows it. The first score assumes the noise of
// the first data set, and the second score the noise of the second one.
func directions(a, b [][]float64, dim int) []score {
	x, y := momentsOf(a, dim), momentsOf(b, dim)
	return []score{x.along("the likelihood direction", y.mean),
		y.along("the likelihood direction given D1", x.mean)}
}

// moments holds the means and standard deviations of outputs, and the correlations of the first
// ones. The other outputs are taken as uncorrelated.
type moments struct {
	mean, spread []float64
	correlation  [][]float64
}

func momentsOf(outs [][]float64, dim int) moments {
	m := moments{mean: make([]float64, dim), spread: slices.Repeat([]float64{1}, dim)}
	square := make([]float64, dim)
	sum := func(add func(z []float64)) {
		for _, o := range outs {
			add(m.standard(o))
		}
	}
	n := float64(len(outs))
	mean := make([]float64, dim)
	sum(func(z []float64) { plus(mean, 1/n, z) })
	m.mean = mean
	sum(func(z []float64) {
		for i, v := range z {
			square[i] += v * v / n
		}
	})
	for i, v := range square {
		if v > 0 {
			m.spread[i] = math.Sqrt(v)
		}
	}
	for range min(dim, mostOutputs) {
		m.correlation = append(m.correlation, make([]float64, min(dim, mostOutputs)))
	}
	sum(func(z []float64) {
		for i, row := range m.correlation {
			plus(row, z[i]/n, z[:len(row)])
		}
	})
	return m
}

// plus adds f·v to sum.
func plus(sum []float64, f float64, v []float64) {
	for i := range sum {
		sum[i] += f * v[i]
	}
}

// standard returns o in standard deviations from the mean, and 0 for what is missing or not finite.
func (m moments) standard(o []float64) []float64 {
	z := make([]float64, len(m.mean))
	for i := range z {
		if v := (output(o, i) - m.mean[i]) / m.spread[i]; v-v == 0 {
			z[i] = v
		}
	}
	return z
}

// solve returns the solution x of correlation·x = b.
func (m moments) solve(b []float64) []float64 {
	// The ridge is far below all noise and above rounding errors, so a direction without noise
	// dominates.
	const ridge = 1e-10
	x := slices.Clone(b)
	a := make([][]float64, len(m.correlation))
	for i := range a {
		a[i] = slices.Clone(m.correlation[i])
		a[i][i] += ridge
		for k := range i {
			f := -a[i][k] / a[k][k]
			plus(a[i], f, a[k])
			x[i] += f * x[k]
		}
	}
	for i := len(a) - 1; i >= 0; i-- {
		for k := i + 1; k < len(a); k++ {
			x[i] -= a[i][k] * x[k]
		}
		x[i] /= a[i][i]
	}
	return x
}

// along returns the score along the discriminant between these outputs and outputs with another
// mean.
func (m moments) along(name string, mean []float64) score {
	direction := m.solve(m.standard(mean))
	return score{name, func(o []float64) float64 {
		s := 0.0
		for i, v := range o[:min(len(o), len(direction))] {
			s += direction[i] * (v - m.mean[i]) / m.spread[i]
		}
		return s
	}}
}
