package evaluate

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
)

// Methods are the classifiers by which labelled records are commonly judged: logistic
// regression, both naive Bayes, a linear support vector machine, a decision tree,
// linear discriminants, AdaBoost, bagging, a random forest, gradient boosting, a
// multilayer perceptron and, for images, a convolutional network.
//
// Source: Harder, Adamczewski and Park 2021, "DP-MERF", section 5, but for its
// XGBoost. Settings are the defaults of this package, for images smaller ensembles and
// samples as in that paper's code.
func Methods(s records.Schema, seed uint64) []Method {
	methods := []Method{
		LogisticRegression{}, GaussianBayes{}, BernoulliBayes{}, SupportVectors{}, DecisionTree{}, DiscriminantAnalysis{},
		AdaBoost{}, Bagging{Seed: seed}, RandomForest{Seed: seed}, GradientBoosting{Seed: seed}, Learner{Hidden: []int{100}, Seed: seed},
	}
	if !s.IsImage() {
		return methods
	}
	methods[5] = DiscriminantAnalysis{Shrinkage: 0.5}
	methods[7] = Bagging{Trees: 20, Part: 0.1, Seed: seed}
	methods[9] = GradientBoosting{Stages: 50, Part: 0.1, Seed: seed}
	return append(methods, Convolutional{Training: Learner{Seed: seed}})
}

// Suite trains several classifiers on synthetic and on real records and tests
// all on real records that none has seen. The zero value takes [Methods].
type Suite struct {
	Methods []Method
	Most    int    // training records of either kind at most, drawn at random; 0 for all
	Seed    uint64 // of that draw, and of Methods where they are not given
}

// Utilities is the outcome of a [Suite].
type Utilities struct {
	Trained   int       `json:"trained_on"`      // synthetic records
	TrainedOn int       `json:"trained_on_real"` // real ones
	Tested    int       `json:"tested_on"`
	Methods   []Utility `json:"methods"`
}

// Compare trains on synthetic and on real records in turn.
//
// Errors: those of [Method.Fit] and [Classifier.Test], joined; records of
// different schemas.
// Guarantee: none; see the package.
func (s Suite) Compare(synthetic, train, test records.Data) (Utilities, error) {
	if err := sameRecords("evaluate.Suite", train, synthetic, test); err != nil {
		return Utilities{}, err
	}
	methods := s.Methods
	if methods == nil {
		methods = Methods(train.Schema(), s.Seed)
	}
	fake, err := s.read(synthetic)
	if err != nil {
		return Utilities{}, err
	}
	real, err := s.read(train)
	if err != nil {
		return Utilities{}, err
	}
	out := Utilities{Trained: fake.rows(), TrainedOn: real.rows(), Tested: test.Len()}
	for i, m := range methods {
		if m == nil {
			return out, param.New(fmt.Sprintf("evaluate.Suite.Methods[%d]", i), nil, "a method")
		}
		a, first := fake.fitAndTest(m, test)
		b, second := real.fitAndTest(m, test)
		if err := errors.Join(first, second); err != nil {
			return out, err
		}
		out.Methods = append(out.Methods, Utility{a, b})
	}
	return out, nil
}

// source is training records, read once for all methods of this package.
type source struct {
	*design
	data records.Data
}

func (s Suite) read(d records.Data) (source, error) {
	if s.Most < 0 {
		return source{}, param.New("evaluate.Suite.Most", s.Most, "a number of records, or 0 for all")
	}
	if s.Most > 0 && s.Most < d.Len() {
		rng := rand.New(rand.NewPCG(s.Seed, 0x6d6f7374))
		d = rowsOf{d, someRows(rng, d.Len(), s.Most)}
	}
	x, err := load(d)
	return source{x, d}, err
}

func (s source) fitAndTest(m Method, test records.Data) (Classification, error) {
	l, ours := m.(learner)
	if !ours {
		return fitAndTest(m, s.data, test)
	}
	c, err := fitDesign(l, s.design)
	if err != nil {
		return Classification{}, err
	}
	return c.Test(test)
}

// sameRecords refuses data of different kinds or classes.
func sameRecords(path string, want records.Data, others ...records.Data) error {
	if err := given(path, append([]records.Data{want}, others...)...); err != nil {
		return err
	}
	w := want.Schema()
	wantLo, wantHi := w.Bounds()
	for _, d := range others {
		s := d.Schema()
		lo, hi := s.Bounds()
		same := s.Dim() == w.Dim() && s.Sparse() == w.Sparse() && lo == wantLo && hi == wantHi
		if !same || !slices.Equal(s.ClassNames(), w.ClassNames()) || !slices.Equal(s.Blocks(), w.Blocks()) {
			return param.New(path, s, fmt.Sprintf("records like the real ones: %v", w))
		}
	}
	return nil
}

// Scores are the measures of one classifier, or their means over several.
type Scores struct {
	Accuracy   float64 `json:"accuracy"`
	WeightedF1 float64 `json:"weighted_f1"`
	MacroF1    float64 `json:"macro_f1"`
	OnScores   Ranking `json:"on_scores"`
	OnHard     Ranking `json:"on_hard_predictions"`
}

// Measures are all measures of one classification.
func (c Classification) Measures() Scores {
	return Scores{c.Accuracy(), c.WeightedF1(), c.MacroF1(), c.Scores, c.Hard()}
}

// Mean is the mean over methods, trained on synthetic and on real records.
func (u Utilities) Mean() (synthetic, real Scores) {
	a, b := make([]Scores, 0, len(u.Methods)), make([]Scores, 0, len(u.Methods))
	for _, m := range u.Methods {
		a, b = append(a, m.Synthetic.Measures()), append(b, m.Real.Measures())
	}
	return meanOf(a), meanOf(b)
}

func meanOf(all []Scores) Scores {
	var m Scores
	n := float64(max(len(all), 1))
	for _, s := range all {
		m.Accuracy += s.Accuracy / n
		m.WeightedF1 += s.WeightedF1 / n
		m.MacroF1 += s.MacroF1 / n
		m.OnScores.ROC += s.OnScores.ROC / n
		m.OnScores.PRC += s.OnScores.PRC / n
		m.OnHard.ROC += s.OnHard.ROC / n
		m.OnHard.PRC += s.OnHard.PRC / n
	}
	return m
}

// String prints a line for each method, marked as not private. Each column has the
// figure of synthetic records before that of real ones.
func (u Utilities) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%strained on %d synthetic | %d real records, tested on %d real ones (%s)\n", mark, u.Trained, u.TrainedOn, u.Tested, caveat)
	fmt.Fprintf(&b, "%-30s %-13s %-13s %-13s %-13s %-13s %-13s", "", "accuracy", "weighted F1", "ROC, scores", "PRC, scores", "ROC, hard", "PRC, hard")
	for _, m := range u.Methods {
		b.WriteString(scoreLine(m.Synthetic.Model, m.Synthetic.Measures(), m.Real.Measures()))
	}
	synthetic, real := u.Mean()
	b.WriteString(scoreLine("mean", synthetic, real))
	return b.String()
}

func scoreLine(name string, a, b Scores) string {
	return fmt.Sprintf("\n%-30s %.3f | %.3f %.3f | %.3f %.3f | %.3f %.3f | %.3f %.3f | %.3f %.3f | %.3f", name,
		a.Accuracy, b.Accuracy, a.WeightedF1, b.WeightedF1, a.OnScores.ROC, b.OnScores.ROC, a.OnScores.PRC, b.OnScores.PRC,
		a.OnHard.ROC, b.OnHard.ROC, a.OnHard.PRC, b.OnHard.PRC)
}

// MarshalJSON writes the result with its caveat.
func (u Utilities) MarshalJSON() ([]byte, error) {
	type plain Utilities
	synthetic, real := u.Mean()
	return marshal("train on synthetic, test on real: several classifiers", struct {
		MeanSynthetic Scores `json:"mean_synthetic"`
		MeanReal      Scores `json:"mean_real"`
		plain
	}{synthetic, real, plain(u)})
}
