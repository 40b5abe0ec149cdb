package draft_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/draft"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
)

var relations = []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne}

// wide returns a schema with columns of several kinds.
func wide(t testing.TB) records.Schema {
	t.Helper()
	s, err := records.NewSchema(
		records.Numeric("amount", -1e6, 1e6).WithMissing(), records.Integer("count", 0, math.MaxInt>>23),
		records.Integer("year", 0, 3000).WithMissing(),
		records.Ordinal("grade", "a", "b", "c", "d", "e"),
		records.Categorical("kind", "x", "y", "z", "other").WithOther("other").WithAlias("y", "Y"),
		records.Categorical("land", "p", "q", "r").WithMissing(), records.Flag("flag", "no", "yes"),
		records.Label("class", "u", "v"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func config(t testing.TB, r accountant.Relation) draft.Config {
	return draft.Config{Candidates: wide(t),
		Budget: accountant.Budget{Epsilon: 1, Delta: 1e-6, Relation: r}}
}

func planned(t testing.TB, c draft.Config) *draft.Plan {
	t.Helper()
	p, err := c.Plan()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func fitted(t testing.TB, p *draft.Plan, data records.Data) *draft.Draft {
	t.Helper()
	d, err := draft.Fit(context.Background(), p, data, ledger.New(p.Config.Budget))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// people draws rows with values in known ranges, which a draft should find.
func people(t testing.TB, n int) *records.Frame {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	b, err := records.NewFrameBuilder(wide(t))
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		kind, land := any("x"), any("p")
		if i%2 == 0 {
			kind, land = "Y", nil
		}
		err := b.Append(100+900*rng.Float64(), rng.IntN(50), 1950+rng.IntN(70), []any{"b", "d"}[i%2],
			kind, land, "yes", "u")
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.Frame()
}

// TestDraftFindsBoundsAndLevels: noise alone spoils a run with probability 1e-9. Every count that
// must be found exceeds the threshold by more than 10 standard deviations.
func TestDraftFindsBoundsAndLevels(t *testing.T) {
	data := people(t, 20_000)
	for _, r := range relations {
		c := config(t, r)
		c.FalseAlarm = 1e-9
		p := planned(t, c)
		d := fitted(t, p, data)
		got := map[string]records.Column{}
		for _, c := range d.Schema.Columns() {
			got[c.Name()] = c
		}
		for name, within := range map[string][4]float64{ // lo and hi must lie in these intervals
			"amount": {84, 103, 950, 1200}, "count": {0, 1, 49, 58}, "year": {1720, 1950, 2019, 2435},
		} {
			lo, hi := got[name].Bounds()
			if lo < within[0] || lo > within[1] || hi < within[2] || hi > within[3] ||
				got[name].HasMissing() {
				t.Errorf("%v, %s: got wrong bounds [%g, %g], or a missing value", r, name, lo, hi)
			}
		}
		if !slices.Equal(got["grade"].Levels(), []string{"b", "c", "d"}) ||
			!slices.Equal(got["kind"].Levels(), []string{"x", "y", "other"}) ||
			!slices.Equal(got["land"].Levels(), []string{"p"}) || !got["land"].HasMissing() ||
			got["kind"].Other() != "other" {
			t.Errorf("%v: got wrong levels in %v", r, d)
		}
		if d.Schema.Validate() != nil || d.Schema.Classes() != 2 || len(d.Schema.Columns()) != 8 ||
			!strings.Contains(d.String(), "x: ") {
			t.Errorf("%v: got an invalid schema or a wrong text: %v", r, d)
		}
		text, err := json.Marshal(d)
		var back draft.Draft
		if err != nil || json.Unmarshal(text, &back) != nil || !back.Schema.Equal(d.Schema) ||
			!reflect.DeepEqual(back.Columns, d.Columns) {
			t.Errorf("the draft %s is not read back: error %v", text, err)
		}
	}
}

// TestThinTailsAreFound spreads 3000 records over 40 bins. No bin is found alone. The bounds must
// still include most of the records: the counts of 32 bins together exceed their threshold by 11
// standard deviations.
func TestThinTailsAreFound(t *testing.T) {
	s, err := records.NewSchema(records.Integer("gain", 0, 1e7))
	if err != nil {
		t.Fatal(err)
	}
	b, err := records.NewFrameBuilder(s)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 5))
	for i := range 30_000 {
		v := 0.0
		if i%10 == 0 {
			v = math.Exp(math.Log(1000) + rng.Float64()*math.Log(100)) // 1000 to 100000
		}
		if err := b.Append(v); err != nil {
			t.Fatal(err)
		}
	}
	f := b.Frame()
	p := planned(t,
		draft.Config{Candidates: s, Budget: accountant.Budget{Epsilon: .15, Delta: 1e-6},
			BinsPerDoubling: 6, FalseAlarm: 1e-9})
	lo, hi := fitted(t, p, f).Schema.Columns()[0].Bounds()
	beyond := 0
	for i := range f.Len() {
		if f.Number(i, 0) > hi {
			beyond++
		}
	}
	if p.Threshold < 3000.0/40 || lo != 0 || beyond > 2000 || hi > 1e6 {
		t.Errorf("got [%g, %g], which leaves %d of 3000 outside; one bin needs %.0f",
			lo, hi, beyond, p.Threshold)
	}
}

// TestEdgesOfBinsAreHeld: a column of equal numbers is drafted with bounds that include the number,
// even if it is an edge of a bin.
func TestEdgesOfBinsAreHeld(t *testing.T) {
	budget := accountant.Budget{Epsilon: 50, Delta: 1e-6}
	for _, c := range []records.Column{records.Numeric("a", -10, 1000),
		records.Integer("a", -100, 100), records.Integer("a", 3, math.MaxInt>>13),
		records.Numeric("a", 5, 9), records.Target("a", -1e-300, 1e-300), records.Integer("a", 0, 1),
		records.Numeric("a", -1e300, 1e-300)} {
		s, err := records.NewSchema(c, records.Flag("b", "n", "y"))
		if err != nil {
			t.Fatal(err)
		}
		p := planned(t, draft.Config{Candidates: s, Budget: budget, FalseAlarm: 1e-9})
		lo, hi := c.Bounds()
		for _, v := range []float64{lo, hi, math.Inf(1), math.NaN(), 0, 1, -1, 2, 3, 4, 64, -5e-324,
			lo + (hi-lo)/3, math.Nextafter(hi, lo)} {
			b, err := records.NewFrameBuilder(s)
			if err != nil {
				t.Fatal(err)
			}
			for range 50 {
				if err := b.Append(v, "n"); err != nil {
					t.Fatal(err)
				}
			}
			f := b.Frame()
			l, h := fitted(t, p, f).Schema.Columns()[0].Bounds()
			if held := f.Number(0, 0); !(l <= held && held <= h) || l < lo || h > hi || h-l > 1 && l == lo &&
				h == hi && hi-lo > 20 {
				t.Errorf("%v of [%g, %g] lies outside [%g, %g]", held, lo, hi, l, h)
			}
		}
	}
}

// TestNothingButNoisyCountsDependsOnARecord replays whole runs on hostile neighbours, which differ
// in a record or in a person.
func TestNothingButNoisyCountsDependsOnARecord(t *testing.T) {
	for _, s := range []records.Schema{wide(t), wide(t).ByPerson(3)} {
		for _, r := range relations {
			c := config(t, r)
			c.Candidates = s
			p := planned(t, c)
			for _, pair := range privacytest.Neighbours(t, s, r, 9, 4) {
				privacytest.Replay[records.Data]{Run: run(p), Budget: p.Config.Budget, Data: pair.Data,
					Neighbour: pair.Neighbour}.Check(t)
				if t.Failed() {
					t.Fatalf("%v, rows of a person %d: the replay of %s fails", r,
						s.RowsPerPerson(), pair.Name)
				}
			}
		}
	}
}

// run returns a function for replays. It runs the plan and returns all released values.
func run(p *draft.Plan) func(context.Context, *ledger.Ledger, records.Data) (any, error) {
	return func(ctx context.Context, l *ledger.Ledger, data records.Data) (any, error) {
		d, err := draft.Fit(ctx, p, data, l)
		if err != nil {
			return nil, err
		}
		return []any{d.String(), d.Columns, d.Guarantee}, nil
	}
}

// TestSensitivityByBruteForce replaces every row of a small table by every other row, or adds it to
// an empty table and to another row. The recorded inputs must differ by at most the declared
// sensitivity.
func TestSensitivityByBruteForce(t *testing.T) {
	s, err := records.NewSchema(records.Integer("n", -2, 2).WithMissing(),
		records.Categorical("c", "x", "y"), records.Ordinal("o", "a", "b", "c").WithMissing())
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]any
	for _, n := range []any{nil, -3, 0, 1.5, math.NaN(), math.Inf(1)} {
		for _, c := range []any{"x", "y", "z", nil} {
			for _, o := range []any{nil, "a", "?"} {
				rows = append(rows, []any{n, c, o})
			}
		}
	}
	frame := func(rows ...[]any) records.Data {
		f, err := records.FromValues(s, rows...)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for _, r := range relations {
		p := planned(t,
			draft.Config{Candidates: s, Budget: accountant.Budget{Epsilon: 1, Delta: 1e-6, Relation: r}})
		check := func(a, b records.Data) {
			privacytest.Replay[records.Data]{Run: run(p), Budget: p.Config.Budget, Data: a, Neighbour: b,
				Seeds: 1}.Check(t)
		}
		for i, a := range rows {
			if r == accountant.AddOrRemoveOne {
				check(frame(), frame(a))
				check(frame(rows[(i*5+2)%len(rows)]), frame(rows[(i*5+2)%len(rows)], a))
				continue
			}
			for _, b := range rows[i:] {
				check(frame(a), frame(b))
			}
		}
	}
}

// TestTheStatedSensitivityIsAttained: one record changes the counts by the declared sensitivity, so
// no noise is wasted. At this budget there is almost no noise.
func TestTheStatedSensitivityIsAttained(t *testing.T) {
	data, err := records.FromValues(wide(t), []any{1, 1, 1, "a", "x", "p", "no", "u"},
		[]any{nil, 9, 2000, "?", "y", nil, "no", "u"})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range relations {
		c := config(t, r)
		c.Budget.Epsilon = 1e9
		p := planned(t, c)
		a, b := fitted(t, p, data.Slice(0, 1)), fitted(t, p, data.Slice(0, 0))
		if r == accountant.ReplaceOne {
			b = fitted(t, p, data.Slice(1, 2))
		}
		moved := 0.0
		for j := range a.Columns {
			for i := range a.Columns[j].Cells {
				moved += math.Pow(a.Columns[j].Cells[i].Count-b.Columns[j].Cells[i].Count, 2)
			}
		}
		if got := math.Sqrt(moved); math.Abs(got-p.Sensitivity) > 0.01 {
			t.Errorf("%v: one record moves the counts by %v, declared is %v", r, got, p.Sensitivity)
		}
	}
}

// TestPlanIsTheBill: the ledger holds the event and the price that the plan states, also after the
// plan is written to JSON and read back.
func TestPlanIsTheBill(t *testing.T) {
	for _, r := range relations {
		p := planned(t, config(t, r))
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var back draft.Plan
		if err := json.Unmarshal(text, &back); err != nil || back.String() != p.String() {
			t.Errorf("%v\nis read back as\n%v (%v)", p, &back, err)
		}
		l := ledger.New(p.Config.Budget)
		if _, err := draft.Fit(context.Background(), &back, people(t, 10), l); err != nil {
			t.Fatal(err)
		}
		entries := l.Entries()
		if len(entries) != 1 || entries[0].Purpose != draft.Purpose || entries[0].Reserved != 1 ||
			entries[0].Spent != 1 ||
			!accountant.EqualEvents(entries[0].Event, p.Event) || l.Epsilon().Upper != p.Total.Upper ||
			p.Total.Upper > 1 {
			t.Errorf("%v: got entries %+v, want one for the plan %v", r, entries, p)
		}
		if want := math.Sqrt(6); r == accountant.AddOrRemoveOne && p.Sensitivity != want ||
			r == accountant.ReplaceOne && p.Sensitivity != math.Sqrt(12) {
			t.Errorf("%v: got sensitivity %v, want %v", r, p.Sensitivity, want)
		}
		if g := l.Guarantee(); !slices.Equal(g.NoiseClass,
			[]ledger.NoiseClass{ledger.ExactNoise}) {
			t.Errorf("got noise class %v, want exact noise", g.NoiseClass)
		}
	}
}

func TestACancelledRunKeepsItsSpend(t *testing.T) {
	p := planned(t, config(t, accountant.AddOrRemoveOne))
	ctx, cancel := context.WithCancel(context.Background())
	l := ledger.New(p.Config.Budget)
	parts := func(yield func(records.Data, error) bool) {
		if yield(people(t, 10), nil) {
			cancel()
			yield(people(t, 10), nil)
		}
	}
	if _, err := draft.FitStream(ctx, p, parts, l); !errors.Is(err, context.Canceled) ||
		l.Epsilon().Upper != p.Total.Upper {
		t.Errorf("a cancelled run: got error %v and ε = %v, want the whole price", err, l.Epsilon())
	}
	fresh := ledger.New(p.Config.Budget)
	if _, err := draft.Fit(ctx, p, people(t, 1), fresh); !errors.Is(err, context.Canceled) ||
		len(fresh.Entries()) != 0 {
		t.Errorf("a run that was cancelled before it began: got error %v and entries %v",
			err, fresh.Entries())
	}
	if _, err := draft.Fit(context.Background(), p, people(t, 1), l); !errors.Is(err,
		accountant.ErrBudgetExceeded) {
		t.Errorf("a second run: got error %v, want ErrBudgetExceeded", err)
	}
}

func TestEmptyDataIsDrafted(t *testing.T) {
	c := config(t, accountant.AddOrRemoveOne)
	c.FalseAlarm = 1e-9
	if d := fitted(t, planned(t, c), people(t, 0)); !d.Schema.Equal(c.Candidates) {
		t.Errorf("no records: got %v, want the candidates", d)
	}
}

// TestPartsAreTheWhole: records that arrive in parts give the same counts, up to the noise.
func TestPartsAreTheWhole(t *testing.T) {
	data := people(t, 9000)
	c := config(t, accountant.ReplaceOne)
	c.Budget.Epsilon = 1e6
	p := planned(t, c)
	parts := func(yield func(records.Data, error) bool) {
		_ = yield(data.Slice(0, 5000), nil) && yield(data.Slice(5000, 9000), nil)
	}
	streamed, err := draft.FitStream(context.Background(), p, parts, ledger.New(c.Budget))
	if err != nil {
		t.Fatal(err)
	}
	whole := fitted(t, p, data)
	for j, column := range whole.Columns {
		total := 0.0
		for i, cell := range column.Cells {
			total += cell.Count
			if math.Abs(cell.Count-streamed.Columns[j].Cells[i].Count) > 12*p.Std {
				t.Errorf("%s: got %v from all records and %v from the stream, want almost equal counts",
					column.Name, cell, streamed.Columns[j].Cells[i])
			}
		}
		if math.Abs(total-9000) > 12*p.Std*math.Sqrt(float64(len(column.Cells))) {
			t.Errorf("%s counts %v records, want about 9000", column.Name, total)
		}
	}
}

func TestMistakesAreReported(t *testing.T) {
	ok := config(t, accountant.AddOrRemoveOne)
	flags, err := records.NewSchema(records.Flag("a", "n", "y"))
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*draft.Config){
		"Budget.Epsilon":               func(c *draft.Config) { c.Budget.Epsilon = 0 },
		"draft.Config.Candidates":      func(c *draft.Config) { c.Candidates = records.Binary(3) },
		"to be estimated":              func(c *draft.Config) { c.Candidates = flags },
		"draft.Config.NoiseMultiplier": func(c *draft.Config) { c.NoiseMultiplier = math.NaN() },
		"draft.Config.FalseAlarm":      func(c *draft.Config) { c.FalseAlarm = 1 },
		"draft.Config.BinsPerDoubling": func(c *draft.Config) { c.BinsPerDoubling = -1 },
	} {
		c := ok
		change(&c)
		var p *param.Error
		if _, err := c.Plan(); !errors.As(err, &p) || !strings.Contains(err.Error(), want) {
			t.Errorf("want %s, got %v", want, err)
		}
	}
	cheap := ok
	cheap.NoiseMultiplier = 1
	if _, err := cheap.Plan(); !errors.Is(err, accountant.ErrBudgetExceeded) {
		t.Errorf("too little noise: got error %v, want ErrBudgetExceeded", err)
	}
	p := planned(t, ok)
	other, err := records.FromValues(flags, []any{"n"})
	if err != nil {
		t.Fatal(err)
	}
	budget := ok.Budget
	budget.Relation = accountant.ReplaceOne
	var parts iter.Seq2[records.Data, error]
	for name, err := range map[string]error{
		"no data":   second(draft.Fit(context.Background(), p, nil, ledger.New(ok.Budget))),
		"no ledger": second(draft.Fit(context.Background(), p, people(t, 1), nil)),
		"relation": second(draft.Fit(context.Background(), p, people(t, 1),
			ledger.New(budget))),
		"users": second(draft.Fit(context.Background(), p, people(t, 1),
			ledger.New(ok.Budget, ledger.WithUnit("user")))),
		"another": second(draft.Fit(context.Background(), p, struct{ records.Data }{people(t, 1)},
			ledger.New(ok.Budget))),
		"no stream": second(draft.FitStream(context.Background(), p, parts,
			ledger.New(ok.Budget))),
		"wrong plan": new(draft.Plan).UnmarshalJSON([]byte(`{"version":2}`)),
	} {
		var p *param.Error
		if !errors.As(err, &p) {
			t.Errorf("%s: got error %v, want *param.Error", name, err)
		}
	}
	if _, err := draft.Fit(context.Background(), p, other,
		ledger.New(ok.Budget)); !errors.Is(err, draft.ErrSchema) {
		t.Errorf("another schema: got error %v, want ErrSchema", err)
	}
	users := records.WithUnit(people(t, 1), records.UnitUser)
	if _, err := draft.Fit(context.Background(), p, users,
		ledger.New(ok.Budget, ledger.WithUnit("user"))); err != nil {
		t.Errorf("rows of one user each: got error %v, want none", err)
	}
}

func second[T any](_ T, err error) error { return err }

// TestNoiseIsWhatThePlanSays: the noise has the plan's standard deviation. The counts of 4000 empty
// cells are normal. The mean of their squares, divided by the plan's variance, has expectation 1
// and standard deviation √(2/4000) = 0.022. The test allows 6.5 of these standard deviations, which
// are exceeded with probability below 1e-8. With 0.7 or 1.3 times the plan's noise, the mean would
// be 0.49 or 1.69, more than 20 of these standard deviations from 1. The test also requires that no
// cell is kept. With FalseAlarm 1e-9, noise keeps a cell with probability at most 1e-9.
func TestNoiseIsWhatThePlanSays(t *testing.T) {
	var levels []string
	for i := range 3999 {
		levels = append(levels, fmt.Sprint("l", i))
	}
	s, err := records.NewSchema(records.Categorical("a", levels...))
	if err != nil {
		t.Fatal(err)
	}
	p := planned(t,
		draft.Config{Candidates: s, Budget: accountant.Budget{Epsilon: .5, Delta: 1e-6},
			FalseAlarm: 1e-9})
	f, err := records.FromValues(s)
	if err != nil {
		t.Fatal(err)
	}
	squares := 0.0
	for _, cell := range fitted(t, p, f).Columns[0].Cells {
		squares += cell.Count * cell.Count / (p.Std * p.Std)
		if cell.Kept {
			t.Errorf("%v is kept at threshold %v", cell, p.Threshold)
		}
	}
	if mean := squares / 4000; math.Abs(mean-1) > 6.5*math.Sqrt(2.0/4000) {
		t.Errorf("the standard deviation of the noise is %v times the plan's", math.Sqrt(mean))
	}
}

func FuzzNeighbours(f *testing.F) {
	s, err := records.NewSchema(records.Numeric("x", -1, 3).WithMissing(), records.Integer("n", 0, 9),
		records.Categorical("c", "p", "q").WithMissing(), records.Label("l", "a", "b"))
	if err != nil {
		f.Fatal(err)
	}
	p := planned(f, draft.Config{Candidates: s, Budget: accountant.Budget{Epsilon: 1, Delta: 1e-6}})
	privacytest.Fuzz(f, s, accountant.AddOrRemoveOne, func(t *testing.T, pair privacytest.Pair) {
		privacytest.Replay[records.Data]{Run: run(p), Budget: p.Config.Budget, Data: pair.Data,
			Neighbour: pair.Neighbour, Seeds: 1}.Check(t)
	})
}
