package compose

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// A Score compares generators on private records: Accuracy, Queries, Likelihood or a
// user-defined type.
//
// Guarantee: the noise of the search alone determines the price of a score, whatever it measures.
// Every record adds a vector of norm at most 1 to a sum in fixed point. The sum gets Gaussian noise
// on the trial's ledger, and the score is a function of the noisy sum.
type Score interface {
	// Validate reports every mistake in the score for records of a schema.
	Validate(s records.Schema) error
	// Statistic prepares the score of a generator. It reads released state only: it may draw synthetic
	// records, with its own seed, and train on them.
	Statistic(ctx context.Context, g *synth.Generator) (Statistic, error)
}

// A Statistic is summed over the private records to score one generator. It must depend on the
// generator and on public values only.
type Statistic interface {
	// Dim returns the length of the vectors.
	Dim() int
	// Of sets dst, which is zero, to the vector of the only record of a data set. Longer vectors are
	// clipped to norm 1, and vectors that are not finite count as zero. Of must not keep the record.
	Of(record records.Data, dst []float64)
	// Score returns the score of the noisy sum; larger is better. NaN ranks last.
	Score(noisy []float64) float64
}

// mostDims bounds the memory of a score.
const mostDims = 1 << 24

// judge releases the score of a generator.
func (c *searching) judge(ctx context.Context, data records.Data, st Statistic,
	grant *mechanism.Grant) (float64, error) {
	if st == nil {
		return 0, errors.New("search: the score has no statistic for the generator")
	}
	if n := st.Dim(); n < 1 || n > mostDims {
		return 0, fmt.Errorf("search: the score's statistic has dimension %d, want 1 to 2^24", n)
	}
	relation := c.budget.Relation
	std := c.Noise * mechanism.SumSensitivity(relation, 1)
	sum := mechanism.NewFixedSum(st.Dim(), mechanism.GridFor(std))
	row := make([]float64, st.Dim())
	for i := range data.Len() {
		if i%256 == 0 {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
		}
		clear(row)
		st.Of(only{data, int32(i)}, row)
		squared := 0.0
		for _, x := range row {
			squared += x * x
		}
		sum.AddRow64(row, mechanism.ClipFactor(squared, 1))
	}
	out := make([]float64, st.Dim())
	part := mechanism.Part{Sum: sum, Std: std, Out: out}
	if err := grant.Release(1/c.Noise, part); err != nil {
		return 0, err
	}
	score := st.Score(out)
	if math.IsNaN(score) {
		score = math.Inf(-1)
	}
	return score, nil
}

type scoreJSON struct {
	Name   string          `json:"name"`
	Params json.RawMessage `json:"params"`
}

func writeScore(s Score) (j scoreJSON, err error) {
	switch s.(type) {
	case Accuracy:
		j.Name = "accuracy"
	case Queries:
		j.Name = "queries"
	case Likelihood:
		j.Name = "likelihood"
	default:
		return j, param.New("compose.Search.Score", fmt.Sprintf("%T", s),
			"Accuracy, Queries or Likelihood: others cannot be written")
	}
	j.Params, err = json.Marshal(s)
	return j, err
}

func readScore(j scoreJSON) (Score, error) {
	var err error
	read := func(s any) {
		if len(j.Params) > 0 {
			err = param.Decode(j.Params, s)
		}
	}
	switch j.Name {
	case "accuracy":
		var s Accuracy
		read(&s)
		return s, err
	case "queries":
		var s Queries
		read(&s)
		return s, err
	case "likelihood":
		var s Likelihood
		read(&s)
		return s, err
	}
	return nil, fmt.Errorf("%w: unknown score %.40q", synth.ErrFormat, j.Name)
}

// only is a data set with a single record of another data set. It hides the record's position, on
// which the contribution must not depend.
type only struct {
	of  records.Data
	row int32
}

func (o only) Schema() records.Schema { return o.of.Schema() }
func (o only) Len() int               { return 1 }

// Gather reads the record once for each of rows.
func (o only) Gather(rows []int32, b *device.Batch) {
	at := make([]int32, len(rows))
	for i := range at {
		at[i] = o.row
	}
	o.of.Gather(at, b)
	clear(b.Index)
}

// Range reads the record, or nothing if hi is lo.
func (o only) Range(lo, hi int, b *device.Batch) { o.Gather(make([]int32, hi-lo), b) }
