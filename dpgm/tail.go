package dpgm

import "math"

// Counts of rare sizes consist mostly of noise. Bins of large sizes are wide, so a small error in
// their counts has a large effect on the estimated number of ones. This number is used to correct
// frequencies for scaling. A tail that is fitted to the reliable bins is more accurate. These
// constants determine the fit.
const (
	standsOut  = 5.0 // a bin is reliable if its count exceeds this many standard deviations
	tailBins   = 14  // largest number of bins to which a tail is fitted
	tailLeast  = 4   // smallest number of such bins
	tailRounds = 8
	tailStray  = 2.0  // if a coefficient changes by more, the fit has not converged
	tailMisfit = 0.01 // squared relative error of a parabola as a distribution of sizes
)

// continued replaces the counts of the bins above the last reliable bin by a fitted tail. In the
// tail, the logarithm of the number of records per size is a decreasing parabola in the logarithm
// of the size. If no parabola that fits decreases, a line is used. If no line decreases either,
// sizes are not changed.
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

// tail returns the first and the last bin to which a tail is fitted. The last is the last reliable
// bin. The first is a reliable bin that is neither below the most frequent size nor bin 0. Between
// them there is at most one unreliable bin between two reliable bins.
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

// beyond returns the distance of one bin from another, which is the logarithm of the ratio of their
// sizes.
func (b sizeBins) beyond(bin, from int) float64 { return math.Log(b.middle(bin) / b.middle(from)) }

// fitTail fits a polynomial by weighted least squares, first to the logarithms of the reliable
// bins. These bins were selected by their noisy values, which biases the fit. It is therefore
// refined on all bins from the first.
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

// leastSquares fits a polynomial to the bins from first to end. Its variable is the distance from
// the bin at. observe returns the value and the weight of a bin.
func (b sizeBins) leastSquares(first, end, at, degree int,
	observe func(bin int, x float64) (y, weight float64)) [3]float64 {
	var a [3][4]float64 // normal equations and their right-hand side
	for i := range a {
		a[i][i] = 1e-9 // coefficients above the degree become 0
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

// solve solves the equations by elimination. The equations of a fit are positive definite, so no
// pivot is zero.
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
