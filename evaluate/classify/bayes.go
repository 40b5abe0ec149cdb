package classify

import (
	"math"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/judge"
	"github.com/seed7ba64551/privgen/records"
)

// GaussianBayes trains naive Bayes with a normal distribution for every coordinate and class.
type GaussianBayes struct {
	Smoothing float64 // added to variances, as a fraction of the largest one; 0 for 1e-9
}

// Name returns "Gaussian naive Bayes".
func (GaussianBayes) Name() string { return "Gaussian naive Bayes" }

// validate reports every invalid setting.
//
// Errors: *[param.Error], joined.
func (m GaussianBayes) validate() error {
	return judge.NotNegative("classify.GaussianBayes", judge.Number("Smoothing", m.Smoothing))
}

// Fit trains a classifier; see [NeuralNetwork.Fit] for errors and guarantee.
func (m GaussianBayes) Fit(d records.Data) (*Classifier, error) { return fit(m, d) }

func (m GaussianBayes) learn(x *design) (Scorer, error) {
	n, means := x.counts(), x.means()
	variances := x.squares(means)
	floor := judge.OrDefault(m.Smoothing, 1e-9) * x.largestVariance(n, means, variances)
	out := &gaussianBayes{quadratic{x.dim, make([]float64, x.classes), means, variances}}
	for c := range x.classes {
		out.constant[c] = math.Log(n[c] / float64(x.rows()))
		for j := range x.dim {
			v := &variances[c*x.dim+j]
			*v = max(*v/max(n[c], 1)+floor, 1e-300)
			out.constant[c] -= math.Log(2*math.Pi**v) / 2
			*v = 1 / (2 * *v)
		}
	}
	return out, nil
}

// means returns the means of all coordinates, class by class.
func (x *design) means() []float64 {
	n, out := x.counts(), make([]float64, x.classes*x.dim)
	read := judge.NewReader(x.batch)
	for i, l := range x.labels {
		sum := out[int(l)*x.dim : (int(l)+1)*x.dim]
		for j, v := range read.Row(i) {
			sum[j] += float64(v)
		}
	}
	for i := range out {
		out[i] /= max(n[i/x.dim], 1)
	}
	return out
}

// squares returns the sums of squared deviations from the classes' means.
func (x *design) squares(means []float64) []float64 {
	out := make([]float64, len(means))
	read := judge.NewReader(x.batch)
	for i, l := range x.labels {
		at := int(l) * x.dim
		for j, v := range read.Row(i) {
			d := float64(v) - means[at+j]
			out[at+j] += d * d
		}
	}
	return out
}

// largestVariance returns the variance of the most variable coordinate over all classes.
func (x *design) largestVariance(n, means, squares []float64) float64 {
	top := 0.0
	for j := range x.dim {
		mean, sum := 0.0, 0.0
		for c := range x.classes {
			mean += n[c] * means[c*x.dim+j] / float64(x.rows())
		}
		for c := range x.classes {
			d := means[c*x.dim+j] - mean
			sum += squares[c*x.dim+j] + n[c]*d*d
		}
		top = max(top, sum/float64(x.rows()))
	}
	return top
}

// quadratic scores each class by a constant minus weighted squared distances.
type quadratic struct {
	dim            int
	constant       []float64
	centre, weight []float64
}

type gaussianBayes struct{ quadratic }

// Scores returns the logarithms of the joint densities.
func (m quadratic) Scores(b device.Batch, dst []float64) {
	k := len(m.constant)
	read := judge.NewReader(b)
	for i := range b.Rows {
		row := read.Row(i)
		for c := range k {
			centre, weight := m.centre[c*m.dim:(c+1)*m.dim], m.weight[c*m.dim:(c+1)*m.dim]
			sum := m.constant[c]
			for j, v := range row {
				d := float64(v) - centre[j]
				sum -= d * d * weight[j]
			}
			dst[i*k+c] = sum
		}
	}
}

func (m *gaussianBayes) Probabilities(b device.Batch, dst []float64) {
	m.Scores(b, dst)
	softmaxRows(dst, len(m.constant))
}

// BernoulliBayes trains naive Bayes on whether each coordinate is above a threshold.
type BernoulliBayes struct {
	Smoothing float64 // records added to each class, above and below the threshold; 0 for 1
	Threshold float64 // on a scale from 0 to 1 between the schema's bounds; 0 for 0.5
}

// Name returns "Bernoulli naive Bayes".
func (BernoulliBayes) Name() string { return "Bernoulli naive Bayes" }

// validate reports every invalid setting.
//
// Errors: *[param.Error], joined.
func (m BernoulliBayes) validate() error {
	return judge.NotNegative("classify.BernoulliBayes", judge.Number("Smoothing", m.Smoothing),
		judge.Fraction("Threshold", m.Threshold))
}

// Fit trains a classifier; see [NeuralNetwork.Fit] for errors and guarantee.
func (m BernoulliBayes) Fit(d records.Data) (*Classifier, error) { return fit(m, d) }

func (m BernoulliBayes) learn(x *design) (Scorer, error) {
	alpha, n := judge.OrDefault(m.Smoothing, 1), x.counts()
	out := &bernoulliBayes{x.dim, judge.OrDefault(m.Threshold, 0.5), make([]float64, x.classes),
		make([]float64, x.classes*x.dim)}
	read := judge.NewReader(x.batch)
	for i, l := range x.labels {
		ones := out.odds[int(l)*x.dim : (int(l)+1)*x.dim]
		for j, v := range read.Row(i) {
			if float64(v) > out.threshold {
				ones[j]++
			}
		}
	}
	for c := range x.classes {
		out.constant[c] = math.Log(n[c] / float64(x.rows()))
		for j := range x.dim {
			p := (out.odds[c*x.dim+j] + alpha) / (n[c] + 2*alpha)
			out.constant[c] += math.Log1p(-p)
			out.odds[c*x.dim+j] = math.Log(p) - math.Log1p(-p)
		}
	}
	return out, nil
}

type bernoulliBayes struct {
	dim       int
	threshold float64
	constant  []float64
	odds      []float64
}

// Scores returns the logarithms of the joint probabilities.
func (m *bernoulliBayes) Scores(b device.Batch, dst []float64) {
	k := len(m.constant)
	read := judge.NewReader(b)
	for i := range b.Rows {
		scores := dst[i*k : (i+1)*k]
		copy(scores, m.constant)
		for j, v := range read.Row(i) {
			if float64(v) > m.threshold {
				for c := range scores {
					scores[c] += m.odds[c*m.dim+j]
				}
			}
		}
	}
}

func (m *bernoulliBayes) Probabilities(b device.Batch, dst []float64) {
	m.Scores(b, dst)
	softmaxRows(dst, len(m.constant))
}
