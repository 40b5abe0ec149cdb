package frontdoor_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/baselines"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
)

// TestTableChainsSetEveryField compares plans of chains with plans of the same settings.
func TestTableChainsSetEveryField(t *testing.T) {
	s, err := records.NewSchema(records.Numeric("x", 0, 1), records.Categorical("c", "a", "b"),
		records.Label("class", "u", "v"))
	if err != nil {
		t.Fatal(err)
	}
	b := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	tables := baselines.Tables{Schema: s, Budget: b, Nominal: 900, Seed: 7, Bins: 9, Fine: 40,
		ColumnPart: 0.2, WithinPart: 0.04, Cells: 5000, ClassWeight: 3, Coarse: 4}
	aim, err1 := baselines.AIM{Tables: tables, Rounds: 6, Order: 2, ClassPart: 0.3}.Plan()
	mst, err2 := baselines.MST{Tables: tables}.Plan()
	with := func(c privgen.TableChain) privgen.TableChain {
		return c.Nominal(900).Seed(7).Bins(9).Fine(40).ColumnPart(0.2).WithinPart(0.04).Cells(5000).
			ClassWeight(3).Coarse(4)
	}
	gotAIM, err3 := with(privgen.AIM(s, b)).Rounds(6).Order(2).ClassPart(0.3).Plan()
	gotMST, err4 := with(privgen.MST(s, b)).Plan()
	for _, err := range []error{err1, err2, err3, err4} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range [][2]privgen.Plan{{gotAIM, aim}, {gotMST, mst}} {
		got, err1 := json.Marshal(c[0])
		want, err2 := json.Marshal(c[1])
		if err1 != nil || err2 != nil || string(got) != string(want) {
			t.Errorf("the chain's plan is %s, want %s; %v, %v", got, want, err1, err2)
		}
	}
}

// TestMSTRefusesOptionsOfAIM: an option that does not apply is an error.
func TestMSTRefusesOptionsOfAIM(t *testing.T) {
	s, err := records.NewSchema(records.Numeric("x", 0, 1), records.Categorical("c", "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	mst := privgen.MST(s, accountant.Budget{Epsilon: 1, Delta: 1e-5}).Nominal(900)
	for name, c := range map[string]privgen.TableChain{"Rounds": mst.Rounds(5), "Order": mst.Order(3),
		"ClassPart": mst.ClassPart(0.3)} {
		_, err := c.Plan()
		if wrong := new(param.Error); !errors.As(err, &wrong) || wrong.Path != "privgen.MST."+name {
			t.Errorf("%s: got error %v", name, err)
		}
	}
}
