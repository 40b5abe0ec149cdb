package tabular

import (
	"fmt"
	"math"
	"strings"

	"github.com/seed7ba64551/privgen/report/internal/compare"
	"github.com/seed7ba64551/privgen/report/internal/judge"
)

// String prints the scores, marked as not private.
func (q Quality) String() string {
	return fmt.Sprintf("%sscore %.4f: column shapes %.4f, column pair trends %.4f, all pairs %.4f "+
		"(%s)", judge.Mark, q.Score, q.ColumnShapes, q.ColumnPairTrends, q.AllPairs,
		judge.Caveat)
}

// shapeJSON and pairJSON are the JSON forms without the caveat.
type shapeJSON struct {
	Column, Metric string
	Score          *float64
}

type pairJSON struct {
	Columns                             [2]string
	Metric                              string
	Score, Real, Synthetic, Association *float64
	Related                             bool
}

func (s Shape) plain() shapeJSON { return shapeJSON{s.Column, s.Metric, known(s.Score)} }

func (p Pair) plain() pairJSON {
	return pairJSON{p.Columns, p.Metric, known(p.Score), known(p.Real), known(p.Synthetic),
		known(p.Association), p.Related}
}

// MarshalJSON writes the score with its caveat; an undefined score is null.
func (s Shape) MarshalJSON() ([]byte, error) {
	return compare.JSON("score of a column", s.plain())
}

// MarshalJSON writes the score with its caveat; an undefined score is null.
func (p Pair) MarshalJSON() ([]byte, error) {
	return compare.JSON("score of two columns", p.plain())
}

// MarshalJSON writes the histogram with its caveat, as String does.
func (h Histogram) MarshalJSON() ([]byte, error) {
	type plain Histogram
	return compare.JSON("histogram of a column", plain(h))
}

// MarshalJSON writes the result with its caveat; an undefined score is null.
func (q Quality) MarshalJSON() ([]byte, error) {
	var plain struct {
		Shapes                                          []shapeJSON
		Pairs                                           []pairJSON
		ColumnShapes, ColumnPairTrends, AllPairs, Score *float64
	}
	for _, s := range q.Shapes {
		plain.Shapes = append(plain.Shapes, s.plain())
	}
	for _, p := range q.Pairs {
		plain.Pairs = append(plain.Pairs, p.plain())
	}
	plain.ColumnShapes, plain.ColumnPairTrends = known(q.ColumnShapes), known(q.ColumnPairTrends)
	plain.AllPairs, plain.Score = known(q.AllPairs), known(q.Score)
	return compare.JSON("quality of a table", plain)
}

// known returns nil for NaN and infinities.
func known(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// String prints the score, marked as not private.
func (s Shape) String() string {
	return fmt.Sprintf("%s%s of %s: %.4f (%s)", judge.Mark, s.Metric, s.Column, s.Score,
		judge.Caveat)
}

// String prints the score, marked as not private.
func (p Pair) String() string {
	return fmt.Sprintf("%s%s of %s and %s: %.4f (%s)", judge.Mark, p.Metric, p.Columns[0],
		p.Columns[1], p.Score, judge.Caveat)
}

// String prints the fractions of the records. A histogram does not state whether its records are
// real, so every histogram is marked as not private.
func (h Histogram) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s, parts of the records (not private if these are real):", judge.Mark,
		h.Column)
	for _, s := range h.Shares {
		if h.Number {
			fmt.Fprintf(&b, " %.4g to %.4g: %.4f", s.From, s.To, s.Part)
		} else {
			fmt.Fprintf(&b, " %s: %.4f", s.Level, s.Part)
		}
	}
	if h.HasMissing {
		fmt.Fprintf(&b, " missing: %.4f", h.Missing)
	}
	return b.String()
}
