package synth

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// A Draw describes which synthetic records to draw.
type Draw struct {
	Cluster int    // one component of a mixture, or -1 for all by weight
	Class   int    // records of one class only, or -1 for all
	Means   bool   // the mean of every coordinate instead of a record
	Seed    uint64 // drawing is post-processing: any seed is safe

	// Given are constraints on this draw, in addition to the constraints of the schema.
	Given []records.Constraint
	// Unconstrained draws ignore the constraints of the schema.
	Unconstrained bool
	// Unidentified draws leave identifiers out.
	Unidentified bool
	// Effort is the number of records that may be generated for each kept record; 0 means 1000.
	Effort int
	// OnAccepted is called at the end of the draw with the numbers of records that met the constraints
	// and that the model did not accept.
	OnAccepted func(Accepted)

	ctx context.Context // of the call; nil in tests
}

// Err returns the error of the draw's context once that has ended. A [Sampler] that tries several
// times for a record asks between its tries, and may then return any records, which nobody gets.
func (d Draw) Err() error {
	if d.ctx == nil {
		return nil
	}
	return d.ctx.Err()
}

// A DrawOption selects which synthetic records to draw.
type DrawOption func(*Draw)

// FromCluster draws from one cluster of a mixture only.
func FromCluster(i int) DrawOption { return func(d *Draw) { d.Cluster = i } }

// OfClass draws records of one class only, given by its index in the schema's class names.
// Generators that do not model labels refuse it.
func OfClass(label int) DrawOption { return func(d *Draw) { d.Class = label } }

// Seed makes a draw repeatable. Drawing is post-processing, so any seed is safe.
func Seed(s uint64) DrawOption { return func(d *Draw) { d.Seed = s } }

// Means asks for the mean of every coordinate: for binary records its probability of being 1, and
// for a table the most probable levels.
func Means() DrawOption { return func(d *Draw) { d.Means = true } }

// drawOf returns the draw that the options describe. The default draws from all clusters and
// classes, with a fresh seed.
func drawOf(ctx context.Context, opts []DrawOption) Draw {
	d := Draw{Cluster: -1, Class: -1, Seed: rand.Uint64(), ctx: ctx}
	apply(&d, opts)
	return d
}

// check returns an error for draws that the generator does not support.
func (g *Generator) check(n int, d Draw) error {
	var k param.Checker
	k.OK(n >= 0, "privgen.Generator.Sample.n", n, "a number of records, zero or more")
	clusters := g.Clusters()
	k.OK(d.Cluster >= -1 && d.Cluster < clusters, "privgen.FromCluster", d.Cluster,
		fmt.Sprintf("a cluster in [0, %d), or -1 for all", clusters))
	classes := g.Schema().Classes()
	want := "-1, since the generator does not model labels"
	if classes > 0 {
		want = fmt.Sprintf("a class in [0, %d), or -1 for all", classes)
	}
	k.OK(d.Effort >= 0, "privgen.Effort", d.Effort, "a positive number of records, or 0 for 1000")
	k.OK(d.Class >= -1 && d.Class < classes, "privgen.OfClass", d.Class, want)
	row, err := records.FromValues(g.Schema(), make([]any, len(g.Schema().Columns())))
	if err == nil && n > 0 && !d.Unidentified { // a table, whose identifiers may run out
		_, err = records.WithIdentifiers(row, n-1, d.Seed)
		k.Add(err)
	}
	return k.Err()
}
