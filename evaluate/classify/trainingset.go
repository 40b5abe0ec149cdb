package classify

import "github.com/seed7ba64551/privgen/records"

// TrainingSet is labelled records, read once for all methods of this package that are trained on
// them.
type TrainingSet struct {
	design *design
	data   records.Data
}

// Read reads labelled records.
//
// Errors: *[param.Error], joined, for records without classes or no records.
func Read(d records.Data) (*TrainingSet, error) {
	x, err := load(d)
	if err != nil {
		return nil, err
	}
	return &TrainingSet{x, d}, nil
}

// Len is the number of records.
func (s *TrainingSet) Len() int { return s.design.rows() }

// Fit trains a classifier by a method of this package or a user-defined one.
//
// Errors: those of [Method.Fit].
// Guarantee: none; see the package.
func (s *TrainingSet) Fit(m Method) (*Classifier, error) {
	if l, ours := m.(learner); ours {
		return fitDesign(l, s.design)
	}
	return m.Fit(s.data)
}
