package evaluate

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
	"github.com/seed7ba64551/privgen/report/internal/compare"
	"github.com/seed7ba64551/privgen/report/internal/judge"
)

// JensenShannonScore measures how well a classifier distinguishes unseen synthetic records from
// real ones. It is the mean divergence of the classifier's probabilities from ½ over synthetic
// records, 0 at best. It is reported together with the score of held-out real records in place of
// synthetic ones.
//
// Source: Zhang, Ji and Wang 2018, "dp-GAN", section 5. The paper's formula is the formula of
// Symmetric, but its code computes Divergence.
type JensenShannonScore struct {
	Classifier string   `json:"classifier"` // name of the method that was trained
	Divergence Compared `json:"divergence"` // Jensen–Shannon, in bits: at most 0.3113
	Symmetric  Compared `json:"symmetric"`  // ½KL(p‖½) + ½KL(½‖p), in nats
	ROC        Compared `json:"roc_auc"`    // synthetic against real records
	Records    int      `json:"records"`    // of each kind; half of them trained on
	Floor      float64  `json:"floor"`      // probabilities are kept this far from 0 and 1
}

// probabilityFloor keeps the symmetric divergence finite.
const probabilityFloor = 1e-6

// JensenShannon trains a method to distinguish synthetic from real records and scores it. It uses
// equally many records of each kind, the number in the smallest set, and trains on half of them.
//
// Errors: all errors of [classify.Method.Fit] and [classify.Classifier.Probabilities];
// *[param.Error] for records of different schemas or fewer than four. Guarantee: none; see the
// package.
func JensenShannon(m classify.Method, synthetic, real,
	held records.Data) (JensenShannonScore, error) {
	if err := compare.Alike("evaluate.JensenShannon", real, synthetic, held); err != nil {
		return JensenShannonScore{}, err
	}
	if m == nil {
		return JensenShannonScore{}, param.New("evaluate.JensenShannon m", nil, "a method")
	}
	n := min(synthetic.Len(), real.Len(), held.Len())
	if n < 4 {
		return JensenShannonScore{},
			param.New("evaluate.JensenShannon records", "too few", "at least four of each kind")
	}
	out := JensenShannonScore{Classifier: m.Name(), Records: n, Floor: probabilityFloor}
	real = compare.AtMost(real, n, 0)
	first := out.tell(m, compare.AtMost(synthetic, n, 1), real, func(b *Compared) *float64 {
		return &b.Synthetic
	})
	second := out.tell(m, compare.AtMost(held, n, 2), real, func(b *Compared) *float64 {
		return &b.HeldOut
	})
	return out, errors.Join(first, second)
}

// tell trains and scores one discriminator.
func (s *JensenShannonScore) tell(m classify.Method, fake, real records.Data,
	at func(*Compared) *float64) error {
	train, err := told(fake, real, 0)
	if err != nil {
		return err
	}
	test, err := told(fake, real, 1)
	if err != nil {
		return err
	}
	c, err := m.Fit(train)
	if err != nil {
		return err
	}
	p, err := c.Probabilities(test)
	if err != nil {
		return err
	}
	labels, fakes := judge.Labels(test), 0
	var js, symmetric float64
	for i, l := range labels {
		if l == 1 {
			j, k := fromCoin(p[2*i+1])
			js, symmetric, fakes = js+j, symmetric+k, fakes+1
		}
	}
	*at(&s.Divergence) = js / float64(fakes)
	*at(&s.Symmetric) = symmetric / float64(fakes)
	ranking, err := classify.Rank(rankedBySecond(p), fromFakes(labels))
	*at(&s.ROC) = ranking.ROC
	return err
}

// rankedBySecond returns, for each record, the probability of the second class minus the
// probability of the first.
func rankedBySecond(p []float64) []float64 {
	out := make([]float64, len(p)/2)
	for i := range out {
		if d := p[2*i+1] - p[2*i]; d == d {
			out[i] = d
		}
	}
	return out
}

// fromFakes reports for each record whether it is synthetic.
func fromFakes(labels []int32) []bool {
	out := make([]bool, len(labels))
	for i, l := range labels {
		out[i] = l == 1
	}
	return out
}

// fromCoin returns the distance of a probability from ½: Jensen–Shannon in bits, and the
// symmetrised divergence in nats.
func fromCoin(p float64) (js, symmetric float64) {
	p = min(max(p, probabilityFloor), 1-probabilityFloor)
	for _, q := range []float64{p, 1 - p} {
		middle := (q + 0.5) / 2
		js += (q*math.Log2(q/middle) + 0.5*math.Log2(0.5/middle)) / 2
		symmetric += (q*math.Log(q/0.5) + 0.5*math.Log(0.5/q)) / 2
	}
	return js, symmetric
}

// told returns every second record of both kinds, labelled as real or synthetic.
func told(fake, real records.Data, first int) (records.Data, error) {
	var (
		b      device.Batch
		flat   []float32
		sets   [][]uint32
		labels []int32
	)
	for label, d := range []records.Data{real, fake} {
		var rows []int32
		for r := first; r < d.Len(); r += 2 {
			rows, labels = append(rows, int32(r)), append(labels, int32(label))
		}
		judge.InSchema(d).Gather(rows, &b)
		for i := range b.Rows {
			if b.Sparse != nil {
				sets = append(sets, append([]uint32(nil), b.Sparse.Row(i)...))
			} else {
				flat = append(flat, b.Dense.Row(i)...)
			}
		}
	}
	s, err := withoutGoal(real.Schema())
	if err != nil {
		return nil, err
	}
	s = s.WithLabels("real", "synthetic")
	switch {
	case s.Sparse():
		return records.FromItems(s, sets, labels...)
	case s.Kind() == records.MixedTable:
		return records.DecodeFlat(s, flat, labels...)
	}
	return records.FromFlat(s, flat, labels...)
}

// withoutGoal returns a schema of the same encoded records without a class, in which a number to be
// predicted, which is never missing, is a number like any other.
func withoutGoal(s records.Schema) (records.Schema, error) {
	s = s.WithoutLabels()
	columns := s.Columns()
	j := slices.IndexFunc(columns, func(c records.Column) bool {
		return c.Kind() == records.TargetColumn
	})
	if j < 0 {
		return s, nil
	}
	c := records.Numeric(columns[j].Name(), 0, 1).WithBounds(columns[j].Bounds())
	if step := columns[j].Step(); step > 0 {
		c = c.WithStep(step)
	}
	if columns[j].LogUnit() > 0 {
		c = c.Logarithmic()
	}
	columns[j] = c
	return records.NewSchema(columns...)
}

// String prints the scores, marked as not private.
func (s JensenShannonScore) String() string {
	one := func(of func(Compared) float64) string {
		return fmt.Sprintf("%.4f bits (symmetrised KL %.4f, ROC %.3f)", of(s.Divergence),
			of(s.Symmetric), of(s.ROC))
	}
	return fmt.Sprintf("%sJensen–Shannon score by a %s: %s, held-out real records %s (%s)",
		judge.Mark, s.Classifier,
		one(func(b Compared) float64 {
			return b.Synthetic
		}), one(func(b Compared) float64 { return b.HeldOut }), judge.Caveat)
}

// MarshalJSON writes the result with its caveat.
func (s JensenShannonScore) MarshalJSON() ([]byte, error) {
	type plain JensenShannonScore
	return compare.JSON("Jensen–Shannon score", plain(s))
}
