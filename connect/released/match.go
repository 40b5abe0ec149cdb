package released

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Settings are how a pool is drawn and weighted. The zero value has all defaults.
type Settings struct {
	Pool int    // records that are weighted; 0 means 200,000, or fewer for more than 80 tables
	Seed uint64 // of the pool and of the rows drawn from it
	// Records is the number of records that the tables are about. 0 means the sum of the counts of the
	// most precise table that counts all records of the pool.
	Records float64
}

// Matcher is a weighted pool of synthetic records.
type Matcher struct {
	pool    *records.Frame
	weights []float64 // which sum to 1
	seed    uint64
	// Fits says for every table how close the pool is to it.
	Fits []Fit
	// Effective is the number of equally weighted records that would estimate a mean as precisely as
	// the weighted pool does, as a fraction of the pool. If it is small, the generator and the tables
	// disagree, and few records of the pool are drawn often.
	Effective float64
}

// Fit is half the sum of the absolute differences between a table's counts and those of the
// generator, divided by the number of records. Noise is the value that the noise of the table's
// counts would give alone.
type Fit struct {
	Columns              []string
	Before, After, Noise float64
}

const (
	defaultPool = 200_000
	mostPool    = 1 << 24
	mostPlaced  = 1 << 26 // records of the pool times tables: 256 MB
	usualPlaced = 1 << 24 // the same, by default
	mostSweeps  = 400
	mostWork    = 1 << 29 // records that are weighted, in all sweeps and tables
	cellWork    = 100     // records that take as long as the equation of one cell
	settled     = 1e-6    // largest change of a multiplier in the last sweep
)

// Match draws a pool of records and weights it.
//
// The weights p minimise n·KL(p ‖ equal weights) + Σ (n·p(cell) − count)²/(2·std²) for n records.
// So the generator counts as much as n records drawn from it, and a table as much as its noise
// allows.
//
// Errors: [ErrFormat] for a table that does not fit the schema or has no usable count, and for
// tables that no weights fit; all errors of a draw.
func Match(ctx context.Context, gen *synth.Generator, tables []Table, c Settings) (
	*Matcher, error) {
	if len(tables) == 0 || len(tables) > mostTables {
		return nil, fmt.Errorf("%w: %d tables: want 1 to %d", ErrFormat, len(tables), mostTables)
	}
	if c.Pool < 0 || c.Pool > mostPool || c.Records < 0 || math.IsInf(c.Records, 0) ||
		math.IsNaN(c.Records) {
		return nil, fmt.Errorf("released.Settings: want a pool of at most %d records, and a number of "+
			"records that is 0 or positive", mostPool)
	}
	if c.Pool == 0 {
		c.Pool = min(defaultPool, usualPlaced/len(tables))
	}
	if c.Pool > mostPlaced/len(tables) {
		return nil, fmt.Errorf("released.Settings: a pool of %d records with %d tables: want a product of "+
			"at most %d", c.Pool, len(tables), mostPlaced)
	}
	bound, err := bindAll(tables, gen.Schema())
	if err != nil {
		return nil, err
	}
	drawn, err := gen.Sample(ctx, c.Pool, synth.Seed(c.Seed), synth.Unidentified())
	if err != nil {
		return nil, err
	}
	pool, ok := records.AsFrame(drawn)
	if !ok {
		return nil, fmt.Errorf("%w: records of %v: want a table", ErrFormat, gen.Schema())
	}
	w := newWeighing(pool, bound)
	if w.n = c.Records; w.n == 0 {
		w.n = w.total()
	}
	if !(w.n >= 1) {
		return nil, fmt.Errorf("%w: no table counts all records, or its counts sum to less than one: "+
			"want the number of records", ErrFormat)
	}
	m := &Matcher{pool: pool, seed: c.Seed}
	for i, t := range tables {
		m.Fits = append(m.Fits, Fit{Columns: t.Columns, Before: w.distance(i), Noise: w.chance(i)})
	}
	if err := w.solve(ctx); err != nil {
		return nil, err
	}
	for i := range tables {
		m.Fits[i].After = w.distance(i)
	}
	m.weights = w.p
	squares := 0.0
	for _, p := range w.p {
		squares += p * p
	}
	if !(squares > 0 && squares < math.Inf(1)) {
		return nil, errWeights
	}
	m.Effective = 1 / (squares * float64(len(w.p)))
	return m, nil
}

// ErrRepeated means that records would have to be drawn more than once, though the schema wants
// unique ones.
var ErrRepeated = errors.New("released: weighted records repeat, and the schema wants unique ones")

// Sample draws n rows by weight, without more repetitions than the weights demand, in random order.
//
// Errors: [ErrRepeated]; a larger pool helps.
func (m *Matcher) Sample(n int) (*records.Frame, error) {
	if n < 1 || n > mostPool {
		return nil, fmt.Errorf("released: %d rows: want 1 to %d", n, mostPool)
	}
	rng := rand.New(rand.NewPCG(m.seed, 0x6d61746368))
	order := rng.Perm(len(m.weights)) // neighbours in the order are drawn at most once more or less
	rows := make([]int32, 0, n)
	sum, next := 0.0, rng.Float64()
	for _, i := range order {
		for sum += m.weights[i] * float64(n); next < sum && len(rows) < n; next++ {
			rows = append(rows, int32(i))
		}
	}
	for len(rows) < n { // rounding may lose the last one
		rows = append(rows, int32(order[len(order)-1]))
	}
	rng.Shuffle(n, func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	named, err := records.WithIdentifiers(m.pool.Take(rows), 0, m.seed) // a record may be drawn twice
	if err != nil {
		return nil, err
	}
	out, _ := records.AsFrame(named)
	rules, err := records.NewEnforcer(out.Schema(), out.Schema().Constraints()...)
	if err != nil {
		return nil, err
	}
	if kept, err := rules.Keep(out, n); err != nil {
		return nil, err
	} else if kept.Len() < n {
		return nil, ErrRepeated
	}
	return out, nil
}
