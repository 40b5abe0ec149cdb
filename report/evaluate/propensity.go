package evaluate

import (
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
	"github.com/seed7ba64551/privgen/report/internal/compare"
	"github.com/seed7ba64551/privgen/report/internal/judge"
)

// Propensity measures how well synthetic and real records can be distinguished. The zero value is
// ready to use.
type Propensity struct {
	// Model gives the probabilities for the mean squared error; nil for logistic regression.
	Model classify.Method
	// Discriminator ranks records that it has not seen; nil for a random forest of 50 trees of depth
	// 8.
	Discriminator classify.Method
	Rows          int // records of each kind at most, drawn at random; 0 for 5000
	Seed          uint64
}

// PropensityScore is the outcome of a [Propensity].
type PropensityScore struct {
	Model         string `json:"model"`
	Discriminator string `json:"discriminator"`
	// PMSE is the mean of (p − ½)² over the training records of Model, half of them synthetic. It
	// is 0 if Model cannot distinguish them, and ¼ if it always can.
	PMSE Compared `json:"pmse"`
	// ROC is the area under the discriminator's curve on records it has not seen: ½ is a coin toss.
	ROC       Compared            `json:"roc_auc"`
	Curve     []classify.ROCPoint `json:"roc"`
	HeldCurve []classify.ROCPoint `json:"roc_held_out"`
	Records   int                 `json:"records"` // of each kind; each figure uses half
}

// Compare compares synthetic records, and held-out real ones, with real ones. held may be nil; its
// figures are then zero.
//
// Source: pMSE, Woo, Reiter, Oganian and Karr 2009; Snoke, Raab, Nowok, Dibben and Slavkovic 2018.
// Errors: all errors of [classify.Method.Fit] and [classify.Classifier.Probabilities];
// *[param.Error] for records of different schemas or fewer than four. Guarantee: none; see the
// package.
func (p Propensity) Compare(synthetic, real, held records.Data) (PropensityScore, error) {
	others := []records.Data{synthetic}
	if held != nil {
		others = append(others, held)
	}
	const path = "evaluate.Propensity"
	if err := compare.Alike(path, real, others...); err != nil {
		return PropensityScore{}, err
	}
	if p.Rows < 0 {
		return PropensityScore{}, param.New(path+".Rows", p.Rows, "a number of records, or 0 for 5000")
	}
	if p.Rows == 0 {
		p.Rows = 5000
	}
	if p.Model == nil {
		p.Model = classify.LogisticRegression{}
	}
	if p.Discriminator == nil {
		p.Discriminator = classify.RandomForest{Trees: 50, Depth: 8, Seed: p.Seed}
	}
	n := min(p.Rows, real.Len())
	for _, d := range others {
		n = min(n, d.Len())
	}
	if n < 4 {
		return PropensityScore{}, param.New(path+" records", "too few", "at least four of each kind")
	}
	out := PropensityScore{Model: p.Model.Name(), Discriminator: p.Discriminator.Name(), Records: n}
	real = compare.AtMost(real, n, p.Seed)
	var err error
	out.PMSE.Synthetic, out.ROC.Synthetic, out.Curve, err = p.tell(
		compare.AtMost(synthetic, n, p.Seed+1), real)
	if held == nil || err != nil {
		return out, err
	}
	out.PMSE.HeldOut, out.ROC.HeldOut, out.HeldCurve, err = p.tell(
		compare.AtMost(held, n, p.Seed+2), real)
	return out, err
}

// tell trains on every second record of both kinds.
func (p Propensity) tell(fake, real records.Data) (pmse, roc float64, curve []classify.ROCPoint,
	err error) {
	train, first := told(fake, real, 0)
	test, second := told(fake, real, 1)
	if err := errors.Join(first, second); err != nil {
		return 0, 0, nil, err
	}
	model, first := p.Model.Fit(train)
	discriminator, second := p.Discriminator.Fit(train)
	if err := errors.Join(first, second); err != nil {
		return 0, 0, nil, err
	}
	states, first := model.Probabilities(train)
	ranks, second := discriminator.Probabilities(test)
	if err := errors.Join(first, second); err != nil {
		return 0, 0, nil, err
	}
	for i := 1; i < len(states); i += 2 {
		pmse += (states[i] - 0.5) * (states[i] - 0.5) * 2 / float64(len(states))
	}
	scores, fakes := rankedBySecond(ranks), fromFakes(judge.Labels(test))
	ranking, first := classify.Rank(scores, fakes)
	curve, second = classify.ROCCurve(scores, fakes)
	return pmse, ranking.ROC, curve, errors.Join(first, second)
}

// String prints the scores, marked as not private.
func (s PropensityScore) String() string {
	return fmt.Sprintf("%spropensity of %d records of each kind: pMSE %.4f by %s, held-out real "+
		"records %.4f; ROC %.3f by %s, held-out %.3f (%s)", judge.Mark, s.Records,
		s.PMSE.Synthetic, s.Model, s.PMSE.HeldOut, s.ROC.Synthetic, s.Discriminator, s.ROC.HeldOut,
		judge.Caveat)
}

// MarshalJSON writes the result with its caveat.
func (s PropensityScore) MarshalJSON() ([]byte, error) {
	type plain PropensityScore
	return compare.JSON("propensity", plain(s))
}
