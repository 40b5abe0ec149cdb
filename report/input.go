package report

import (
	"errors"
	"math"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
	"github.com/seed7ba64551/privgen/report/fidelity"
	"github.com/seed7ba64551/privgen/synth"
)

// Input holds the inputs of a report. Synthetic or Generator is required. Compute also requires
// Real; Released refuses it. If other inputs are missing, some sections are left out, and the
// report says which and why.
type Input struct {
	Title string // if empty, the title names the system and the schema

	// Generator is the generator of the synthetic records; nil if only the records are available.
	Generator *synth.Generator
	// Guarantee is the guarantee for Real; nil uses the generator's guarantee.
	Guarantee *ledger.Guarantee
	// Plan is the plan of the run, from which the bill is made; nil uses the lines of the guarantee.
	Plan synth.Plan

	Real    records.Data // the records that the generator was trained on
	HeldOut records.Data // real records that it was not trained on: the reference for every score
	// Synthetic holds records of the generator. If nil, the generator draws one record for each
	// real record, at most Settings.Synthetic.
	Synthetic records.Data
	// Second holds records of a second, independent release of the same real records, which must be
	// paid for in addition to the first. If nil, the report has no actual distance of two releases.
	Second records.Data

	// Fidelity holds the figures that a fidelity.Plan released; nil for none.
	Fidelity *fidelity.Released
}

// Settings limits the amount of data that is compared. The zero value is ready to use.
type Settings struct {
	Rows      int // number of records of each kind that are compared, drawn at random; 0 for 50,000
	Synthetic int // largest number of records drawn from the generator; 0 for 50,000
	Train     int // number of records of each kind that classifiers are trained on; 0 for 10,000
	// Near has two uses. It is the number of attacked members and of other attacked records. It is
	// also the number of synthetic records for the search of nearest neighbours. The value 0 is for
	// 2,000, or for fewer if the records have many coordinates, which would slow the search.
	Near    int
	Bins    int // number of bins of a histogram of numbers, between the schema's bounds; 0 for 20
	Queries int // number of counting queries; 0 for 1,000
	Groups  int // number of groups of three columns, drawn at random; 0 for 200
	// Methods are the classifiers that are trained on synthetic and on real records. An empty list is
	// for none; nil is for logistic regression, a random forest, and gradient boosting or, for records
	// of more than 200 coordinates, a multilayer perceptron.
	Methods []classify.Method
	Seed    uint64 // seed of the draws of records, groups and queries
}

// manyCoordinates is the number of coordinates above which slow steps use less data.
const manyCoordinates = 200 // of a record

func (s Settings) withDefaults(coordinates int) Settings {
	if s.Near == 0 {
		s.Near = 2000
		if coordinates > manyCoordinates { // the time grows with the square of Near
			s.Near = int(1500 * math.Sqrt(manyCoordinates/float64(coordinates)))
		}
	}
	for _, d := range []struct {
		field *int
		value int
	}{{&s.Rows, 50_000}, {&s.Synthetic, 50_000}, {&s.Train, 10_000}, {&s.Bins, 20},
		{&s.Queries, 1000}, {&s.Groups, 200}} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	if s.Methods == nil && coordinates > manyCoordinates {
		s.Methods = []classify.Method{classify.LogisticRegression{Iterations: 50},
			classify.RandomForest{Trees: 50, Depth: 12, Seed: s.Seed},
			classify.NeuralNetwork{Hidden: []int{100}, Seed: s.Seed}}
	}
	if s.Methods == nil {
		s.Methods = []classify.Method{classify.LogisticRegression{},
			classify.RandomForest{Trees: 50, Depth: 12, Seed: s.Seed},
			classify.GradientBoosting{Stages: 50, Seed: s.Seed}}
	}
	return s
}

// Validate reports every invalid setting.
//
// Errors: *[param.Error], joined.
func (s Settings) Validate() error {
	var errs []error
	for _, f := range []struct {
		name  string
		value int
		most  int
	}{{"Rows", s.Rows, 1 << 24}, {"Synthetic", s.Synthetic, 1 << 24}, {"Train", s.Train, 1 << 24},
		{"Near", s.Near, 1 << 20}, {"Bins", s.Bins, 1000}, {"Queries", s.Queries, 1 << 20},
		{"Groups", s.Groups, 1 << 20}} {
		if f.value < 0 || f.value > f.most {
			errs = append(errs, param.New("report.Settings."+f.name, f.value,
				"a positive number that fits into memory, or 0 for the default"))
		}
	}
	for _, m := range s.Methods {
		if m == nil {
			errs = append(errs, param.New("report.Settings.Methods", nil, "methods"))
		}
	}
	return errors.Join(errs...)
}
