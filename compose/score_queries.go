package compose

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Queries scores a generator by counting queries. The score is minus the mean distance between the
// shares of private and of synthetic records that answer yes. A query asks whether two random
// coordinates are both above random thresholds from the schema's bounds. Every class counts as a
// coordinate.
type Queries struct {
	Count   int    `json:"count,omitempty"`   // number of queries; default 200
	Records int    `json:"records,omitempty"` // synthetic records to compare with; default 5000
	Seed    uint64 `json:"seed,omitempty"`    // seed of queries and of synthetic records
}

// Likelihood scores a generator by the likelihood of the private records under its synthetic
// records, two coordinates at a time. Pairs of coordinates and thresholds are drawn as by Queries,
// and each pair divides the records into four cells. The score is the mean, over private records
// and pairs, of the logarithm of the share of synthetic records in the private record's cell. It
// lies between −log(Records+4) and 0.
//
// Source: Lindsay 1988 (composite likelihood).
type Likelihood struct {
	Count   int    `json:"count,omitempty"`   // number of pairs; default 200
	Records int    `json:"records,omitempty"` // synthetic records to compare with; default 5000
	Seed    uint64 `json:"seed,omitempty"`    // seed of pairs and of synthetic records
}

// mostQueries bounds the memory for queries.
const mostQueries = 1 << 20

// Validate reports every mistake, as joined *param.Error values.
func (q Queries) Validate(s records.Schema) error { return pairsProblems("compose.Queries", q) }

// Validate reports every mistake, as joined *param.Error values.
func (l Likelihood) Validate(s records.Schema) error {
	return pairsProblems("compose.Likelihood", Queries(l))
}

func pairsProblems(path string, q Queries) error {
	var k param.Checker
	k.OK(q.Count >= 0 && q.Count <= mostQueries, path+".Count", q.Count,
		"a number up to 2^20, or 0 for the default")
	k.OK(q.Records >= 0 && q.Records <= mostSynthetic, path+".Records", q.Records,
		"a number of records up to 2^24, or 0 for the default")
	return k.Err()
}

// Statistic answers the queries for synthetic records.
//
// Errors: all errors of drawing; ctx.Err().
func (q Queries) Statistic(ctx context.Context, g *synth.Generator) (Statistic, error) {
	p, cells, err := q.cells(ctx, g)
	if err != nil {
		return nil, err
	}
	a := &answers{pairs: p, shares: make([]float64, len(p.of))}
	for i, c := range cells {
		a.shares[i] = float64(c[3]) / float64(c[0]+c[1]+c[2]+c[3])
	}
	return a, nil
}

// Statistic counts the synthetic records in the pairs' cells.
//
// Errors: all errors of drawing; ctx.Err().
func (l Likelihood) Statistic(ctx context.Context, g *synth.Generator) (Statistic, error) {
	p, cells, err := Queries(l).cells(ctx, g)
	if err != nil {
		return nil, err
	}
	likely := &likely{pairs: p}
	for _, c := range cells {
		all := float64(c[0]+c[1]+c[2]+c[3]) + 4
		var logs [4]float64
		for j, n := range c {
			logs[j] = math.Log((float64(n) + 1) / all)
		}
		likely.logs, likely.least = append(likely.logs, logs), -math.Log(all)
	}
	return likely, nil
}

// cells draws the pairs and counts synthetic records in their cells.
func (q Queries) cells(ctx context.Context, g *synth.Generator) (*pairs, [][4]int, error) {
	if q.Count == 0 {
		q.Count = 200
	}
	if q.Records == 0 {
		q.Records = 5000
	}
	drawn, err := g.Sample(ctx, q.Records, synth.Seed(q.Seed), synth.Unconstrained())
	if err != nil {
		return nil, nil, err
	}
	p := newPairs(g.Schema(), q.Count, q.Seed)
	cells := make([][4]int, q.Count)
	for i := range drawn.Len() {
		p.read(only{drawn, int32(i)})
		for j := range p.of {
			cells[j][p.cell(j)]++
		}
	}
	return p, cells, nil
}

// above asks whether a coordinate is above a threshold. Coordinates from the record's dimension
// upwards are the classes.
type above struct {
	coordinate int
	threshold  float32
}

// pairs holds queries about two coordinates, and the current record.
type pairs struct {
	schema records.Schema
	of     [][2]above
	b      device.Batch
	items  map[uint32]bool // of a set
}

func newPairs(s records.Schema, n int, seed uint64) *pairs {
	rng := rand.New(rand.NewPCG(seed, 0x71756572))
	lo, hi := s.Bounds()
	p := &pairs{schema: s}
	for range n {
		var of [2]above
		for i := range of {
			of[i] = above{rng.IntN(s.Dim() + s.Classes()), float32(lo + (hi-lo)*rng.Float64())}
		}
		p.of = append(p.of, of)
	}
	return p
}

// read sets the current record.
func (p *pairs) read(record records.Data) {
	record.Range(0, 1, &p.b)
	if p.b.Sparse != nil {
		p.items = map[uint32]bool{}
		for _, item := range p.b.Sparse.Row(0) {
			p.items[uint32(item)] = true
		}
	}
}

func (p *pairs) yes(a above) bool {
	switch class := a.coordinate - p.schema.Dim(); {
	case class >= 0:
		return len(p.b.Labels) > 0 && int(p.b.Labels[0]) == class
	case p.b.Sparse != nil:
		return p.items[uint32(a.coordinate)]
	}
	return p.b.Dense.Row(0)[a.coordinate] > a.threshold
}

// cell returns the cell of pair i that holds the current record. In cell 3 both coordinates are
// above their thresholds.
func (p *pairs) cell(i int) int {
	cell := 0
	if p.yes(p.of[i][0]) {
		cell = 1
	}
	if p.yes(p.of[i][1]) {
		cell += 2
	}
	return cell
}

// answers counts the private records that answer yes, and all private records.
type answers struct {
	*pairs
	shares []float64 // of synthetic records
}

func (a *answers) Dim() int { return 1 + len(a.of) }

func (a *answers) Of(record records.Data, dst []float64) {
	a.read(record)
	one := 1 / math.Sqrt(float64(len(dst)))
	dst[0] = one
	for i := range a.of {
		if a.cell(i) == 3 {
			dst[1+i] = one
		}
	}
}

func (a *answers) Score(noisy []float64) float64 {
	sum := 0.0
	for i, s := range a.shares {
		sum += math.Abs(share(noisy[1+i], noisy[0]) - s)
	}
	return -sum / float64(len(a.shares))
}

// likely adds up logarithms, scaled from their least value to 0, and counts records.
type likely struct {
	*pairs
	logs  [][4]float64
	least float64
}

func (l *likely) Dim() int { return 2 }

func (l *likely) Of(record records.Data, dst []float64) {
	l.read(record)
	sum := 0.0
	for i := range l.of {
		sum += l.logs[i][l.cell(i)]
	}
	dst[0] = math.Sqrt2 / 2
	dst[1] = math.Sqrt2 / 2 * (1 - sum/float64(len(l.of))/l.least)
}

func (l *likely) Score(noisy []float64) float64 {
	return l.least * (1 - share(noisy[1], noisy[0]))
}

// labelOf returns the class of the only record, or -1 if it has none.
func labelOf(record records.Data) int {
	var b device.Batch
	record.Range(0, 1, &b)
	if len(b.Labels) == 0 {
		return -1
	}
	return int(b.Labels[0])
}
