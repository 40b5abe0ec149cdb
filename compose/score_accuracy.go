package compose

import (
	"context"
	"math"

	"github.com/seed7ba64551/privgen/internal/classify"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Accuracy scores a generator by logistic regression on its synthetic records: the fraction of
// private records that it classifies correctly.
type Accuracy struct {
	// Balanced uses the mean of the accuracies of all classes instead, for classes of unequal sizes.
	Balanced bool   `json:"balanced,omitempty"`
	Records  int    `json:"records,omitempty"` // synthetic records to train on; default 5000
	Seed     uint64 `json:"seed,omitempty"`    // seed of the synthetic records
}

// mostSynthetic bounds the number of synthetic records that a score draws.
const mostSynthetic = 1 << 24

// Validate reports every mistake, as joined *param.Error values.
func (a Accuracy) Validate(s records.Schema) error {
	var k param.Checker
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
	by, err := classify.LogisticRegression{}.Fit(drawn)
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
