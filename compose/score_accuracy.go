package compose

import (
	"context"
	"math"

	"github.com/seed7ba64551/privgen/evaluate/classify"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Accuracy scores a generator by a classifier trained on its synthetic records: the fraction of
// private records that it classifies correctly.
type Accuracy struct {
	Learner Learner `json:"learner,omitempty"`
	// Balanced uses the mean of the accuracies of all classes instead, for classes of unequal sizes.
	Balanced bool   `json:"balanced,omitempty"`
	Records  int    `json:"records,omitempty"` // synthetic records to train on; default 5000
	Seed     uint64 `json:"seed,omitempty"`    // seed of the synthetic records
}

// Learner is a kind of classifier.
type Learner int

const (
	// Logistic is logistic regression.
	Logistic Learner = iota
	// Boosting is gradient boosting of trees.
	Boosting
	// Forest is a random forest.
	Forest
)

var learnerNames = param.Names[Learner]{Type: "compose.Learner", List: []string{
	Logistic: "logistic", Boosting: "boosting", Forest: "forest",
}}

// String returns the name.
func (l Learner) String() string { return learnerNames.String(l) }

// MarshalText writes the name.
func (l Learner) MarshalText() ([]byte, error) { return learnerNames.Marshal(l) }

// UnmarshalText reads a name that MarshalText wrote.
//
// Errors: *[param.Error] for any other text, listing the accepted names.
func (l *Learner) UnmarshalText(text []byte) error { return learnerNames.Unmarshal(text, l) }

func (l Learner) method() classify.Method {
	switch l {
	case Boosting:
		return classify.GradientBoosting{}
	case Forest:
		return classify.RandomForest{}
	}
	return classify.LogisticRegression{}
}

// mostSynthetic bounds the number of synthetic records that a score draws.
const mostSynthetic = 1 << 24

// Validate reports every mistake, as joined *param.Error values.
func (a Accuracy) Validate(s records.Schema) error {
	var k param.Checker
	k.OK(learnerNames.Known(a.Learner), "compose.Accuracy.Learner", int(a.Learner),
		"Logistic, Boosting or Forest")
	k.OK(a.Records >= 0 && a.Records <= mostSynthetic, "compose.Accuracy.Records", a.Records,
		"a number of records up to 2^24, or 0 for the default")
	value := s.String()
	if s.Classes() == 0 {
		value += " without classes"
	}
	k.OK(s.Classes() > 1, "compose.Accuracy", value, "records with at least two classes")
	return k.Err()
}

// Statistic trains the classifier.
//
// Errors: all errors of drawing and training; ctx.Err().
func (a Accuracy) Statistic(ctx context.Context, g *synth.Generator) (Statistic, error) {
	n := a.Records
	if n == 0 {
		n = 5000
	}
	drawn, err := g.Sample(ctx, n, synth.Seed(a.Seed), synth.Unconstrained())
	if err != nil {
		return nil, err
	}
	by, err := a.Learner.method().Fit(drawn)
	if err != nil {
		return nil, err
	}
	return &hits{by: by, classes: g.Schema().Classes(), balanced: a.Balanced}, nil
}

// hits counts, by class, the correctly classified records and all records.
type hits struct {
	by       *classify.Classifier
	classes  int
	balanced bool
}

func (h *hits) Dim() int { return 2 * h.classes }

func (h *hits) Of(record records.Data, dst []float64) {
	named, err := h.by.Predict(record)
	label := labelOf(record)
	if err != nil || label < 0 || label >= h.classes {
		return
	}
	dst[h.classes+label] = math.Sqrt2 / 2
	if int(named[0]) == label {
		dst[label] = math.Sqrt2 / 2
	}
}

// Score returns the accuracy, estimated from noisy counts.
func (h *hits) Score(noisy []float64) float64 {
	right, all := noisy[:h.classes], noisy[h.classes:]
	if h.balanced {
		sum := 0.0
		for c, n := range all {
			sum += share(right[c], n)
		}
		return sum / float64(h.classes)
	}
	named, total := 0.0, 0.0
	for c, n := range all {
		named, total = named+right[c], total+n
	}
	return share(named, total)
}

// share returns part ÷ whole, clamped to [0, 1]. Noise can make whole small or negative, so whole
// counts as at least 1.
func share(part, whole float64) float64 { return min(max(part/max(whole, 1), 0), 1) }
