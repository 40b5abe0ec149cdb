package dpgm

import "math"

// Bins of rare sizes hold more noise than records, and bins of large sizes are wide: a few records
// too many there add many ones to every frequency that is corrected for scaling. A tail fitted to
// the reliable bins is more accurate.
const (
	standsOut  = 5.0 // standard deviations of the noise from which a bin speaks for itself
	tailBins   = 14  // bins that a tail is continued from, at most
	tailLeast  = 4   // and at least
	tailRounds = 8
	tailStray  = 2.0  // a fit that moves its coefficients further has not converged
	tailMisfit = 0.01 // a distribution of sizes is a parabola only to within a tenth
)

// continued replaces the bins above the last one that stands out of the noise: the logarithm of the
// records per size goes on as a parabola of the logarithm of the size, or as a line, that falls and
// never turns up. Sizes without such a tail are not changed.
func (b sizeBins) continued(sizes, noisy []float64, std float64) {
	first, last := b.tail(noisy, std)
	if last-first+1 < tailLeast {
		return
	}
	for degree := 2; degree >= 1; degree-- {
		p := b.fitTail(noisy, std, first, last, degree)
		if !(p[1] < 0 && p[2] <= 0) {
			continue
		}
		for i := last + 1; i < len(b); i++ {
			x := b.beyond(i, last)
			sizes[i] = min(b.width(i)*math.Exp(p[0]+x*(p[1]+x*p[2])), standsOut*std)
		}
		return
	}
}

// tail is the run of bins up to the last that stands out, above the commonest size and above 0, of
// which no two neighbours drown.
func (b sizeBins) tail(noisy []float64, std float64) (first, last int) {
	mode := 0
	for i, n := range noisy {
		if n > standsOut*std {
			last = i
		}
		if n/b.width(i) > noisy[mode]/b.width(mode) {
			mode = i
		}
	}
	first = last + 1
	for bin := last; bin >= max(mode, last-tailBins+1, 1) && first-bin <= 2; bin-- {
		if noisy[bin] > standsOut*std {
			first = bin
		}
	}
	return first, last
}

func (b sizeBins) width(bin int) float64 {
	if bin == len(b)-1 {
		return 1
	}
	return float64(b[bin+1] - b[bin])
}

// beyond is how far a bin lies above another.
func (b sizeBins) beyond(bin, from int) float64 { return math.Log(b.middle(bin) / b.middle(from)) }

// fitTail is a polynomial by weighted least squares: first of the logarithms of the bins that stand
// out, which is what chose them, and therefore then of all bins from the first on as they are.
func (b sizeBins) fitTail(noisy []float64, std float64, first, last, degree int) [3]float64 {
	start := b.leastSquares(first, last, last, degree, func(bin int, _ float64) (y, weight float64) {
		n := noisy[bin]
		if n <= standsOut*std {
			return 0, 0
		}
		return math.Log(n / b.width(bin)), 1 / (std*std/(n*n) + 1/n + tailMisfit)
	})
	p := start
	for range tailRounds {
		p = b.leastSquares(first, len(b)-1, last, degree, func(bin int, x float64) (y, weight float64) {
			log := p[0] + x*(p[1]+x*p[2])
			n := b.width(bin) * math.Exp(log)
			return log + (noisy[bin]-n)/n, 1 / (std*std/(n*n) + 1/n + tailMisfit)
		})
		for i := range p {
			if !(math.Abs(p[i]-start[i]) <= tailStray) {
				return start
			}
		}
	}
	return p
}

// leastSquares fits bins from first to end, by their distances from the bin at.
func (b sizeBins) leastSquares(first, end, at, degree int,
	observe func(bin int, x float64) (y, weight float64)) [3]float64 {
	var a [3][4]float64 // normal equations and their right-hand side
	for i := range a {
		a[i][i] = 1e-9 // those of a lower degree have the solution 0
	}
	for bin := first; bin <= end; bin++ {
		x := b.beyond(bin, at)
		y, weight := observe(bin, x)
		powers := [3]float64{1, x, x * x}
		for r := range degree + 1 {
			for c := range degree + 1 {
				a[r][c] += weight * powers[r] * powers[c]
			}
			a[r][3] += weight * powers[r] * y
		}
	}
	return solve(a)
}

// solve eliminates in place: the equations of a fit are positive definite, so that no pivot
// vanishes.
func solve(a [3][4]float64) (p [3]float64) {
	for i := range a {
		for r := range a {
			if r == i {
				continue
			}
			factor := a[r][i] / a[i][i]
			for c := range a[r] {
				a[r][c] -= factor * a[i][c]
			}
		}
	}
	for i := range a {
		p[i] = a[i][3] / a[i][i]
	}
	return p
}
