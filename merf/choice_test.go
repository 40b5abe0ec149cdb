package merf_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/partial"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// choosingPlan returns a plan that chooses pairs of columns of a schema.
func choosingPlan(t testing.TB, s records.Schema, r accountant.Relation, c merf.Choice) *merf.Plan {
	t.Helper()
	config := small(s, r, rff.Pairs{Knots: 3})
	config.Choice = c
	return mustPlan(t, config)
}

// TestChoicesBySensitivityOfEveryRow replays runs with a choice of pairs on neighbouring tables of
// one or two rows, with every row of a small table. The replay compares all numbers that the
// mechanisms get: counts, utilities of pairs, and features.
func TestChoicesBySensitivityOfEveryRow(t *testing.T) {
	s, rows := everyRow(t)
	for _, r := range relations {
		p := choosingPlan(t, s, r, merf.Choice{Pairs: 2, Groups: 2})
		check := func(data, neighbour records.Data) {
			privacytest.Replay[records.Data]{Run: released(p), Budget: p.Budget(), Data: data,
				Neighbour: neighbour, Seeds: 1}.Check(t)
		}
		for i, a := range rows {
			if r == accountant.AddOrRemoveOne {
				check(join(t, s), join(t, s, a))
				beside := rows[(7*i+1)%len(rows)]
				check(join(t, s, beside), join(t, s, beside, a))
				continue
			}
			for j, b := range rows {
				if (i+j)%13 == 0 {
					check(join(t, s, a), join(t, s, b))
				}
			}
		}
	}
}

// pairedTable returns rows of eight flags. Flags 2 and 5 are equal in nine rows of ten, and so are
// flags 0 and 7; others are independent.
func pairedTable(t testing.TB, n int) *records.Frame {
	t.Helper()
	var columns []records.Column
	for i := range 8 {
		columns = append(columns, records.Flag(fmt.Sprint("f", i), "no", "yes"))
	}
	s, err := records.NewSchema(append(columns, records.Label("class", "a", "b"))...)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(6, 1))
	b, err := records.NewFrameBuilder(s)
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		var row []any
		var flags [8]int
		for i := range flags {
			flags[i] = rng.IntN(2)
		}
		for _, p := range [][2]int{{2, 5}, {0, 7}} {
			if rng.IntN(5) > 0 {
				flags[p[1]] = flags[p[0]]
			}
		}
		for _, f := range flags {
			row = append(row, []string{"no", "yes"}[f])
		}
		if err := b.Append(append(row, []string{"a", "b"}[rng.IntN(2)])...); err != nil {
			t.Fatal(err)
		}
	}
	return b.Frame()
}

// chosenPairs returns the pairs of an embedding.
func chosenPairs(t *testing.T, e *merf.Embedding) [][2]int {
	t.Helper()
	k, ok := merf.KernelOf(e).(rff.Pairs)
	if !ok {
		t.Fatalf("the embedding has a kernel of type %T", merf.KernelOf(e))
	}
	return k.Only
}

// TestAssociatedColumnsAreChosen checks that the two associated pairs are chosen among 28 pairs.
// Their scores are about 1,500 rows above the others'. Each choice has an ε of at least 0.1, so the
// probability that another pair is chosen is below 28·exp(−70).
func TestAssociatedColumnsAreChosen(t *testing.T) {
	data := pairedTable(t, 2000)
	p := choosingPlan(t, data.Schema(), accountant.AddOrRemoveOne, merf.Choice{Pairs: 2})
	if got, want := chosenPairs(t, mustEmbed(t, p, data)), [][2]int{{0, 7}, {2, 5}}; !slices.Equal(got,
		want) {
		t.Errorf("the chosen pairs are %v, want %v", got, want)
	}
}

// TestChoicesHavePlannedNoise checks the standard deviation of the embedding of no rows, with all
// 496 pairs of 32 columns chosen. The false-alarm rate of ±6 standard errors is 4e-9.
func TestChoicesHavePlannedNoise(t *testing.T) {
	var columns []records.Column
	for i := range 32 {
		columns = append(columns, records.Numeric(fmt.Sprint("x", i), 0, 1))
	}
	s, err := records.NewSchema(append(columns, records.Label("class", "a", "b"))...)
	if err != nil {
		t.Fatal(err)
	}
	none, err := records.FromValues(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range relations {
		p := choosingPlan(t, s, r, merf.Choice{Pairs: 496, Groups: 2})
		e := mustEmbed(t, p, none)
		if e.Features() != p.Features() || len(chosenPairs(t, e)) != 496 {
			t.Fatalf("%d features of %d pairs, want %d of 496", e.Features(), len(chosenPairs(t, e)),
				p.Features())
		}
		square, n := 0.0, 0
		for class := range e.Classes() {
			for _, v := range e.Sum(class) {
				square += v * v
				n++
			}
		}
		stage := p.Stages()[2]
		if stage.NoiseMultiplier <= p.Config.NoiseMultiplier || e.SumStd() != p.SumStd {
			t.Errorf("%v: the embedding has the noise multiplier %v and ±%v, want more than %v and ±%v", r,
				stage.NoiseMultiplier, e.SumStd(), p.Config.NoiseMultiplier, p.SumStd)
		}
		std := math.Sqrt(square / float64(n))
		if f := std / p.SumStd; math.Abs(f-1) > 6/math.Sqrt(2*float64(n)) {
			t.Errorf("%v: noise ±%v, want ±%v", r, std, p.SumStd)
		}
	}
}

// sliced is a data set of which parts can be taken.
type sliced[D records.Data] interface {
	Len() int
	Slice(lo, hi int) D
}

// inShards returns a function that adds up passes over shards of the given number of records, which
// are sealed and opened. It appends the purpose of each pass to purposes.
func inShards[D records.Data](p *merf.Plan, data sliced[D], size int,
	purposes *[]string) func(context.Context, synth.Pass) (*partial.Partial, error) {
	return func(ctx context.Context, pass synth.Pass) (*partial.Partial, error) {
		*purposes = append(*purposes, pass.Purpose)
		key := mechanism.NewKey()
		all, err := p.Partial(pass)
		if err != nil {
			return nil, err
		}
		for lo := 0; lo < data.Len(); lo += size {
			shard, err := p.Partial(pass)
			if err != nil {
				return nil, err
			}
			if err := shard.Add(ctx, data.Slice(lo, min(lo+size, data.Len()))); err != nil {
				return nil, err
			}
			b, err := shard.Seal(key, partial.Shard{Name: fmt.Sprint(lo)})
			if err != nil {
				return nil, err
			}
			if err := all.OpenAll(key, b, b); err != nil {
				return nil, err
			}
		}
		return all, nil
	}
}

// TestChoicesOverShards checks that FitPasses on sums of shards gives the same generator and ledger
// as FitOn on all records.
func TestChoicesOverShards(t *testing.T) {
	data := drawTable(t, 90, 4)
	p := choosingPlan(t, data.Schema(), accountant.AddOrRemoveOne, merf.Choice{Pairs: 4})
	purposes := []string(nil)
	read := inShards(p, data, 40, &purposes)
	one, two := accountant.NewLedger(p.Budget()), accountant.NewLedger(p.Budget())
	seeded := func() context.Context { return privacytest.Seeded(t, context.Background(), 3) }
	want, err := p.FitOn(seeded(), one, data)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.FitPasses(seeded(), two, read)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(encodedModel(t, want), encodedModel(t, got)) {
		t.Error("FitPasses and FitOn give different generators")
	}
	if !reflect.DeepEqual(one.Entries(), two.Entries()) || len(one.Entries()) != 3 {
		t.Errorf("the ledger has %v, want %v", two.Entries(), one.Entries())
	}
	if want := []string{merf.PurposeColumns, merf.PurposePairs, merf.PurposeEmbed}; !slices.Equal(
		purposes, want) {
		t.Errorf("passes %q, want %q", purposes, want)
	}
}

func encodedModel(t *testing.T, g *synth.Generator) *synth.File {
	t.Helper()
	f, err := g.Model().Encode()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestChoicesThatAreRefused checks the mistakes in a Choice, and that operations on one sum of all
// records refuse a plan with a Choice before anything is reserved.
func TestChoicesThatAreRefused(t *testing.T) {
	s := table(t, records.Label("class", "a", "b", "c"))
	good := small(s, accountant.AddOrRemoveOne, nil)
	good.Choice = merf.Choice{Pairs: 3}
	p := mustPlan(t, good)
	for why, change := range map[string]func(*merf.Config){
		"more pairs than there are": func(c *merf.Config) { c.Choice.Pairs = 11 },
		"a negative number":         func(c *merf.Config) { c.Choice.Pairs = -1 },
		"groups of no choice":       func(c *merf.Config) { c.Choice = merf.Choice{Groups: 3} },
		"one group":                 func(c *merf.Config) { c.Choice.Groups = 1 },
		"many groups":               func(c *merf.Config) { c.Choice.Groups = 17 },
		"samples":                   func(c *merf.Config) { c.Batches = some },
		"random features":           func(c *merf.Config) { c.Features = 100 },
		"another kernel":            func(c *merf.Config) { c.Kernel = rff.RBF{Dim: 4, Bandwidth: 1} },
		"single columns":            func(c *merf.Config) { c.Kernel = rff.Pairs{Order: 1} },
		"given pairs": func(c *merf.Config) {
			c.Kernel = rff.Pairs{Only: [][2]int{{0, 1}}}
		},
		"records without columns": func(c *merf.Config) { c.Schema = records.Binary(6) },
		"one column": func(c *merf.Config) {
			c.Schema, _ = records.NewSchema(records.Flag("f", "no", "yes"))
		},
		"noise beyond every grid": func(c *merf.Config) { c.NoiseMultiplier = 1 << 24 },
	} {
		c := good
		change(&c)
		var wrong *param.Error
		if _, err := c.Plan(); !errors.As(err, &wrong) {
			t.Errorf("%s: got %v, want *param.Error", why, err)
		}
	}
	ledger := accountant.NewLedger(p.Budget())
	stream := func(func(records.Data, error) bool) {}
	second := func(_ any, err error) error { return err }
	for why, err := range map[string]error{
		"stream":     second(p.EmbedStream(t.Context(), ledger, stream)),
		"fit stream": second(p.FitStream(t.Context(), ledger, stream)),
		"release":    second(p.Release(t.Context(), ledger, nil)),
		"fit shards": second(p.FitShards(t.Context(), ledger, nil)),
		"passes":     second(p.EmbedPasses(t.Context(), ledger, nil)),
		"partial":    p.NewPartial().Add(t.Context(), drawTable(t, 3, 1)),
	} {
		var wrong *param.Error
		if !errors.As(err, &wrong) {
			t.Errorf("%s: got %v, want *param.Error", why, err)
		}
	}
	if list := ledger.Entries(); len(list) != 0 {
		t.Errorf("the ledger has reservations: %v", list)
	}
}

// TestDefaultsOfWideTables checks the kernels that the rules choose for tables of many numbers: all
// pairs with 12 or 6 knots, or single columns. It also checks the number of pairs for a Choice that
// does not give it.
func TestDefaultsOfWideTables(t *testing.T) {
	wide := func(columns int) records.Schema {
		var list []records.Column
		for i := range columns {
			list = append(list, records.Numeric(fmt.Sprint("x", i), 0, 1))
		}
		s, err := records.NewSchema(append(list, records.Label("class", "a", "b"))...)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, c := range []struct {
		columns, rows int
		choice        merf.Choice
		kernel        rff.Pairs
		pairs         int
	}{
		{25, 20_000, merf.Choice{}, rff.Pairs{Order: 2}, 0},
		{60, 30_000, merf.Choice{}, rff.Pairs{Order: 2, Knots: 6}, 0},
		{60, 3000, merf.Choice{}, rff.Pairs{Order: 1}, 0},
		{120, 10_000, merf.Choice{}, rff.Pairs{Order: 1}, 0},
		// The noise permits (0.05·s/2)² features, where s is 30,000 divided by about 3.73.
		{120, 30_000, merf.Choice{Groups: 8}, rff.Pairs{Knots: 6}, 1102},
	} {
		p := mustPlan(t, merf.Config{Schema: wide(c.columns), Nominal: c.rows, Choice: c.choice,
			Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5}})
		if !reflect.DeepEqual(p.Config.Kernel, c.kernel) {
			t.Errorf("%d columns, %d rows: kernel %+v, want %+v", c.columns, c.rows, p.Config.Kernel,
				c.kernel)
		}
		if got := p.Config.Choice.Pairs; math.Abs(float64(got-c.pairs)) > 0.02*float64(c.pairs) {
			t.Errorf("%d columns, %d rows: %d pairs are chosen, want %d", c.columns, c.rows, got, c.pairs)
		}
	}
	var wrong *param.Error
	_, err := merf.Config{Schema: wide(120), Nominal: 3000, Choice: merf.Choice{Groups: 8},
		Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5}}.Plan()
	if !errors.As(err, &wrong) {
		t.Errorf("a choice for too few rows: got %v, want *param.Error", err)
	}
}

// unwritten is an architecture that JSON cannot hold.
type unwritten struct {
	models.MLP
	Hook func()
}

// TestChoicesForUnwrittenGenerators checks that a choice of pairs does not need an architecture
// that JSON can hold. Otherwise the run would fail after its budget has been reserved.
func TestChoicesForUnwrittenGenerators(t *testing.T) {
	data := drawTable(t, 20, 1)
	c := small(data.Schema(), accountant.AddOrRemoveOne, rff.Pairs{Knots: 3})
	c.Choice = merf.Choice{Pairs: 3}
	c.Generator.Architecture = unwritten{models.MLP{Hidden: []int{4}}, func() {}}
	p := mustPlan(t, c)
	if _, err := p.FitOn(t.Context(), accountant.NewLedger(p.Budget()), data); err != nil {
		t.Error(err)
	}
}
