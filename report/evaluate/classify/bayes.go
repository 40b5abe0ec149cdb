package classify

import (
	"cmp"
	"math"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/internal/compare"
	"github.com/seed7ba64551/privgen/report/internal/judge"
)

// GaussianBayes trains naive Bayes with a normal distribution for every coordinate and class.
type GaussianBayes struct {
	Smoothing float64 // added to variances, as a fraction of the largest one; 0 for 1e-9
}

// Name returns "Gaussian naive Bayes".
func (GaussianBayes) Name() string { return "Gaussian naive Bayes" }

// Validate reports every invalid setting.
//
// Errors: *[param.Error], joined.
func (m GaussianBayes) Validate() error {
	return judge.NotNegative("classify.GaussianBayes", judge.Number("Smoothing", m.Smoothing))
}

// Fit trains a classifier; see [NeuralNetwork.Fit] for errors and guarantee.
func (m GaussianBayes) Fit(d records.Data) (*Classifier, error) { return judge.Fit(m, d) }

// Learn trains on records that have been read.
func (m GaussianBayes) Learn(x *judge.Design) (Scorer, error) {
	n, means := x.Counts(), means(x)
	variances := squares(x, means)
	floor := cmp.Or(m.Smoothing, 1e-9) * largestVariance(x, n, means, variances)
	out := &gaussianBayes{quadratic{x.Dim, make([]float64, x.Classes), means, variances}}
	for c := range x.Classes {
		out.constant[c] = math.Log(n[c] / float64(x.Rows()))
		for j := range x.Dim {
			v := &variances[c*x.Dim+j]
			*v = max(*v/max(n[c], 1)+floor, 1e-300)
			out.constant[c] -= math.Log(2*math.Pi**v) / 2
			*v = 1 / (2 * *v)
		}
	}
	return out, nil
}

// means returns the means of all coordinates, class by class.
func means(x *judge.Design) []float64 {
	n, out := x.Counts(), make([]float64, x.Classes*x.Dim)
	read := compare.NewReader(x.Batch)
	for i, l := range x.Labels {
		sum := out[int(l)*x.Dim : (int(l)+1)*x.Dim]
		for j, v := range read.Row(i) {
			sum[j] += float64(v)
		}
	}
	for i := range out {
		out[i] /= max(n[i/x.Dim], 1)
	}
	return out
}

// squares returns the sums of squared deviations from the classes' means.
func squares(x *judge.Design, means []float64) []float64 {
	out := make([]float64, len(means))
	read := compare.NewReader(x.Batch)
	for i, l := range x.Labels {
		at := int(l) * x.Dim
		for j, v := range read.Row(i) {
			d := float64(v) - means[at+j]
			out[at+j] += d * d
		}
	}
	return out
}

// largestVariance returns the variance of the most variable coordinate over all classes.
func largestVariance(x *judge.Design, n, means, squares []float64) float64 {
	top := 0.0
	for j := range x.Dim {
		mean, sum := 0.0, 0.0
		for c := range x.Classes {
			mean += n[c] * means[c*x.Dim+j] / float64(x.Rows())
		}
		for c := range x.Classes {
			d := means[c*x.Dim+j] - mean
			sum += squares[c*x.Dim+j] + n[c]*d*d
		}
		top = max(top, sum/float64(x.Rows()))
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
	read := compare.NewReader(b)
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
	judge.SoftmaxRows(dst, len(m.constant))
}

// BernoulliBayes trains naive Bayes on whether each coordinate is above a threshold.
type BernoulliBayes struct {
	Smoothing float64 // records added to each class, above and below the threshold; 0 for 1
	Threshold float64 // on a scale from 0 to 1 between the schema's bounds; 0 for 0.5
}

// Name returns "Bernoulli naive Bayes".
func (BernoulliBayes) Name() string { return "Bernoulli naive Bayes" }

// Validate reports every invalid setting.
//
// Errors: *[param.Error], joined.
func (m BernoulliBayes) Validate() error {
	return judge.NotNegative("classify.BernoulliBayes", judge.Number("Smoothing", m.Smoothing),
		judge.Fraction("Threshold", m.Threshold))
}

// Fit trains a classifier; see [NeuralNetwork.Fit] for errors and guarantee.
func (m BernoulliBayes) Fit(d records.Data) (*Classifier, error) { return judge.Fit(m, d) }

// Learn trains on records that have been read.
func (m BernoulliBayes) Learn(x *judge.Design) (Scorer, error) {
	alpha, n := cmp.Or(m.Smoothing, 1), x.Counts()
	out := &bernoulliBayes{x.Dim, cmp.Or(m.Threshold, 0.5), make([]float64, x.Classes),
		make([]float64, x.Classes*x.Dim)}
	read := compare.NewReader(x.Batch)
	for i, l := range x.Labels {
		ones := out.odds[int(l)*x.Dim : (int(l)+1)*x.Dim]
		for j, v := range read.Row(i) {
			if float64(v) > out.threshold {
				ones[j]++
			}
		}
	}
	for c := range x.Classes {
		out.constant[c] = math.Log(n[c] / float64(x.Rows()))
		for j := range x.Dim {
			p := (out.odds[c*x.Dim+j] + alpha) / (n[c] + 2*alpha)
			out.constant[c] += math.Log1p(-p)
			out.odds[c*x.Dim+j] = math.Log(p) - math.Log1p(-p)
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
	read := compare.NewReader(b)
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
	judge.SoftmaxRows(dst, len(m.constant))
}
