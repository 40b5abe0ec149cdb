package report

import (
	"context"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
	"github.com/seed7ba64551/privgen/report/internal/judge"
)

// classifiers trains each method on synthetic and on real records, and tests it on held-out real
// ones.
func (m *maker) classifiers(context.Context) error {
	s := m.schema()
	switch {
	case s.Classes() < 2:
		m.omit("classifiers", "the records have no classes")
		return nil
	case len(m.set.Methods) == 0:
		m.omit("classifiers", "none were asked for")
		return nil
	case m.in.HeldOut == nil:
		m.omit("classifiers", "they are tested on held-out real records, and no such records were given")
		return nil
	}
	test := atMost(m.in.HeldOut, m.set.Rows, m.set.Seed+4)
	train := atMost(m.in.Real, m.set.Train, m.set.Seed+5)
	fake := atMost(m.in.Synthetic, m.set.Train, m.set.Seed+6)
	u, err := evaluate.Suite{Methods: m.set.Methods}.Compare(fake, train, test)
	if err != nil {
		return err
	}
	out := &Classifiers{Tested: u.Tested, Trained: u.TrainedOn}
	m.out.Sizes.Trained = u.TrainedOn
	for _, x := range u.Methods {
		out.Rows = append(out.Rows, ClassifierRow{x.Real.Model, scores(x.Synthetic), scores(x.Real)})
	}
	majority, err := classify.Test(majorityOf(train), test)
	if err != nil {
		return err
	}
	out.Majority = scores(majority)
	alone, err := shuffled(train, m.set.Seed+7)
	if err != nil {
		return err
	}
	c, err := m.set.Methods[0].Fit(alone)
	if err != nil {
		return err
	}
	independent, err := classify.Test(c, test)
	if err != nil {
		return err
	}
	out.Independent = scores(independent)
	m.out.Classifiers = out
	return nil
}

func scores(c classify.Classification) Scores {
	return Scores{Number(c.Accuracy()), Number(c.MacroF1()), Number(c.Scores.ROC)}
}

// constant always predicts the same class.
type constant struct{ class, classes int }

// Scores sets the score of that class to 1.
func (c constant) Scores(b device.Batch, dst []float64) {
	clear(dst)
	for i := range b.Rows {
		dst[i*c.classes+c.class] = 1
	}
}

// majorityOf returns the classifier that always predicts the most frequent class of the records.
func majorityOf(d records.Data) *classify.Classifier {
	k := d.Schema().Classes()
	counts := make([]int, k)
	for _, l := range judge.Labels(judge.InSchema(d)) {
		counts[l]++
	}
	best := 0
	for class, n := range counts {
		if n > counts[best] {
			best = class
		}
	}
	return classify.NewClassifier("majority", d.Schema(), constant{best, k})
}

// shuffled returns records in which each column, and the class, is shuffled separately. They are
// like synthetic records that keep nothing but the distribution of each column.
func shuffled(d records.Data, seed uint64) (records.Data, error) {
	s := d.Schema()
	rng := rand.New(rand.NewPCG(seed, 0x73687566))
	var flat []float32
	var sets [][]uint32
	var labels []int32
	for _, b := range judge.Batches(judge.InSchema(d)) {
		for i := range b.Rows {
			if b.Sparse != nil {
				sets = append(sets, append([]uint32(nil), b.Sparse.Row(i)...))
			} else {
				flat = append(flat, b.Dense.Row(i)...)
			}
		}
		labels = append(labels, b.Labels...)
	}
	n := d.Len()
	rng.Shuffle(n, func(i, j int) { labels[i], labels[j] = labels[j], labels[i] })
	if s.Sparse() { // only the class is shuffled: the items of a set stay together
		return records.FromItems(s, sets, labels...)
	}
	for _, b := range blocks(s) {
		rng.Shuffle(n, func(i, j int) {
			p, q := flat[i*s.Dim()+b.Offset:], flat[j*s.Dim()+b.Offset:]
			for k := range b.Width {
				p[k], q[k] = q[k], p[k]
			}
		})
	}
	if s.Kind() == records.MixedTable {
		return records.DecodeFlat(s, flat, labels...)
	}
	return records.FromFlat(s, flat, labels...)
}

// blocks returns the position of each column. In vectors and images each coordinate is a column.
func blocks(s records.Schema) []records.Block {
	if b := s.Blocks(); b != nil {
		return b
	}
	var list []records.Block
	for j := range s.Dim() {
		list = append(list, records.Block{Column: j, Offset: j, Width: 1})
	}
	return list
}
