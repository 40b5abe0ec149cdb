package classify

import (
	"cmp"
	"math"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/internal/judge"
)

// AdaBoost trains small trees one after the other. Records that the earlier trees classified
// wrongly have larger weights.
//
// Source: Zhu, Zou, Rosset and Hastie 2009, "Multi-class AdaBoost", algorithm 2
// (SAMME).
type AdaBoost struct {
	Trees int     // 0 for 50
	Depth int     // depth of each tree; 0 for 1
	Rate  float64 // factor on the vote of each tree; 0 for 1
}

// Name returns "AdaBoost".
func (AdaBoost) Name() string { return "AdaBoost" }

// Validate reports every invalid setting.
//
// Errors: *[param.Error], joined.
func (m AdaBoost) Validate() error {
	return judge.NotNegative("classify.AdaBoost", judge.Number("Trees", m.Trees),
		judge.Number("Depth", m.Depth), judge.Number("Rate", m.Rate))
}

// Fit trains a classifier; see [NeuralNetwork.Fit] for errors and guarantee.
func (m AdaBoost) Fit(d records.Data) (*Classifier, error) { return judge.Fit(m, d) }

// Learn trains on records that have been read.
func (m AdaBoost) Learn(x *judge.Design) (Scorer, error) {
	b, err := binsOf(x)
	if err != nil {
		return nil, err
	}
	weights := make([]float64, x.Rows())
	for i := range weights {
		weights[i] = 1 / float64(len(weights))
	}
	out := boosted{classes: x.Classes}
	for range cmp.Or(m.Trees, 50) {
		g := grower{bins: b, labels: x.Labels, weights: weights, width: x.Classes,
			depth: cmp.Or(m.Depth, 1)}
		g.leafOf = make([]int32, x.Rows())
		t := g.grow(allRows(x.Rows()))
		votes, wrong := out.votes(t), 0.0
		for i, l := range x.Labels {
			if votes[g.leafOf[i]] != l {
				wrong += weights[i]
			}
		}
		worth, more := m.worth(wrong, x.Classes)
		if worth > 0 || len(out.of) == 0 {
			out.add(t, votes, worth)
		}
		if !more {
			break
		}
		reweigh(weights, x.Labels, g.leafOf, votes, math.Exp(worth))
	}
	return out, nil
}

// worth returns the vote of a tree that is wrong on the given fraction of the weight, and whether
// boosting can continue.
func (m AdaBoost) worth(wrong float64, classes int) (worth float64, more bool) {
	switch {
	case wrong <= 0:
		return 1, false
	case wrong >= 1-1/float64(classes):
		return 0, false
	}
	return cmp.Or(m.Rate, 1) * (math.Log((1-wrong)/wrong) + math.Log(float64(classes-1))),
		true
}

// reweigh increases the weights of wrongly classified records and keeps the sum of all weights at
// 1.
func reweigh(weights []float64, labels, leafOf, votes []int32, by float64) {
	sum := 0.0
	for i, l := range labels {
		if votes[leafOf[i]] != l {
			weights[i] *= by
		}
		sum += weights[i]
	}
	for i := range weights {
		weights[i] /= sum
	}
}

// boosted is a set of trees that vote, each with its weight.
type boosted struct {
	classes int
	of      []*tree
	says    [][]int32 // class by leaf
	worth   []float64
}

// votes returns the class of every leaf of a tree.
func (m *boosted) votes(t *tree) []int32 {
	votes := make([]int32, t.leaves())
	for l := range votes {
		votes[l] = int32(judge.Argmax(t.values[l*t.width : (l+1)*t.width]))
	}
	return votes
}

func (m *boosted) add(t *tree, votes []int32, worth float64) {
	m.of, m.says, m.worth = append(m.of, t), append(m.says, votes), append(m.worth, worth)
}

// Scores sets dst to the shares of the vote, scaled so that a class without votes has −1/(K−1).
func (m boosted) Scores(b device.Batch, dst []float64) {
	clear(dst)
	total := 0.0
	for _, w := range m.worth {
		total += w
	}
	others := 1 / math.Max(float64(m.classes-1), 1)
	find(m.of, b, func(tree, first int, leaves []int32) {
		for i, l := range leaves {
			dst[(first+i)*m.classes+int(m.says[tree][l])] += m.worth[tree] / max(total,
				math.SmallestNonzeroFloat64)
		}
	})
	for i, s := range dst {
		dst[i] = s - (1-s)*others
	}
}

func (m boosted) Probabilities(b device.Batch, dst []float64) {
	m.Scores(b, dst)
	for i := range b.Rows {
		p := dst[i*m.classes : (i+1)*m.classes]
		for c := range p {
			p[c] /= math.Max(float64(m.classes-1), 1)
		}
		judge.Softmax(p)
	}
}
