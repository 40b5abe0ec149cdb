package fidelity_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/demo"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
	"github.com/seed7ba64551/privgen/report/fidelity"
	"github.com/seed7ba64551/privgen/report/tabular"
)

var relations = []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne}

// wide returns a schema with a column of every kind.
func wide(t testing.TB) records.Schema {
	t.Helper()
	s, err := records.NewSchema(records.Integer("n", -2, 2).WithMissing(),
		records.Numeric("amount", 0, 1000).Logarithmic(),
		records.Categorical("c", "x", "y").WithMissing(),
		records.Ordinal("o", "a", "b", "c"), records.Flag("f", "no", "yes"), records.Label("l", "p", "q"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// synthetic returns public records from which a class can be learnt.
func synthetic(t testing.TB) *records.Frame {
	t.Helper()
	b, err := records.NewFrameBuilder(wide(t))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 60 {
		label := []string{"p", "q"}[i/30]
		if err := b.Append(i%5-2, float64(10*i), []string{"x", "y"}[i%2],
			[]string{"a", "b", "c"}[i%3], i%4 == 0, label); err != nil {
			t.Fatal(err)
		}
	}
	return b.Frame()
}

func planned(t testing.TB, c fidelity.Config) *fidelity.Plan {
	t.Helper()
	p, err := c.Plan()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func config(t testing.TB, r accountant.Relation) fidelity.Config {
	return fidelity.Config{Schema: wide(t), Bins: 4,
		Budget: accountant.Budget{Epsilon: 1, Delta: 1e-6, Relation: r}}
}

// run returns a function that runs a release and returns all its results.
func run(p *fidelity.Plan, fake records.Data) func(context.Context, *ledger.Ledger,
	records.Data) (any, error) {
	return func(ctx context.Context, l *ledger.Ledger, data records.Data) (any, error) {
		out, err := fidelity.Release(ctx, p, data, records.DeclarePublic(fake), l)
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(out)
		return []any{*out, string(text)}, err
	}
}

// TestNothingButNoisyCountsDependsOnARecord replays whole releases on neighbouring data sets with
// extreme records.
func TestNothingButNoisyCountsDependsOnARecord(t *testing.T) {
	fake := synthetic(t)
	for _, r := range relations {
		p := planned(t, config(t, r))
		for _, pair := range privacytest.Neighbours(t, p.Config.Schema, r, 9, 4) {
			privacytest.Replay[records.Data]{Run: run(p, fake), Budget: p.Config.Budget, Data: pair.Data,
				Neighbour: pair.Neighbour, Seeds: 1}.Check(t)
			if t.Failed() {
				t.Fatalf("%v: %s", r, pair.Name)
			}
		}
	}
}

// TestPersons replays a release by person on neighbouring data sets in which a person with several
// rows is added, removed or replaced. A plan for rows must refuse persons. A plan for persons must
// refuse rows and a ledger of records.
func TestPersons(t *testing.T) {
	fake := synthetic(t)
	for _, r := range relations {
		c := config(t, r)
		c.Schema = c.Schema.ByPerson(3)
		p := planned(t, c)
		for _, pair := range privacytest.Neighbours(t, c.Schema, r, 9, 4) {
			privacytest.Replay[records.Data]{Run: run(p, fake), Budget: c.Budget, Data: pair.Data,
				Neighbour: pair.Neighbour, Seeds: 1}.Check(t)
			if t.Failed() {
				t.Fatalf("%v: %s", r, pair.Name)
			}
		}
	}
	c := config(t, accountant.AddOrRemoveOne)
	byRow := planned(t, c)
	keys := make([]int, fake.Len())
	for i := range keys {
		keys[i] = i / 2
	}
	persons, err := records.GroupBy(copied(t, fake), keys, 3)
	if err != nil {
		t.Fatal(err)
	}
	c.Schema = persons.Schema()
	c.Budget.Epsilon = 1e7
	byPerson := planned(t, c)
	text, err := json.Marshal(byPerson)
	var read fidelity.Plan
	if err != nil || json.Unmarshal(text, &read) != nil || read.Config.Schema.RowsPerPerson() != 3 {
		t.Errorf("a plan of persons is read back as %v (%v)", &read, err)
	}
	users := func() *ledger.Ledger {
		return ledger.New(c.Budget, ledger.WithUnit(records.UnitUser))
	}
	out, err := fidelity.Release(t.Context(), byPerson, persons, records.DeclarePublic(fake), users())
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(out.Records-30) > 0.1 || out.Mean < 0.99 || out.Guarantee.RowsPerUnit != 3 {
		t.Errorf("%v persons, mean %v, %d rows a person", out.Records, out.Mean,
			out.Guarantee.RowsPerUnit)
	}
	var wrong *param.Error
	for name, f := range map[string]func() error{
		"persons by a plan of rows": func() error {
			_, err := fidelity.Release(t.Context(), byRow, persons, records.DeclarePublic(fake), users())
			return err
		},
		"rows by a plan of persons": func() error {
			_, err := fidelity.Release(t.Context(), byPerson, copied(t, fake),
				records.DeclarePublic(fake), users())
			return err
		},
		"a ledger of records": func() error {
			_, err := fidelity.Release(t.Context(), byPerson, persons, records.DeclarePublic(fake),
				ledger.New(c.Budget))
			return err
		},
		"a person's rows as synthetic ones": func() error {
			_, err := fidelity.Release(t.Context(), byPerson, persons,
				records.DeclarePublic(persons.Rows()), users())
			return err
		},
	} {
		if err := f(); !errors.As(err, &wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// rows returns records of all kinds.
func rows() (list [][]any) {
	for _, n := range []any{nil, -3, 0, math.NaN()} {
		for _, c := range []any{"x", "z", nil} {
			for _, l := range []any{"p", "q", "?"} {
				list = append(list, []any{n, 500, c, "b", true, l})
			}
		}
	}
	return append(list, []any{1, 0, "y", "a", false, "q"}, []any{2, 1e9, "x", "c", true, "p"})
}

// TestSensitivityByBruteForce adds each record of a list to an empty data set and to another
// record, or replaces it by many others. The recorded inputs must be no farther apart than
// declared.
func TestSensitivityByBruteForce(t *testing.T) {
	fake := synthetic(t)
	frame := func(rows ...[]any) records.Data {
		f, err := records.FromValues(wide(t), rows...)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for _, r := range relations {
		p := planned(t, config(t, r))
		check := func(a, b records.Data) {
			privacytest.Replay[records.Data]{Run: run(p, fake), Budget: p.Config.Budget, Data: a,
				Neighbour: b, Seeds: 1}.Check(t)
		}
		list := rows()
		for i, a := range list {
			if r == accountant.AddOrRemoveOne {
				check(frame(), frame(a))
				check(frame(list[(i*5+2)%len(list)]), frame(list[(i*5+2)%len(list)], a))
				continue
			}
			for _, b := range list[i : i+(len(list)-i+2)/3] {
				check(frame(a), frame(b))
			}
			check(frame(a), frame(list[len(list)-1]))
			check(frame(a), frame(list[len(list)-2]))
		}
	}
}

// TestTheStatedSensitivityIsAttained checks that no more noise is added than necessary. It uses two
// records that differ in every column. The classifier classifies one of them correctly.
func TestTheStatedSensitivityIsAttained(t *testing.T) {
	fake := synthetic(t)
	for _, r := range relations {
		c := config(t, r)
		c.Methods = []string{"random forest"}
		p := planned(t, c)
		want := math.Sqrt(7)
		if r == accountant.ReplaceOne {
			want = math.Sqrt(13)
		}
		if p.Sensitivity != want {
			t.Errorf("%v: sensitivity %v, want %v", r, p.Sensitivity, want)
		}
		// a record like the synthetic ones shows that a thousandth less sensitivity is too little
		short := *p
		short.Sensitivity *= 0.999
		short.Std = p.Std
		right, err := records.FromValues(wide(t), []any{-2, 0, "x", "a", true, "p"})
		if err != nil {
			t.Fatal(err)
		}
		other, err := records.FromValues(wide(t), []any{2, 150, "y", "c", false, "q"})
		if err != nil {
			t.Fatal(err)
		}
		a, b := records.Data(right), records.Data(other)
		if r == accountant.AddOrRemoveOne {
			a, b = right.Slice(0, 0), right
		}
		found := privacytest.Replay[records.Data]{Run: run(&short, fake), Budget: p.Config.Budget,
			Data: a, Neighbour: b, Seeds: 1}.Findings(t)
		if len(found) == 0 {
			t.Errorf("%v: no finding for a sensitivity that is too small by a thousandth", r)
		}
		if found = (privacytest.Replay[records.Data]{Run: run(p, fake), Budget: p.Config.Budget, Data: a,
			Neighbour: b, Seeds: 1}).Findings(t); len(found) > 0 {
			t.Errorf("%v: %v", r, found)
		}
	}
}

// TestFiguresWithoutNoise uses a budget so large that there is almost no noise. The figures must
// equal the figures of packages tabular and classify.
func TestFiguresWithoutNoise(t *testing.T) {
	source := demo.TableSource{Records: 600, Numbers: 3, Choices: 2, Levels: 5, Flags: 1, Classes: 2,
		Seed: 3, Draw: 1}
	real, err := source.Make()
	if err != nil {
		t.Fatal(err)
	}
	source.Draw, source.Records = 2, 500
	fake, err := source.Make()
	if err != nil {
		t.Fatal(err)
	}
	budget := accountant.Budget{Epsilon: 1e7, Delta: 1e-6}
	p := planned(t, fidelity.Config{Schema: real.Schema(), Budget: budget, Bins: 8, Seed: 5})
	out, err := fidelity.Release(t.Context(), p, real, records.DeclarePublic(fake),
		ledger.New(budget))
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(out.Records-600) > 0.1 || out.Synthetic != 500 {
		t.Errorf("%v records and %d synthetic ones", out.Records, out.Synthetic)
	}
	a, err := tabular.Read(real, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := tabular.Read(fake, nil)
	if err != nil {
		t.Fatal(err)
	}
	x, y := a.Histograms(8), b.Histograms(8)
	mean := 0.0
	for j, c := range out.Columns {
		want := 1.0
		for i := range x[j].Shares {
			want -= math.Abs(x[j].Shares[i].Part-y[j].Shares[i].Part) / 2
		}
		mean += want / float64(len(x))
		if c.Name != x[j].Column || math.Abs(c.TVComplement-want) > 1e-3 {
			t.Errorf("%s: %v, want %v", c.Name, c.TVComplement, want)
		}
	}
	if math.Abs(out.Mean-mean) > 1e-3 {
		t.Errorf("mean %v, want %v", out.Mean, mean)
	}
	methods := []classify.Method{classify.LogisticRegression{},
		classify.RandomForest{Trees: 50, Depth: 12, Seed: 5},
		classify.GradientBoosting{Stages: 50, Seed: 5}}
	for i, m := range methods {
		c, err := m.Fit(fake)
		if err != nil {
			t.Fatal(err)
		}
		test, err := classify.Test(c, real)
		if err != nil {
			t.Fatal(err)
		}
		got := out.Classifiers[i]
		if got.Method != m.Name() || math.Abs(got.Accuracy-test.Accuracy()) > 1e-3 {
			t.Errorf("%s: accuracy %v, want %v of %s", got.Method, got.Accuracy, test.Accuracy(), m.Name())
		}
	}
}

// TestTheNoiseIsStated uses synthetic records that fit perfectly. On average over 200 releases,
// each figure must be below 1 by the stated noise. For a column of three cells this average has a
// standard deviation of 0.031·noise. Half the sum of three absolute normal variables has a standard
// deviation of 0.44 times its mean. For more cells it is smaller. So 0.2·noise is six standard
// deviations: fewer than one false alarm in 10⁷ runs.
func TestTheNoiseIsStated(t *testing.T) {
	fake := synthetic(t)
	copies := copied(t, fake.Take(order(fake.Len(), 400)))
	c := config(t, accountant.AddOrRemoveOne)
	c.Methods = []string{}
	c.Budget.Epsilon = 5
	p := planned(t, c)
	const times = 200
	apart, stated := make([]float64, 6), make([]float64, 6)
	for range times {
		out, err := fidelity.Release(t.Context(), p, copies, records.DeclarePublic(fake),
			ledger.New(c.Budget))
		if err != nil {
			t.Fatal(err)
		}
		for j, column := range out.Columns {
			apart[j] += (1 - column.TVComplement) / times
			stated[j] += column.Noise / times
		}
	}
	for j := range apart {
		if math.Abs(apart[j]-stated[j]) > 0.2*stated[j] {
			t.Errorf("column %d: the figure is %v below 1, want %v", j, apart[j], stated[j])
		}
	}
}

// order repeats all rows equally often.
func order(n, times int) (rows []int32) {
	for range times {
		for i := range n {
			rows = append(rows, int32(i))
		}
	}
	return rows
}

func TestPlanIsReadBack(t *testing.T) {
	p := planned(t, config(t, accountant.ReplaceOne))
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var q fidelity.Plan
	if err := json.Unmarshal(text, &q); err != nil {
		t.Fatal(err)
	}
	if q.Std != p.Std || q.Sensitivity != p.Sensitivity || q.Cells != p.Cells ||
		!accountant.EqualEvents(q.Event, p.Event) || q.String() != p.String() {
		t.Errorf("%v became %v", p, &q)
	}
	if p.Cells != 5+5+3+4+3+3+3 {
		t.Errorf("%d cells", p.Cells)
	}
	again, err := json.Marshal(&q)
	if err != nil || !reflect.DeepEqual(text, again) {
		t.Errorf("%s became %s (%v)", text, again, err)
	}
}

// TestWhatIsRefused checks that wrong arguments are errors, with nothing written on the ledger.
func TestWhatIsRefused(t *testing.T) {
	fake := synthetic(t)
	real := fake.Take([]int32{1, 2, 3})
	c := config(t, accountant.AddOrRemoveOne)
	p := planned(t, c)
	other, err := demo.TableSource{Records: 5, Numbers: 1, Seed: 1}.Make()
	if err != nil {
		t.Fatal(err)
	}
	small := c.Budget
	small.Epsilon = 0.5
	replace := c.Budget
	replace.Relation = accountant.ReplaceOne
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	made := func(b accountant.Budget) *ledger.Ledger { return ledger.New(b) }
	users := ledger.New(c.Budget, ledger.WithUnit(records.UnitUser))
	for name, x := range map[string]struct {
		ctx        context.Context
		p          *fidelity.Plan
		real, fake records.Data
		ledger     *ledger.Ledger
		want       error
	}{
		"no plan":      {t.Context(), nil, real, fake, made(c.Budget), new(param.Error)},
		"unmade plan":  {t.Context(), &fidelity.Plan{}, real, fake, made(c.Budget), new(param.Error)},
		"no records":   {t.Context(), p, nil, fake, made(c.Budget), new(param.Error)},
		"no ledger":    {t.Context(), p, real, fake, nil, new(param.Error)},
		"schema":       {t.Context(), p, other, fake, made(c.Budget), fidelity.ErrSchema},
		"other fakes":  {t.Context(), p, real, other, made(c.Budget), fidelity.ErrSchema},
		"real as fake": {t.Context(), p, fake, fake, made(c.Budget), new(param.Error)},
		"part as fake": {t.Context(), p, fake, fake.Slice(0, 9), made(c.Budget), new(param.Error)},
		"small budget": {t.Context(), p, copied(t, real), fake, made(small),
			accountant.ErrBudgetExceeded},
		"relation":      {t.Context(), p, real, fake, made(replace), new(param.Error)},
		"users' ledger": {t.Context(), p, copied(t, real), fake, users, new(param.Error)},
		"cancelled":     {cancelled, p, copied(t, real), fake, made(c.Budget), context.Canceled},
	} {
		_, err := fidelity.Release(x.ctx, x.p, x.real, records.DeclarePublic(x.fake), x.ledger)
		var wrong *param.Error
		_, is := x.want.(*param.Error)
		if is && !errors.As(err, &wrong) || !is && !errors.Is(err, x.want) {
			t.Errorf("%s: %v", name, err)
		}
		if x.ledger != nil && len(x.ledger.Entries()) > 0 {
			t.Errorf("%s: %v is on the ledger", name, x.ledger.Entries())
		}
	}
	for name, bad := range map[string]fidelity.Config{
		"budget": {Schema: c.Schema},
		"schema": {Schema: records.Binary(3), Budget: c.Budget},
		"bins":   {Schema: c.Schema, Budget: c.Budget, Bins: -1},
		"noise":  {Schema: c.Schema, Budget: c.Budget, NoiseMultiplier: math.NaN()},
		"method": {Schema: c.Schema, Budget: c.Budget, Methods: []string{"tea leaves"}},
		"twice": {Schema: c.Schema, Budget: c.Budget,
			Methods: []string{"random forest", "random forest"}},
		"classes": {Schema: other.Schema(), Budget: c.Budget, Methods: []string{"random forest"}},
	} {
		var wrong *param.Error
		if _, err := bad.Plan(); !errors.As(err, &wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
	dear := c
	dear.NoiseMultiplier = 0.1
	if _, err := dear.Plan(); !errors.Is(err, accountant.ErrBudgetExceeded) {
		t.Errorf("a plan beyond its budget: %v", err)
	}
}

// late is a context that ends when something is on the ledger.
type late struct {
	context.Context
	ledger *ledger.Ledger
}

func (c late) Err() error {
	if len(c.ledger.Entries()) > 0 {
		return context.Canceled
	}
	return nil
}

// TestReservedBeforeRecordsAreRead cancels a release before it has read the records. The release
// must have paid its full price and get no refund.
func TestReservedBeforeRecordsAreRead(t *testing.T) {
	fake := synthetic(t)
	c := config(t, accountant.AddOrRemoveOne)
	l := ledger.New(c.Budget)
	p := planned(t, c)
	_, err := fidelity.Release(late{t.Context(), l}, p, copied(t, fake),
		records.DeclarePublic(fake), l)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the release ended with %v", err)
	}
	entries := l.Entries()
	if len(entries) != 1 || entries[0].Purpose != fidelity.Purpose || entries[0].Reserved != 1 ||
		!accountant.EqualEvents(entries[0].Event, p.Event) {
		t.Errorf("the ledger holds %+v", entries)
	}
	if got := l.Epsilon().Upper; got != p.Total.Upper {
		t.Errorf("ε = %v, want %v", got, p.Total.Upper)
	}
}

// copied returns a copy of the records that shares no memory with them.
func copied(t testing.TB, f *records.Frame) *records.Frame {
	t.Helper()
	b, err := records.NewFrameBuilder(f.Schema())
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.Len() {
		var row []any
		for j := range f.Schema().Columns() {
			row = append(row, f.Value(i, j))
		}
		if err := b.Append(row...); err != nil {
			t.Fatal(err)
		}
	}
	return b.Frame()
}
