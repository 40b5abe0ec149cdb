package synth_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// noise is a model whose coordinates and classes are uniform and independent.
type noise struct{ schema records.Schema }

func (m noise) Schema() records.Schema       { return m.schema }
func (m noise) Encode() (*synth.File, error) { return synth.NewFile(nil) }

func (m noise) Sampler(d synth.Draw) (synth.Sampler, error) {
	rng := rand.New(rand.NewPCG(d.Seed, 1))
	return synth.Sampler{Schema: m.schema, Next: func(n int) (records.Data, error) {
		flat := make([]float32, n*m.schema.Dim())
		for i := range flat {
			flat[i] = rng.Float32()
		}
		var labels []int32
		for range n * min(m.schema.Classes(), 1) {
			l := int32(rng.IntN(m.schema.Classes()))
			if d.Class >= 0 {
				l = int32(d.Class)
			}
			labels = append(labels, l)
		}
		return records.DecodeFlat(m.schema, flat, labels...)
	}}, nil
}

func generatorOf(s records.Schema) *synth.Generator {
	return synth.NewGenerator("noise", noise{s}, ledger.Guarantee{})
}

func day(text string) time.Time {
	m, err := time.Parse(time.DateOnly, text)
	if err != nil {
		panic(err)
	}
	return m
}

// lines returns the schema of a table like the line items of TPC-H, with the constraints of such
// a table.
func lines(t testing.TB) records.Schema {
	t.Helper()
	var modes []string
	for i := range 7 {
		modes = append(modes, fmt.Sprintf("mode %d", i))
	}
	dates := func(name string) records.Column {
		return records.Datetime(name, day("1992-01-01"), day("1998-12-31"), 24*time.Hour)
	}
	s, err := records.NewSchema(
		records.Identifier("l_id", records.UUID()),
		records.Integer("l_orderkey", 1, min(6_000_000_000, math.MaxInt)),
		records.Integer("l_linenumber", 1, 7),
		records.Integer("l_quantity", 1, 50), records.Numeric("l_extendedprice", 900, 105_000),
		records.Numeric("l_discount", 0, 0.1), dates("o_orderdate"), dates("l_shipdate"),
		dates("l_receiptdate").WithMissing(),
		records.Categorical("l_returnflag", "R", "A", "N"), records.Categorical("l_linestatus", "O", "F"),
		records.Categorical("l_shipmode", modes...), records.Hashed("l_supplier", 40),
		records.Ordinal("o_priority", "1", "2", "3", "4", "5"))
	if err != nil {
		t.Fatal(err)
	}
	return s.WithConstraints(
		records.Determines([]string{"l_supplier", "l_shipmode"}),
		records.Determines([]string{"l_returnflag", "l_linestatus"}, []string{"N", "O"}),
		records.Ascending("o_orderdate", "l_shipdate", "l_receiptdate"),
		records.Within("l_shipdate", nil, day("1998-12-01")),
		records.Within("l_discount", 0.01, nil),
		records.Combinations([]string{"l_returnflag", "l_linestatus"}, []string{"R", "F"},
			[]string{"A", "F"}, []string{"N", "O"}, []string{"N", "F"}),
		records.Unique("l_orderkey", "l_linenumber"))
}

var million = flag.Bool("million", false,
	"draw a million constrained records, which takes about ten seconds")

// TestManyConstrainedRecords checks that none of a hundred thousand records, or of a million with
// the flag -million, violates a constraint. The check compares the cells as text and shares no code
// with the enforcement. Records are checked chunk by chunk while they are streamed.
func TestManyConstrainedRecords(t *testing.T) {
	n := 100_000
	if *million {
		n = 1_000_000
	}
	if testing.Short() {
		n = 20_000
	}
	s := lines(t)
	var done synth.Accepted
	start := time.Now()
	spent := time.Duration(0)
	keys, ids := make(map[string]bool, n), make(map[string]bool, n)
	follows := [2]map[string]string{{}, {"N": "O"}}
	total := 0
	for part, err := range generatorOf(s).Stream(context.Background(), n, synth.Seed(1),
		synth.OnAccepted(func(a synth.Accepted) { done = a })) {
		spent += time.Since(start)
		if err != nil {
			t.Fatal(err)
		}
		f, _ := records.AsFrame(part)
		checkLines(t, f, keys, ids, follows)
		total += f.Len()
		start = time.Now()
	}
	if total != n || len(keys) != n || len(ids) != n {
		t.Errorf("got %d records, want %d; got %d distinct keys, %d distinct identifiers", total, n,
			len(keys), len(ids))
	}
	t.Logf("%d records in %v without the checks, a fraction of %.3g accepted: %v", n, spent,
		done.Rate(), done.Each)
	if done.Kept != n || done.Tried < n || len(done.Each) != 7 {
		t.Errorf("%+v", done)
	}
}

func checkLines(t *testing.T, f *records.Frame, keys, ids map[string]bool,
	follows [2]map[string]string) {
	at := map[string]int{}
	for j, c := range f.Schema().Columns() {
		at[c.Name()] = j
	}
	for i := range f.Len() {
		v := func(name string) string { return f.Value(i, at[name]) }
		keys[v("l_orderkey")+"/"+v("l_linenumber")] = true
		ids[v("l_id")] = true
		order, ship, receipt := v("o_orderdate"), v("l_shipdate"), v("l_receiptdate")
		pair := v("l_returnflag") + v("l_linestatus")
		var discount float64
		fmt.Sscan(v("l_discount"), &discount)
		for what, fine := range map[string]bool{
			"dates":        order <= ship && (receipt == "" || ship <= receipt), // ISO dates sort as text
			"shipped":      ship <= "1998-12-01",
			"discount":     discount >= 0.01 && discount <= 0.1,
			"combinations": strings.Contains("RF AF NO NF", pair),
		} {
			if !fine {
				t.Fatalf("row %d violates %s: %s %s %s %s %v", i, what, order, ship, receipt, pair,
					discount)
			}
		}
		for k, columns := range [2][2]string{{"l_supplier", "l_shipmode"},
			{"l_returnflag", "l_linestatus"}} {
			from, to := v(columns[0]), v(columns[1])
			if was, seen := follows[k][from]; seen && was != to {
				t.Fatalf("%s determines both %s and %s", from, was, to)
			}
			follows[k][from] = to
		}
	}
}

// TestGivenValues checks draws with given values of columns of several kinds. The class must be met
// exactly.
func TestGivenValues(t *testing.T) {
	s := must(records.NewSchema(records.Integer("age", 0, 99).WithMissing(),
		records.Categorical("town", "Bonn", "Köln", "Ulm"), records.Label("income", "low", "high"),
		records.Duration("stay", 0, time.Hour, time.Second)))(t)
	var done synth.Accepted
	drawn := must(generatorOf(s).Sample(t.Context(), 3000, synth.Seed(2),
		synth.OnAccepted(func(a synth.Accepted) { done = a }), synth.Given(
			records.Only("income", "high"), records.Within("age", 30, 39),
			records.Only("town", "Ulm", "Bonn"), records.Within("stay", time.Minute, "0.5h"))))(t)
	f, _ := records.AsFrame(drawn)
	for i := range f.Len() {
		age, there := f.Whole(i, 0)
		stay, _ := f.Duration(i, 3)
		if !there || age < 30 || age > 39 || f.Value(i, 1) == "Köln" || f.Value(i, 2) != "high" ||
			stay < time.Minute || stay > 30*time.Minute {
			t.Fatalf("row %d: %s", i, f.AppendJSON(nil, i))
		}
	}
	if f.Len() != 3000 || len(done.Exact) != 1 || done.Each[0].Met != done.Tried {
		t.Errorf("%d records, %+v", f.Len(), done)
	}
	// Under the model, half of all ages are missing and a tenth of the others are 30 to 39. Two of
	// three towns and 29 of 60 minutes are allowed. Each rate among about 190,000 tried records
	// must be within 5 standard deviations of its expected value. A correct rate fails with
	// probability below 1e-6.
	for i, want := range []float64{1, 0.05, 2. / 3, 29. / 60} {
		ends := 0.001 // for the ends of intervals of whole numbers and seconds
		far := 5*math.Sqrt(want*(1-want)/float64(done.Tried)) + ends
		if got := done.Each[i].Rate(); math.Abs(got-want) > far {
			t.Errorf("%v, want %v", done.Each[i], want)
		}
	}
	for _, wrong := range []records.Constraint{records.Only("income", "middling"),
		records.Only("x", 1), records.Within("age", 100, 120), records.Within("town", "Bonn", "Ulm"),
		records.HasItems(1), {},
		records.Ascending("age", "stay"), records.Ascending("age"), records.Unique("age", "age"),
		records.Only("age", 200), records.Only("income", nil), records.Determines([]string{"age"}),
		records.Combinations([]string{"age", "town"}, []string{"3"}), records.Unique("age").Repaired(),
		records.Within("age", "x", nil), records.Combinations([]string{"age", "town"})} {
		var mistake *param.Error
		_, err := generatorOf(s).Sample(t.Context(), 1, synth.Given(wrong))
		if !errors.As(err, &mistake) {
			t.Errorf("%v: got error %v, want a *param.Error", wrong, err)
		}
		if bad := s.WithConstraints(wrong); !errors.As(bad.Validate(), &mistake) {
			t.Errorf("declared %v: got error %v, want a *param.Error", wrong, bad.Validate())
		}
	}
}

// TestRejectionStatesItsAcceptance checks that a draw ends with an error if too few records are
// accepted. The error must state the acceptance of every constraint.
func TestRejectionStatesItsAcceptance(t *testing.T) {
	s := lines(t).WithConstraints()
	g := generatorOf(s)
	start := time.Now()
	_, err := g.Sample(t.Context(), 1000, synth.Seed(3), synth.Given(
		records.Within("l_extendedprice", 900, 1000), records.Within("l_discount", 0, 0.0005)))
	var rejected *synth.Rejected
	if !errors.As(err, &rejected) || len(rejected.Each) != 2 || rejected.Tried < 8000 ||
		!strings.Contains(err.Error(), "l_extendedprice within") {
		t.Fatalf("%v", err)
	}
	t.Logf("%v after %v", err, time.Since(start))
	// Uniform values meet the two constraints with probability 0.1 % and 0.5 %. Of 8,000 records, 8
	// and 40 are expected. The probability of three times these numbers is below 1e-6 each.
	if a := rejected.Each; a[0].Met > 24 || a[1].Met > 120 {
		t.Errorf("%v", a)
	}
	// The values of a unique key run out: there are only seven.
	few := must(records.NewSchema(records.Integer("n", 1, 7), records.Numeric("x", 0, 1)))(t)
	g = generatorOf(few.WithConstraints(records.Unique("n")))
	if d, err := g.Sample(t.Context(), 7, synth.Seed(1)); err != nil || records.Check(d) != nil {
		t.Error(err, records.Check(d))
	}
	_, err = g.Sample(t.Context(), 8, synth.Seed(1))
	if !errors.As(err, &rejected) || rejected.Kept != 7 {
		t.Error(err)
	}
	if _, err := g.Sample(t.Context(), 8, synth.Seed(1), synth.Unconstrained()); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.Sample(ctx, 7); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestRepairedRecords checks that almost all records are kept if constraints are repaired.
func TestRepairedRecords(t *testing.T) {
	s := lines(t)
	g := generatorOf(s.WithConstraints(records.Ascending("o_orderdate", "l_shipdate",
		"l_receiptdate").Repaired(), records.Within("l_extendedprice", 900, 901).Repaired(),
		records.Combinations([]string{"l_returnflag", "l_linestatus"}, []string{"R", "F"}).Repaired()))
	var done synth.Accepted
	d, err := g.Sample(t.Context(), 5000, synth.Seed(4), synth.OnAccepted(func(a synth.Accepted) {
		done = a
	}))
	if err != nil || records.Check(d) != nil {
		t.Fatal(err, records.Check(d))
	}
	if done.Rate() < 0.999 {
		t.Errorf("%v", done.Each)
	}
}

// TestTheSameSeedGivesTheSameConstrainedRecords checks that two calls of Stream and one of Sample
// draw the same records from one seed.
func TestTheSameSeedGivesTheSameConstrainedRecords(t *testing.T) {
	g := generatorOf(lines(t))
	text := func() string {
		var b strings.Builder
		for part, err := range g.Stream(t.Context(), 2500, synth.Seed(5)) {
			if err != nil {
				t.Fatal(err)
			}
			f, _ := records.AsFrame(part)
			for i := range f.Len() {
				b.Write(f.AppendJSON(nil, i))
			}
		}
		return b.String()
	}
	one := text()
	d := must(g.Sample(t.Context(), 2500, synth.Seed(5)))(t)
	var b strings.Builder
	f, _ := records.AsFrame(d)
	for i := range f.Len() {
		b.Write(f.AppendJSON(nil, i))
	}
	if one != text() || one != b.String() {
		t.Error("the records differ")
	}
}
