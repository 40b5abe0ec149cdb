package evaluate

import (
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
	"github.com/seed7ba64551/privgen/report/internal/compare"
	"github.com/seed7ba64551/privgen/report/internal/judge"
)

// InceptionScore is exp(E KL(p(y|x) ‖ p(y))), where p(y|x) is given by a classifier. It is high if
// every record is clearly of one class and all classes occur; its largest value is the number of
// classes. It depends on the classifier, so scores with different classifiers cannot be compared.
// The classifier here is not the Inception network.
//
// Source: Salimans et al. 2016, "Improved techniques for training GANs".
type InceptionScore struct {
	Classifier string   `json:"classifier"` // the classifier that gives p(y|x)
	Score      Compared `json:"score"`      // mean over splits
	Deviation  Compared `json:"deviation"`  // standard deviation over splits
	Splits     int      `json:"splits"`
	Records    int      `json:"records"` // synthetic ones
	HeldOut    int      `json:"records_held_out"`
	Most       float64  `json:"most"` // the number of classes
}

// inceptionSplits is the usual number of parts that are scored separately.
const inceptionSplits = 10

// Inception scores synthetic and held-out real records with a classifier. Neither needs labels.
//
// Errors: all errors of [classify.Classifier.Probabilities], and *[param.Error] for fewer than ten
// records. Guarantee: none; see the package.
func Inception(c *classify.Classifier, synthetic, held records.Data) (InceptionScore, error) {
	if c == nil {
		return InceptionScore{}, param.New("evaluate.Inception c", nil, "a classifier")
	}
	if err := judge.Given("evaluate.Inception", synthetic, held); err != nil {
		return InceptionScore{}, err
	}
	out := InceptionScore{
		Classifier: c.Name(), Splits: inceptionSplits, Records: synthetic.Len(), HeldOut: held.Len(),
		Most: float64(c.Schema().Classes()),
	}
	var err error
	if out.Score.Synthetic, out.Deviation.Synthetic, err = splitScores(c, synthetic); err != nil {
		return InceptionScore{}, err
	}
	if out.Score.HeldOut, out.Deviation.HeldOut, err = splitScores(c, held); err != nil {
		return InceptionScore{}, err
	}
	return out, nil
}

func splitScores(c *classify.Classifier, d records.Data) (mean, deviation float64, err error) {
	if d.Len() < inceptionSplits {
		return 0, 0,
			param.New("evaluate.Inception records", "too few", fmt.Sprintf("at least %d", inceptionSplits))
	}
	p, err := c.Probabilities(d)
	if err != nil {
		return 0, 0, err
	}
	k, squares := c.Schema().Classes(), 0.0
	for s := range inceptionSplits {
		lo, hi := s*d.Len()/inceptionSplits, (s+1)*d.Len()/inceptionSplits
		score := inceptionOf(p[lo*k:hi*k], k)
		mean += score / inceptionSplits
		squares += score * score / inceptionSplits
	}
	return mean, math.Sqrt(max(squares-mean*mean, 0)), nil
}

// inceptionOf returns the score of one part.
func inceptionOf(p []float64, classes int) float64 {
	n, marginal := len(p)/classes, make([]float64, classes)
	for i, v := range p {
		marginal[i%classes] += v / float64(n)
	}
	divergence := 0.0
	for i, v := range p {
		if v > 0 {
			divergence += v * math.Log(v/marginal[i%classes]) / float64(n)
		}
	}
	return math.Exp(divergence)
}

// String prints the scores, marked as not private.
func (s InceptionScore) String() string {
	return fmt.Sprintf(
		"%sInception-style score by a %s: %.3f ± %.3f, held-out real records %.3f ± %.3f, at most %g "+
			"(%d splits; %s)",
		judge.Mark, s.Classifier, s.Score.Synthetic, s.Deviation.Synthetic, s.Score.HeldOut,
		s.Deviation.HeldOut, s.Most, s.Splits, judge.Caveat)
}

// MarshalJSON writes the result with its caveat.
func (s InceptionScore) MarshalJSON() ([]byte, error) {
	type plain InceptionScore
	return compare.JSON("Inception-style score", plain(s))
}
