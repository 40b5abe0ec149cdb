package classify

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/internal/judge"
)

// TrainingSet holds labelled records, read once for all methods that are trained on them. It prints
// as "[private]", since the records may be real ones.
type TrainingSet struct {
	*hiddenSet
}

// hiddenSet keeps records behind two pointers, which package fmt does not follow from an unexported
// field of another struct.
type hiddenSet struct {
	*trainingSet
}

type trainingSet struct {
	design *judge.Design
	data   records.Data
}

const redacted = "[private]"

// Format writes "[private]" for every verb.
func (TrainingSet) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue returns "[private]".
func (TrainingSet) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText writes "[private]".
func (TrainingSet) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// Read reads labelled records.
//
// Errors: *[param.Error], joined, for records without classes or no records.
func Read(d records.Data) (*TrainingSet, error) {
	x, err := judge.Load("classify.Read", d)
	if err != nil {
		return nil, err
	}
	return &TrainingSet{&hiddenSet{&trainingSet{x, d}}}, nil
}

// Len returns the number of records.
func (s *TrainingSet) Len() int { return s.design.Rows() }

// Fit trains a classifier with a method of this package or a user-defined one.
//
// Errors: see [Method.Fit]. Guarantee: none; see the package.
func (s *TrainingSet) Fit(m Method) (*Classifier, error) {
	if l, ours := m.(judge.Learner); ours {
		return s.design.Fit(l)
	}
	return m.Fit(s.data)
}
