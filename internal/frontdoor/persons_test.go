package frontdoor_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
)

// TestSystemsTakePersons checks the plans of all systems for persons with several rows. Each plan
// must state both units, also after JSON. It must refuse single rows and ledgers that protect
// records before it spends anything. It must make a generator of single rows that can be saved and
// loaded. A pool supports single rows only; its error must name a system that supports persons.
func TestSystemsTakePersons(t *testing.T) {
	s := records.Sets(15, 4)
	var sets [][]uint32
	var keys []int
	for i := range 60 {
		sets, keys = append(sets, []uint32{uint32(i) % 5, 5 + uint32(i)%7}), append(keys, i*i%23)
	}
	rows, err := records.FromItems(s, sets)
	if err != nil {
		t.Fatal(err)
	}
	persons, err := records.GroupBy(rows, keys, 3)
	if err != nil {
		t.Fatal(err)
	}
	budget := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	all := everyPlan(t, persons.Schema(), budget)
	byRow := everyPlan(t, s, budget)
	for i, p := range all {
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		read, err := privgen.ReadPlan(text)
		if err != nil {
			t.Fatalf("%s: %v", p.System(), err)
		}
		both := "one user with all rows, of which at most 3 are read; for one row of a user with " +
			"further rows: ε = "
		got := read.String()
		if got != p.String() || !strings.Contains(strings.Join(strings.Fields(got), " "), both) {
			t.Errorf("%s: the plan does not state both units:\n%v", p.System(), got)
		}
		users := ledger.New(budget, ledger.WithUnit(records.UnitUser))
		plain := ledger.New(budget)
		refused := func(p privgen.Plan, l *ledger.Ledger, d records.Data) {
			t.Helper()
			_, err := p.FitOn(t.Context(), l, d)
			if wrong := new(param.Error); !errors.As(err, &wrong) || len(l.Guarantee().Entries) > 0 {
				t.Errorf("%s: got error %v and %d entries, want a *param.Error and none", p.System(), err,
					len(l.Guarantee().Entries))
			}
		}
		refused(read, plain, persons)
		refused(read, users, records.WithUnit(rows, records.UnitUser))
		refused(byRow[i], users, persons)
		gen, err := read.FitOn(t.Context(), users, persons)
		if err != nil {
			t.Fatalf("%s: %v", p.System(), err)
		}
		if g := gen.Guarantee(); g.Unit != records.UnitUser || g.RowsPerUnit != 3 {
			t.Errorf("%s: the guarantee protects one %s of %d rows, want one user of 3", p.System(), g.Unit,
				g.RowsPerUnit)
		}
		path := t.TempDir() + "/generator"
		if err := gen.SaveFile(path); err != nil {
			t.Fatal(err)
		}
		back, err := privgen.LoadFile(path)
		if err != nil {
			t.Fatalf("%s: %v", p.System(), err)
		}
		drawn, err := back.Sample(t.Context(), 9)
		if err != nil || drawn.Len() != 9 || drawn.Schema().RowsPerPerson() != 0 ||
			back.Schema().RowsPerPerson() != 0 || back.Guarantee().RowsPerUnit != 3 {
			t.Errorf("%s: %v, %v", p.System(), err, back.Guarantee())
		}
	}
	var pool compose.Pool
	for _, p := range all {
		pool.Of = append(pool.Of, compose.Fixed(p))
	}
	_, err = pool.PlanFor(all[0].Schema(), accountant.Budget{Epsilon: 9, Delta: 1e-5})
	if wrong := new(param.Error); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "merf") {
		t.Errorf("a pool for persons: got error %v, want a *param.Error that names merf", err)
	}
}
