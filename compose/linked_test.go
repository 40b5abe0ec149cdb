package compose_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/tables"
)

// shop describes customers, their orders in time, and the items of an order.
func shop(t testing.TB) records.Tables {
	schema := func(columns ...records.Column) records.Schema {
		return must(records.NewSchema(columns...))(t)
	}
	return records.Tables{Name: "customers", Key: "customer",
		Schema: schema(records.Categorical("region", "n", "s", "e"), records.Integer("age", 18, 90)),
		Children: []records.Tables{{Name: "orders", Key: "order", Parents: []string{"customer"}, Most: 6,
			Ordered: true, Schema: schema(records.Categorical("state", "a", "b", "c"),
				records.Numeric("amount", 0, 100)),
			Children: []records.Tables{{Name: "items", Parents: []string{"customer", "order"}, Most: 3,
				Schema: schema(records.Flag("gift", "no", "yes"))}}}}}
}

// A customer has orders, and an order has items, which are gifts or not.
type customer struct {
	region, age int
	orders      []order
}

type order struct {
	state  int
	amount float64
	gifts  []bool
}

// randomCustomer returns a customer. The first state is the region, the amount depends on the
// state, and gifts are frequent in the last state.
func randomCustomer(rng *rand.Rand) customer {
	c := customer{region: rng.IntN(3)}
	c.age = 18 + rng.IntN(30) + 20*c.region
	state := c.region
	for o := range rng.IntN(4 + 2*c.region) {
		if o > 0 && rng.Float64() < 0.3 {
			state = (state + 1) % 3
		}
		own := order{state: state, amount: 30*float64(state) + 10*rng.Float64()}
		for range rng.IntN(3) {
			own.gifts = append(own.gifts, rng.Float64() < 0.1+0.4*float64(state))
		}
		c.orders = append(c.orders, own)
	}
	return c
}

func customers(n int, seed uint64) (list []customer) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for range n {
		list = append(list, randomCustomer(rng))
	}
	return list
}

// key returns a key that is not the number of its row.
func key(row int) string { return fmt.Sprint(9999 - 7*row) }

// shopOf returns the tables of some customers.
func shopOf(t testing.TB, list []customer) *records.Linked {
	d := shop(t)
	var rows [3][][]any
	keys := [3][]string{{}, {}, nil}
	parents := [3][][]string{nil, {{}}, {{}, {}}}
	for c, own := range list {
		rows[0] = append(rows[0], []any{[]string{"n", "s", "e"}[own.region], own.age})
		keys[0] = append(keys[0], key(c))
		for o, order := range own.orders {
			rows[1] = append(rows[1], []any{[]string{"a", "b", "c"}[order.state], order.amount})
			keys[1] = append(keys[1], key(o))
			parents[1][0] = append(parents[1][0], key(c))
			for _, gift := range order.gifts {
				rows[2] = append(rows[2], []any{gift})
				parents[2][0] = append(parents[2][0], key(c))
				parents[2][1] = append(parents[2][1], key(o))
			}
		}
	}
	var all []records.Keyed
	for i, s := range []records.Schema{d.Schema, d.Children[0].Schema,
		d.Children[0].Children[0].Schema} {
		f := must(records.FromValues(s, rows[i]...))(t)
		all = append(all, records.Keyed{Rows: f, Keys: keys[i], Parents: parents[i]})
	}
	return must(records.Link(d, all...))(t)
}

// linkedPlan plans two systems of AIM for a shop.
func linkedPlan(t testing.TB, b accountant.Budget, rounds int) synth.Plan {
	d := shop(t)
	aim := tables.AIM{Common: tables.Common{Nominal: 3000}, Rounds: rounds}
	return must(compose.Linked{Tables: d, Of: aim, Each: aim}.PlanFor(d.Full(), b))(t)
}

// drawnTables returns all tables that a generator draws.
func drawnTables(ctx context.Context, g *synth.Generator, n int) (all []*records.Linked,
	err error) {
	for l, err := range compose.DrawTables(ctx, g, n, 1) {
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

// fractions returns how many orders have the state of the order before, how many first orders have
// the state of their region, and the fraction of gifts in orders of each state.
func fractions(l *records.Linked) (stays, starts float64, gifts [3]float64) {
	roots, _ := l.Table(0)
	orders, of := l.Table(1)
	var pairs, same, firsts, local float64
	for i := range orders.Len() {
		if i > 0 && of[i] == of[i-1] {
			pairs++
			if orders.Level(i, 0) == orders.Level(i-1, 0) {
				same++
			}
			continue
		}
		firsts++
		if orders.Level(i, 0) == roots.Level(int(of[i]), 0) {
			local++
		}
	}
	items, in := l.Table(2)
	var all [3]float64
	for i := range items.Len() {
		state := orders.Level(int(in[i]), 0)
		all[state]++
		gifts[state] += float64(items.Level(i, 0))
	}
	for i := range gifts {
		gifts[i] /= all[i]
	}
	return same / pairs, local / firsts, gifts
}

// TestLinkedTablesKeepTheirRelations: drawn rows depend on their parents, and on the rows before,
// as the real ones do. With ε = 8 for 3,000 customers the five fractions differed by at most 0.076
// in twenty runs, with a spread of 0.03; the bound is five spreads, which fails by chance less
// than once in 100,000 runs. Rows that do not depend on their parents are off by 0.25 and more.
func TestLinkedTablesKeepTheirRelations(t *testing.T) {
	real := shopOf(t, customers(3000, 1))
	g := must(linkedPlan(t, accountant.Budget{Epsilon: 8, Delta: 1e-6}, 0).Fit(t.Context(), real))(t)
	if u := g.Guarantee().Unit; u != records.UnitUser {
		t.Errorf("the guarantee is for a %s, want a user", u)
	}
	var file bytes.Buffer
	if err := g.Save(&file); err != nil {
		t.Fatal(err)
	}
	system := synth.Systems{compose.Systems(tables.Systems())[5]}
	again := must(system.Load(bytes.NewReader(file.Bytes())))(t)
	drawn := must(drawnTables(t.Context(), g, 3000))(t)
	if same := must(drawnTables(t.Context(), again, 3000))(t); !reflect.DeepEqual(contentsOf(drawn),
		contentsOf(same)) {
		t.Error("the generator read back draws other tables from the same seed")
	}
	stays, starts, gifts := fractions(real)
	s, f, have := fractions(drawn[0])
	off := []float64{s - stays, f - starts, have[0] - gifts[0], have[1] - gifts[1], have[2] - gifts[2]}
	for i, d := range off {
		if d > 0.15 || d < -0.15 {
			t.Errorf("fraction %d is off by %.3f", i, d)
		}
	}
}

// contentsOf returns all tables as batches, with the parents of their rows.
func contentsOf(list []*records.Linked) (out []any) {
	for _, l := range list {
		for i := range l.Tables().All() {
			rows, up := l.Table(i)
			var b device.Batch
			rows.Range(0, rows.Len(), &b)
			out = append(out, b.Dense.Data, up)
		}
	}
	return out
}

// TestDrawnTablesAreWhole: in several parts, every row has a parent, and every row has as many rows
// as its own columns say.
func TestDrawnTablesAreWhole(t *testing.T) {
	g := must(linkedPlan(t, accountant.Budget{Epsilon: 3, Delta: 1e-6}, 2).Fit(t.Context(),
		shopOf(t, customers(300, 1))))(t)
	const n = 40_000
	total := 0
	for _, l := range must(drawnTables(t.Context(), g, n))(t) {
		total += l.Len()
		for i := range 2 {
			parents, _ := l.Table(i)
			rows, up := l.Table(i + 1)
			counts := make([]float64, parents.Len())
			for _, p := range up {
				counts[p]++
			}
			column := len(parents.Schema().Columns()) - 1
			for p, have := range counts {
				if have != parents.Number(p, column) {
					t.Fatalf("row %d of table %d has %v rows, want %v", p, i, have, parents.Number(p, column))
				}
			}
			if !slices.IsSorted(up) || len(up) != rows.Len() {
				t.Fatal("rows that are not in the order of their parents")
			}
		}
	}
	if total != n {
		t.Errorf("%d rows of the root, want %d", total, n)
	}
	for range compose.DrawTables(t.Context(), g, n, 1) {
		break // one who stops early gets no further part
	}
	for _, err := range compose.DrawTables(t.Context(), must(compose.Part(g, 0))(t), 1, 1) {
		if err == nil {
			t.Error("tables of a generator of one table")
		}
	}
}

// TestLinkedConstraints: rules that no row can obey end a draw. Without constraints the tables are
// drawn, so that a generator that is paid for is of use.
func TestLinkedConstraints(t *testing.T) {
	d := shop(t)
	d.Children[0].Constraints = []records.Constraint{records.Only("state", "a"),
		records.Only("state", "b")}
	aim := tables.AIM{Common: tables.Common{Nominal: 3000}, Rounds: 1}
	p := must(compose.Linked{Tables: d, Of: aim, Each: aim}.PlanFor(d.Full(),
		accountant.Budget{Epsilon: 3, Delta: 1e-6}))(t)
	g := must(p.Fit(privacytest.Seeded(t, t.Context(), 1), shopOf(t, customers(50, 1))))(t)
	for range 2 {
		for _, err := range compose.DrawTables(t.Context(), g, 4, 1) {
			if err == nil {
				t.Error("rows that obey no rule are drawn")
			}
		}
		for _, err := range compose.DrawTables(t.Context(), g, 4, 1, synth.Unconstrained()) {
			if err != nil {
				t.Error(err)
			}
		}
		var file bytes.Buffer
		if err := g.Save(&file); err != nil {
			t.Fatal(err)
		}
		system := synth.Systems{compose.Systems(tables.Systems())[5]}
		g = must(system.Load(&file))(t)
	}
}

// TestLinkedUnderReplay replays whole fits on neighbours that differ in a customer without orders,
// with as many as there may be, and with ten times as many, first, last and between others. Without
// -long each ε has two of them under each relation, and the other ε the other two.
func TestLinkedUnderReplay(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	full := customer{region: 2, age: 90}
	for range 6 {
		full.orders = append(full.orders, order{2, 100, []bool{true, true, true}})
	}
	heavy := full
	for range 4 {
		heavy.orders = append(heavy.orders, heavy.orders...)
		heavy.orders[0].gifts = append(heavy.orders[0].gifts, heavy.orders[0].gifts...)
	}
	all := customers(5, 3)
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		for k, epsilon := range []float64{3, 1e3} {
			b := accountant.Budget{Epsilon: epsilon, Delta: 1e-5, Relation: r}
			p := linkedPlan(t, b, 3)
			for i, odd := range []customer{{}, full, heavy, randomCustomer(rng)} {
				if (i+k+int(r))%2 > 0 && !*long {
					continue
				}
				at := []int{0, 5, 2}[i%3]
				data := all
				if r == accountant.ReplaceOne {
					data = slices.Insert(slices.Clone(all), at, randomCustomer(rng))
				}
				other := slices.Insert(slices.Clone(all), at, odd)
				privacytest.Replay[records.Data]{Budget: b, Data: shopOf(t, data),
					Neighbour: shopOf(t, other), Seeds: 1,
					Run: func(ctx context.Context, l *ledger.Ledger, d records.Data) (any, error) {
						return linkedVisible(ctx, p, l, d)
					}}.Check(t)
			}
		}
	}
}

// TestGapsUnderReplay replays whole fits of rows in order of their times, on neighbours that differ
// in one root: without rows, with rows in reverse order, and with more than there may be.
func TestGapsUnderReplay(t *testing.T) {
	d := records.Tables{Name: "patients", Key: "patient", Children: []records.Tables{{Name: "stays",
		Parents: []string{"patient"}, Most: 3, Ordered: true, Gaps: "at",
		Schema: must(records.NewSchema(records.Integer("at", 0, 99), records.Flag("ill", "0", "1")))(t)}}}
	link := func(list [][]int) *records.Linked {
		keys, rows := [2][]string{{}, {}}, [][]any{}
		for i, times := range list {
			keys[0] = append(keys[0], fmt.Sprint(i))
			for _, at := range times {
				keys[1], rows = append(keys[1], fmt.Sprint(i)), append(rows, []any{at, at%2 == 0})
			}
		}
		return must(records.Link(d, records.Keyed{Keys: keys[0]}, records.Keyed{Rows: must(
			records.FromValues(d.Children[0].Schema, rows...))(t), Parents: [][]string{keys[1]}}))(t)
	}
	all := [][]int{{3, 40, 90}, {}, {7, 7}, {99, 0}}
	aim := tables.AIM{Common: tables.Common{Nominal: 3000}, Rounds: 3}
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		b := accountant.Budget{Epsilon: 3, Delta: 1e-5, Relation: r}
		p := must(compose.Linked{Tables: d, Of: aim, Each: aim}.PlanFor(d.Full(), b))(t)
		for i, odd := range [][]int{{}, {99, 50, 0}, {9, 1, 99, 0, 5, 5, 60}, {50}} {
			data, at := all, []int{0, 4, 2}[i%3]
			if r == accountant.ReplaceOne {
				data = slices.Insert(slices.Clone(all), at, []int{1, 2})
			}
			privacytest.Replay[records.Data]{Budget: b, Data: link(data),
				Neighbour: link(slices.Insert(slices.Clone(all), at, odd)), Seeds: 1,
				Run: func(ctx context.Context, l *ledger.Ledger, d records.Data) (any, error) {
					return linkedVisible(ctx, p, l, d)
				}}.Check(t)
		}
	}
}

// linkedVisible returns all that leaves a fit.
func linkedVisible(ctx context.Context, p synth.Plan, l *ledger.Ledger, d records.Data) (any,
	error) {
	var seen []any
	g, err := p.FitOn(ctx, l, d, synth.On(device.CPUWith(1)), synth.OnProgress(func(n synth.Progress) {
		n.Elapsed = 0
		seen = append(seen, n)
	}))
	if err != nil {
		return seen, err
	}
	drawn, err := drawnTables(ctx, g, 20)
	if err != nil {
		return seen, err
	}
	var file bytes.Buffer
	err = g.Save(&file)
	return append(seen, file.Bytes(), contentsOf(drawn), g.Guarantee()), err
}

// TestLinkedContinues: a fit that is interrupted in the systems of any table goes on from its
// checkpoint, and pays nothing more.
func TestLinkedContinues(t *testing.T) {
	t.Parallel() // it waits for the disk
	data := shopOf(t, customers(200, 2))
	b := accountant.Budget{Epsilon: 3, Delta: 1e-6}
	p := linkedPlan(t, b, 4)
	steps := 0
	must(p.Fit(t.Context(), data, synth.OnProgress(func(synth.Progress) { steps++ })))(t)
	for stop := 0; stop < steps; stop += max(steps/3, 1) {
		path := filepath.Join(t.TempDir(), "run")
		l := ledger.New(b, ledger.WithUnit(records.UnitUser))
		ctx, cancel := context.WithCancel(t.Context())
		done := 0
		_, err := p.FitOn(ctx, l, data, synth.CheckpointEvery(path, 1),
			synth.OnProgress(func(synth.Progress) {
				if done++; done > stop {
					cancel()
				}
			}))
		cancel()
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		spent := l.Epsilon().Upper
		g := must(p.FitOn(t.Context(), l, data, synth.Checkpoint(path)))(t)
		if l.Epsilon().Upper != spent || spent > b.Epsilon {
			t.Fatalf("interrupted at step %d: ε rose from %v to %v", stop, spent, l.Epsilon().Upper)
		}
		must(drawnTables(t.Context(), g, 50))(t)
	}
}

// TestLinkedRefusals: what does not fit the tables is refused before anything is paid.
func TestLinkedRefusals(t *testing.T) {
	b := accountant.Budget{Epsilon: 3, Delta: 1e-6}
	d, aim := shop(t), tables.AIM{}
	broken, open := d, d
	broken.Key = ""
	open.Schema = must(records.NewSchema(records.Hashed("town", 6).WithOther("-")))(t)
	for what, plan := range map[string]func() (synth.Plan, error){
		"no tables": func() (synth.Plan, error) {
			return compose.Linked{Of: aim,
				Each: aim}.PlanFor(d.Full(), b)
		},
		"invalid tables": func() (synth.Plan, error) {
			return compose.Linked{Tables: broken, Of: aim, Each: aim}.PlanFor(d.Full(), b)
		},
		"no system": func() (synth.Plan, error) {
			return compose.Linked{Tables: d,
				Each: aim}.PlanFor(d.Full(), b)
		},
		"no other system": func() (synth.Plan, error) {
			return compose.Linked{Tables: d,
				Of: aim}.PlanFor(d.Full(), b)
		},
		"trees": func() (synth.Plan, error) {
			return compose.Linked{Tables: d, Of: aim, Each: tables.MST{}}.PlanFor(d.Full(), b)
		},
		"the root's own": func() (synth.Plan, error) {
			return compose.Linked{Tables: d, Of: aim,
				Each: aim}.PlanFor(d.Schema, b)
		},
		"persons": func() (synth.Plan, error) {
			return compose.Linked{Tables: d, Of: aim, Each: aim}.PlanFor(d.Full().ByPerson(2), b)
		},
		"levels that are found": func() (synth.Plan, error) { // no row of the root fits the tables
			return compose.Linked{Tables: open, Of: compose.Levels{Of: aim},
				Each: aim}.PlanFor(open.Full(), b)
		},
		"no δ": func() (synth.Plan, error) {
			return compose.Linked{Tables: d, Of: aim, Each: aim}.PlanFor(d.Full(),
				accountant.Budget{Epsilon: 3})
		},
		"tables in a pool": func() (synth.Plan, error) {
			return compose.Pool{Of: []synth.Design{aim, compose.Linked{Tables: d, Of: aim,
				Each: aim}}}.PlanFor(d.Full(), b)
		},
	} {
		if _, err := plan(); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	p := linkedPlan(t, b, 2)
	data := shopOf(t, customers(20, 1))
	roots, _ := data.Table(0)
	other := shop(t)
	other.Children[0].Ordered = false
	l := must(records.Link(other, records.Keyed{Rows: must(records.FromValues(other.Schema))(t),
		Keys: []string{}}, records.Keyed{Rows: must(records.FromValues(other.Children[0].Schema))(t),
		Keys: []string{}, Parents: [][]string{{}}},
		records.Keyed{Rows: must(records.FromValues(other.Children[0].Children[0].Schema))(t),
			Parents: [][]string{{}, {}}}))(t)
	for what, d := range map[string]records.Data{"rows of the root": roots,
		"users of the root": records.WithUnit(roots, records.UnitUser), "other tables": l} {
		paid := ledger.New(b, ledger.WithUnit(records.UnitUser))
		if _, err := p.FitOn(t.Context(), paid, d); err == nil || len(paid.Entries()) > 0 {
			t.Errorf("%s: error %v, and %d entries", what, err, len(paid.Entries()))
		}
	}
	if _, err := p.FitOn(t.Context(), ledger.New(b), data); err == nil {
		t.Error("a ledger of records is accepted")
	}
	text := must(json.Marshal(p))(t)
	system := synth.Systems{compose.Systems(tables.Systems())[5]}
	if again := must(system.ReadPlan(text))(t); again.String() != p.String() ||
		again.Total() != p.Total() {
		t.Errorf("the plan read back is\n%v, want\n%v", again, p)
	}
	for _, change := range [][2]string{{`"rows_per_person":6`, `"rows_per_person":5`}, {`"most":6`,
		`"most":5`}, {`"ordered":true`, `"ordered":false`},
		{`"known_columns":`, `"known_columns":1`}} {
		if bad := bytes.Replace(text, []byte(change[0]), []byte(change[1]), 1); bytes.Equal(bad, text) {
			t.Errorf("the plan has no %s", change[0])
		} else if _, err := system.ReadPlan(bad); err == nil {
			t.Errorf("a plan with %s is read", change[1])
		}
	}
}

// TestLinkedPlansDrawWhatFollows: a plan from a file is refused if a model of it could not draw
// rows that follow others. Otherwise its fit would pay, and then fail.
func TestLinkedPlansDrawWhatFollows(t *testing.T) {
	p := linkedPlan(t, accountant.Budget{Epsilon: 3, Delta: 1e-6}, 2)
	d := shop(t)
	s, known, _ := d.Seen(0)
	system := synth.Systems{compose.Systems(tables.Systems())[5]}
	for want, of := range map[string]func(accountant.Budget) (synth.Plan, error){
		"a tree": func(b accountant.Budget) (synth.Plan, error) { return tables.MST{}.PlanFor(s, b) },
		"all":    func(b accountant.Budget) (synth.Plan, error) { return tables.AIM{}.PlanFor(s, b) },
		"fewer": func(b accountant.Budget) (synth.Plan, error) {
			return tables.AIM{}.After(known-1).PlanFor(s, b)
		},
		"": func(b accountant.Budget) (synth.Plan, error) {
			return tables.AIM{}.After(known).PlanFor(s,
				b)
		},
	} {
		var whole, config map[string]json.RawMessage
		var plans []json.RawMessage
		var part struct{ Budget accountant.Budget }
		decode := func(text []byte, into any) {
			if err := json.Unmarshal(text, into); err != nil {
				t.Fatal(err)
			}
		}
		decode(must(json.Marshal(p))(t), &whole)
		decode(whole["config"], &config)
		decode(config["plans"], &plans)
		decode(plans[1], &part)
		plans[1] = must(json.Marshal(must(of(part.Budget))(t)))(t)
		config["plans"] = must(json.Marshal(plans))(t)
		whole["config"] = must(json.Marshal(config))(t)
		if _, err := system.ReadPlan(must(json.Marshal(whole))(t)); (err != nil) != (want != "") {
			t.Errorf("%q: error %v", want, err)
		}
	}
}

// TestManyRowsAreDrawnInSmallParts: the parts of a draw have fewer rows of the root if each may
// have many rows.
func TestManyRowsAreDrawnInSmallParts(t *testing.T) {
	d := shop(t)
	d.Children[0].Most, d.Children[0].Children[0].Most = 1000, 4
	aim := tables.AIM{Rounds: 1}
	p := must(compose.Linked{Tables: d, Of: aim, Each: aim}.PlanFor(d.Full(),
		accountant.Budget{Epsilon: 100, Delta: 1e-6}))(t)
	none := records.Keyed{Rows: must(records.FromValues(d.Children[0].Schema))(t),
		Parents: [][]string{nil}}
	items := records.Keyed{Rows: must(records.FromValues(d.Children[0].Children[0].Schema))(t),
		Parents: [][]string{nil, nil}}
	roots := must(records.FromValues(d.Schema, slices.Repeat([][]any{{"n", 20}}, 3000)...))(t)
	keys := make([]string, 3000)
	for i := range keys {
		keys[i] = fmt.Sprint(i)
	}
	g := must(p.Fit(t.Context(), must(records.Link(d, records.Keyed{Rows: roots, Keys: keys}, none,
		items))(t)))(t)
	total := 0
	for _, l := range must(drawnTables(t.Context(), g, 2000))(t) {
		if total += l.Len(); l.Len() > (1<<20)/5001 {
			t.Errorf("%d rows of the root, each with up to 5,000 others", l.Len())
		}
	}
	if total != 2000 {
		t.Errorf("%d rows of the root, want 2000", total)
	}
}

// must returns a function that returns v, or ends the test if there is an error.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
