package mix

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// margins describes the coordinates of a record of one class as functions of the latent numbers z.
// The log-odds of a binary coordinate or a level are intercept + slope·z. A number is the logistic
// function of intercept + slope·z + rest·e, where e is an independent normal number.
type margins struct {
	intercept, rest []float64
	slope           [][]float64
}

// newMargins finds intercepts and slopes such that coordinates have the given means, numbers have
// the given variances, and correlations agree with the loadings.
func newMargins(blocks []block, mean, variance []float64, loadings [][]float64) margins {
	m := margins{intercept: make([]float64, len(mean)), rest: make([]float64, len(mean)),
		slope: make([][]float64, len(mean))}
	for _, b := range blocks {
		for j := b.Offset; j < b.Offset+b.Width; j++ {
			if !b.number(j) {
				m.choice(j, mean[j], loadings[j])
				continue
			}
			absent := 0.0
			if b.missing() {
				absent = within(mean[j+1], 0, 0.999)
			}
			m.number(j, mean[j], variance[j], absent, loadings[j])
		}
		if b.OneHot {
			m.levels(b, b.of(mean))
		}
	}
	return m
}

// choice sets the parameters of a binary coordinate or of one level of a column.
func (m *margins) choice(j int, p float64, loading []float64) {
	share := floats.Dot(loading, loading)
	var width float64
	m.intercept[j], width = logitNormal(p, share*p*(1-p))
	m.slope[j] = scaled(loading, width/math.Sqrt(share))
}

// number sets the parameters of a number in [0, 1]. Missing values have coordinate 0, so mean and
// variance are corrected for the fraction of missing values.
func (m *margins) number(j int, mean, variance, absent float64, loading []float64) {
	there := 1 - absent
	of := within(mean/there, 0, 1)
	spread := within((variance+mean*mean)/there-of*of, 1e-4*of*(1-of), 0.95*of*(1-of))
	var width float64
	m.intercept[j], width = logitNormal(of, spread)
	m.slope[j] = scaled(loading, width)
	m.rest[j] = width * math.Sqrt(math.Max(0, 1-floats.Dot(loading, loading)))
}

// scaled returns f·v, or zeros if f is not finite.
func scaled(v []float64, f float64) []float64 {
	return floats.ScaleTo(make([]float64, len(v)), finite(f), v)
}

// levels sets the intercepts of a column's levels such that their softmax, averaged over the latent
// numbers, equals p. Each round adds to each intercept the logarithm of the wanted share divided by
// the current share. This iteration is a contraction.
//
// Source: Berry, Levinsohn and Pakes 1995, appendix I.
func (m *margins) levels(b block, p []float64) {
	const rounds, near = 300, 2e-4
	draws := min(max(1<<18/b.Width, 512), 4096)
	intercept := b.of(m.intercept)
	for j := range intercept {
		intercept[j] = math.Log(math.Max(p[j], rare))
	}
	factors := len(m.slope[b.Offset])
	if factors == 0 {
		return
	}
	at := make([][]float64, draws)
	golden := goldenRatio(factors)
	for i := range at {
		at[i] = make([]float64, b.Width)
		z := normalPoint(i, factors, golden)
		for j := range at[i] {
			at[i][j] = floats.Dot(m.slope[b.Offset+j], z)
		}
	}
	row, average := make([]float64, b.Width), make([]float64, b.Width)
	for range rounds {
		clear(average)
		for _, shift := range at {
			softmax(floats.AddTo(row, intercept, shift))
			floats.AddScaled(average, 1/float64(draws), row)
		}
		farthest := 0.0
		for j := range intercept {
			intercept[j] += math.Log(math.Max(p[j], rare) / math.Max(average[j], rare))
			farthest = math.Max(farthest, math.Abs(p[j]-average[j]))
		}
		if farthest < near {
			return
		}
	}
}

// normalPoint returns point i of a low-discrepancy sequence for the normal distribution in dim
// dimensions. Its coordinates are the normal quantiles of multiples of g^-k modulo 1, for k = 1, …,
// dim, where g is the result of goldenRatio.
//
// Source: Roberts 2018, "The Unreasonable Effectiveness of Quasirandom Sequences".
func normalPoint(i, dim int, golden float64) []float64 {
	out := make([]float64, dim)
	power := 1.0
	for k := range out {
		power /= golden
		_, u := math.Modf(0.5 + float64(i+1)*power)
		out[k] = math.Sqrt2 * math.Erfinv(2*within(u, 1e-9, 1-1e-9)-1)
	}
	return out
}

// goldenRatio returns the positive root of x^(dim+1) = x + 1. For dim = 1 it is the golden ratio.
func goldenRatio(dim int) float64 {
	golden := 2.0
	for range 40 {
		golden = math.Pow(1+golden, 1/float64(dim+1))
	}
	return golden
}

// rare is the smallest probability that is distinguished from zero.
const rare = 1e-7

// softmax turns log-odds into probabilities that add up to 1, in place.
func softmax(row []float64) {
	top := floats.Max(row)
	for j, v := range row {
		row[j] = math.Exp(v - top)
	}
	floats.Scale(1/floats.Sum(row), row)
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// logitNormal finds a and w such that the logistic function of a + w·g has the given mean and
// variance if g is a standard normal variable.
func logitNormal(mean, variance float64) (a, w float64) {
	mean = within(mean, rare, 1-rare)
	if !(variance > 1e-6*mean*(1-mean)) {
		return math.Log(mean / (1 - mean)), 0
	}
	w = bisect(0, 20, 24, func(w float64) bool {
		_, v := logitNormalMoments(logitNormalAt(mean, w), w)
		return v < variance
	})
	return logitNormalAt(mean, w), w
}

// logitNormalAt returns the number a for which the logistic function of a + w·g has the given mean.
func logitNormalAt(mean, w float64) float64 {
	reach := 40 + 6*w
	return bisect(-reach, reach, 40, func(a float64) bool {
		m, _ := logitNormalMoments(a, w)
		return m < mean
	})
}

// bisect returns the point of [lo, hi] at which below changes from true to false, approximated by
// the given number of bisections.
func bisect(lo, hi float64, rounds int, below func(x float64) bool) float64 {
	for range rounds {
		if mid := (lo + hi) / 2; below(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return (lo + hi) / 2
}

// logitNormalMoments returns the mean and variance of the logistic function of a + w·g. It
// integrates over g by the trapezoidal rule, which is very accurate for this function.
func logitNormalMoments(a, w float64) (mean, variance float64) {
	for _, n := range nodes {
		x := logistic(a + w*n.at)
		mean += n.weight * x
		variance += n.weight * x * x
	}
	return mean, variance - mean*mean
}

// nodes are the points and weights of the integration over a standard normal variable.
var nodes = normalNodes()

type node struct{ at, weight float64 }

func normalNodes() (list []node) {
	sum := 0.0
	for i := -18; i <= 18; i++ {
		x := float64(i) / 4
		list = append(list, node{x, math.Exp(-x * x / 2)})
		sum += list[len(list)-1].weight
	}
	for i := range list {
		list[i].weight /= sum
	}
	return list
}
