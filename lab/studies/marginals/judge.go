package main

import (
	"errors"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/lab/internal/rivals"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
	"github.com/seed7ba64551/privgen/report/tabular"
)

// judge describes how synthetic rows are measured.
type judge struct {
	classifiers string
	most        int
}

func (j judge) validate() error {
	if j.classifiers != "one" && j.classifiers != "six" && j.classifiers != "all" {
		return errors.New("-classifiers: want one, six or all")
	}
	if j.most < 2 {
		return errors.New("-most: want at least two rows")
	}
	return nil
}

// methods returns the classifiers that measure synthetic rows.
func (j judge) methods(s records.Schema) []classify.Method {
	switch j.classifiers {
	case "one":
		return []classify.Method{classify.GradientBoosting{}}
	case "all":
		return classify.Methods(s, 1)
	}
	return []classify.Method{classify.LogisticRegression{}, classify.DecisionTree{},
		classify.AdaBoost{}, classify.RandomForest{Seed: 1}, classify.GradientBoosting{},
		classify.NeuralNetwork{Seed: 1}}
}

const (
	mostPairs   = 400
	mostTriples = 1000
	mostQueries = 500
	bins        = 20 // bins of a column of numbers, for variations
)

// measure computes the scores of synthetic rows.
func (j judge) measure(r *result, t table, synthetic records.Data) error {
	real, err := tabular.Read(t.rows, nil)
	if err != nil {
		return err
	}
	other, err := tabular.Read(synthetic, nil)
	if err != nil {
		return err
	}
	for way, most := range []int{100, mostPairs, mostTriples} {
		r.variation[way], err = rivals.Variation(real, other, way+1, most, bins)
		if err != nil {
			return err
		}
	}
	q, err := tabular.Compare(real, other, 200, 1)
	if err != nil {
		return err
	}
	r.shapes, r.trends = q.ColumnShapes, q.ColumnPairTrends
	queries := real.Queries(mostQueries, 1)
	truth, answers := real.Answer(queries), other.Answer(queries)
	for i := range truth {
		r.queries += math.Abs(truth[i]-answers[i]) / float64(len(truth))
	}
	told, err := evaluate.Propensity{Seed: 1}.Compare(synthetic, t.rows, t.held)
	if err != nil {
		return err
	}
	r.told = told.ROC.Synthetic
	return j.classes(r, t, synthetic)
}

// classes trains classifiers on the synthetic rows and tests them on held-out real rows.
func (j judge) classes(r *result, t table, synthetic records.Data) error {
	s := t.rows.Schema()
	if s.Classes() == 0 {
		return nil
	}
	train := synthetic
	if frame, ok := synthetic.(*records.Frame); ok && frame.Len() > j.most {
		rows := make([]int32, j.most) // evenly spaced, since real rows may be sorted
		for i := range rows {
			rows[i] = int32(i * (frame.Len() / j.most))
		}
		train = frame.Take(rows)
	}
	set, err := classify.Read(train)
	if err != nil {
		return err
	}
	methods := j.methods(s)
	for _, m := range methods {
		c, err := set.Fit(m)
		if err != nil {
			return fmt.Errorf("%s: %w", m.Name(), err)
		}
		found, err := classify.Test(c, t.held)
		if err != nil {
			return fmt.Errorf("%s: %w", m.Name(), err)
		}
		n := float64(len(methods))
		r.roc += found.Scores.ROC / n
		r.hard += found.Hard().ROC / n
		r.weighted += found.WeightedF1() / n
		r.macro += found.MacroF1() / n
		if m.Name() == (classify.GradientBoosting{}).Name() {
			r.boosting = found.Scores.ROC
		}
	}
	return nil
}
