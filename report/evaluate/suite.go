package evaluate

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
	"github.com/seed7ba64551/privgen/report/internal/compare"
	"github.com/seed7ba64551/privgen/report/internal/judge"
)

// Suite trains several classifiers on synthetic and on real records and tests all on held-out real
// records. The zero value uses [classify.Methods].
type Suite struct {
	Methods []classify.Method
	Most    int    // largest number of training records of either kind, drawn at random; 0 for all
	Seed    uint64 // seed of that draw, and of Methods if none are given
}

// Utilities is the outcome of a [Suite].
type Utilities struct {
	Trained   int       `json:"trained_on"`      // synthetic records
	TrainedOn int       `json:"trained_on_real"` // real ones
	Tested    int       `json:"tested_on"`
	Methods   []Utility `json:"methods"`
}

// Compare trains every method on synthetic and on real records, and tests both classifiers on
// held-out real records.
//
// Errors: all errors of [classify.Method.Fit] and [classify.Classifier.Test], joined; records of
// different schemas. Guarantee: none; see the package.
func (s Suite) Compare(synthetic, train, test records.Data) (Utilities, error) {
	if err := compare.Alike("evaluate.Suite", train, synthetic, test); err != nil {
		return Utilities{}, err
	}
	methods := s.Methods
	if methods == nil {
		methods = classify.Methods(train.Schema(), s.Seed)
	}
	fake, err := s.read(synthetic)
	if err != nil {
		return Utilities{}, err
	}
	real, err := s.read(train)
	if err != nil {
		return Utilities{}, err
	}
	if f, ok := test.(*records.Frame); ok && f.Len()*f.Schema().Dim() <= 1<<24 {
		test = f.Encoded() // once for all classifiers, in at most 64 MiB
	}
	out := Utilities{Trained: fake.Len(), TrainedOn: real.Len(), Tested: test.Len()}
	for i, m := range methods {
		if m == nil {
			return out, param.New(fmt.Sprintf("evaluate.Suite.Methods[%d]", i), nil, "a method")
		}
		a, first := fitAndTest(fake, m, test)
		b, second := fitAndTest(real, m, test)
		if err := errors.Join(first, second); err != nil {
			return out, err
		}
		out.Methods = append(out.Methods, Utility{a, b})
	}
	return out, nil
}

// read reads the training records once for all methods.
func (s Suite) read(d records.Data) (*classify.TrainingSet, error) {
	if s.Most < 0 {
		return nil, param.New("evaluate.Suite.Most", s.Most, "a number of records, or 0 for all")
	}
	if s.Most > 0 && s.Most < d.Len() {
		rng := rand.New(rand.NewPCG(s.Seed, 0x6d6f7374))
		d = judge.Selection{Of: d, Rows: compare.Draw(rng, d.Len(), s.Most)}
	}
	return classify.Read(d)
}

func fitAndTest(train *classify.TrainingSet, m classify.Method,
	test records.Data) (classify.Classification, error) {
	c, err := train.Fit(m)
	if err != nil {
		return classify.Classification{}, err
	}
	return classify.Test(c, test)
}

// Mean returns the mean over methods, trained on synthetic and on real records.
func (u Utilities) Mean() (synthetic, real classify.Scores) {
	a, b := make([]classify.Scores, 0, len(u.Methods)), make([]classify.Scores, 0, len(u.Methods))
	for _, m := range u.Methods {
		a, b = append(a, m.Synthetic.Measures()), append(b, m.Real.Measures())
	}
	return meanOf(a), meanOf(b)
}

func meanOf(all []classify.Scores) classify.Scores {
	var m classify.Scores
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

// String prints a line for each method, marked as not private. Each column has the figure of
// synthetic records before the figure of real records.
func (u Utilities) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%strained on %d synthetic | %d real records, tested on %d real ones (%s)\n",
		judge.Mark, u.Trained, u.TrainedOn, u.Tested, judge.Caveat)
	fmt.Fprintf(&b, "%-30s %-13s %-13s %-13s %-13s %-13s %-13s", "", "accuracy", "weighted F1",
		"ROC, scores", "PRC, scores", "ROC, hard", "PRC, hard")
	for _, m := range u.Methods {
		b.WriteString(scoreLine(m.Synthetic.Model, m.Synthetic.Measures(), m.Real.Measures()))
	}
	synthetic, real := u.Mean()
	b.WriteString(scoreLine("mean", synthetic, real))
	return b.String()
}

func scoreLine(name string, a, b classify.Scores) string {
	return fmt.Sprintf(
		"\n%-30s %.3f | %.3f %.3f | %.3f %.3f | %.3f %.3f | %.3f %.3f | %.3f %.3f | %.3f", name,
		a.Accuracy, b.Accuracy, a.WeightedF1, b.WeightedF1, a.OnScores.ROC, b.OnScores.ROC,
		a.OnScores.PRC, b.OnScores.PRC,
		a.OnHard.ROC, b.OnHard.ROC, a.OnHard.PRC, b.OnHard.PRC)
}

// MarshalJSON writes the result with its caveat.
func (u Utilities) MarshalJSON() ([]byte, error) {
	type plain Utilities
	synthetic, real := u.Mean()
	return compare.JSON("train on synthetic, test on real: several classifiers", struct {
		MeanSynthetic classify.Scores `json:"mean_synthetic"`
		MeanReal      classify.Scores `json:"mean_real"`
		plain
	}{synthetic, real, plain(u)})
}
