package compose_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"testing"
	"testing/fstest"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/tables"
)

// shop describes customers, their orders in time, and the items of an order.
func shop(t testing.TB) records.Tables {
	schema := func(columns ...records.Column) records.Schema {
		s, err := records.NewSchema(columns...)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	return records.Tables{Name: "customers", Key: "customer",
		Schema: schema(records.Categorical("region", "n", "s", "e"), records.Integer("age", 18, 90)),
		Children: []records.Tables{{Name: "orders", Key: "order", Parents: []string{"customer"}, Most: 6,
			Ordered: true,
			Schema:  schema(records.Categorical("state", "a", "b", "c"), records.Numeric("amount", 0, 100)),
			Children: []records.Tables{{Name: "items", Parents: []string{"customer", "order"}, Most: 3,
				Schema: schema(records.Flag("gift", "no", "yes"))}}}}}
}

// shopped returns n customers whose rows depend on their parents and predecessors.
func shopped(t testing.TB, n int, seed uint64) *records.Linked {
	rng := rand.New(rand.NewPCG(seed, 1))
	d := shop(t)
	names := func(n int) []string { return make([]string, 0, n) }
	var rows [3][][]any
	keys := [3][]string{}
	var parents [3][][]string
	parents[1], parents[2] = [][]string{names(n)}, [][]string{names(n), names(n)}
	for c := range n {
		region := rng.IntN(3)
		customer := fmt.Sprint("c", c)
		rows[0] = append(rows[0], []any{[]string{"n", "s", "e"}[region], 18 + rng.IntN(30) + 20*region})
		keys[0] = append(keys[0], customer)
		state := region
		for o := range rng.IntN(4 + 2*region) {
			if o > 0 && rng.Float64() < 0.3 {
				state = (state + 1) % 3
			}
			order := fmt.Sprint("o", o)
			rows[1] = append(rows[1], []any{[]string{"a", "b", "c"}[state], 30*float64(state) + 10*rng.Float64()})
			keys[1] = append(keys[1], order)
			parents[1][0] = append(parents[1][0], customer)
			for range rng.IntN(3) {
				gift := "no"
				if rng.Float64() < 0.1+0.4*float64(state) {
					gift = "yes"
				}
				rows[2] = append(rows[2], []any{gift})
				parents[2][0] = append(parents[2][0], customer)
				parents[2][1] = append(parents[2][1], order)
			}
		}
	}
	var all []records.Keyed
	for i, s := range []records.Schema{d.Schema, d.Children[0].Schema, d.Children[0].Children[0].Schema} {
		f, err := records.FromValues(s, rows[i]...)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, records.Keyed{Rows: f, Keys: keys[i], Parents: parents[i]})
	}
	l, err := records.Link(d, all...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func linkedFit(t testing.TB, l *records.Linked, epsilon float64, opts ...synth.Option) *synth.Generator {
	c := compose.Linked{Tables: l.Tables(), Of: tables.AIM{Common: tables.Common{Nominal: 3000}},
		Each: tables.AIM{Common: tables.Common{Nominal: 3000}}}
	p, err := c.PlanFor(l.Schema(), accountant.Budget{Epsilon: epsilon, Delta: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Fit(context.Background(), l, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func linkedDraw(t testing.TB, g *synth.Generator, n int) *records.Linked {
	for l, err := range compose.DrawTables(context.Background(), g, n, 1) {
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	t.Fatal("nothing drawn")
	return nil
}

type file struct{ *bytes.Buffer }

func (file) Close() error { return nil }

func TestLinkedTablesKeepTheirRelations(t *testing.T) {
	l := shopped(t, 3000, 1)
	g := linkedFit(t, l, 8)
	out := linkedDraw(t, g, 3000)
	for _, of := range []*records.Linked{l, out} {
		orders, up := of.Table(1)
		stay, pairs := 0, 0
		for i := 1; i < orders.Len(); i++ {
			if up[i] == up[i-1] {
				pairs++
				if orders.Level(i, 0) == orders.Level(i-1, 0) {
					stay++
				}
			}
		}
		roots, _ := of.Table(0)
		same, firsts := 0, 0
		for i := range orders.Len() {
			if i == 0 || up[i] != up[i-1] {
				firsts++
				if orders.Level(i, 0) == roots.Level(int(up[i]), 0) {
					same++
				}
			}
		}
		items, oup := of.Table(2)
		gifts := [3]int{}
		all := [3]int{}
		for i := range items.Len() {
			s := orders.Level(int(oup[i]), 0)
			all[s]++
			gifts[s] += items.Level(i, 0)
		}
		t.Log(orders.Len(), float64(stay)/float64(pairs), float64(same)/float64(firsts), items.Len(),
			gifts, all)
	}
	files := map[string]*bytes.Buffer{}
	err := records.CSV{}.WriteTables(func(name string) (io.WriteCloser, error) {
		files[name] = new(bytes.Buffer)
		return file{files[name]}, nil
	}, l.Tables(), iter.Seq2[*records.Linked, error](func(yield func(*records.Linked, error) bool) { yield(out, nil) }))
	if err != nil {
		t.Fatal(err)
	}
	folder := fstest.MapFS{}
	for name, b := range files {
		folder[name] = &fstest.MapFile{Data: b.Bytes()}
		t.Log(name, string(b.Bytes()[:80]))
	}
	back, err := records.CSV{}.ReadTables(folder, l.Tables())
	if err != nil {
		t.Fatal(err)
	}
	t.Log(back.Len())
}
