package ledger_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
)

var txBudget = accountant.Budget{Epsilon: 1, Delta: 1e-5}

func gaussianEvent(z float64) accountant.Event { return accountant.Gaussian{NoiseMultiplier: z} }

// run returns a transaction of several stages, the last of them in three disjoint parts.
func run(id string, z float64) ledger.Transaction {
	t := ledger.Transaction{ID: id, Groups: []ledger.Parts{{Purpose: "by class", N: 3}},
		Lines: []ledger.Line{
			{Purpose: "counts", Event: gaussianEvent(z), Count: 1},
			{Purpose: "steps", Event: accountant.PoissonSampled{Probability: .01,
				Event: gaussianEvent(z)},
				Count: 50},
			{Purpose: "steps", Event: accountant.PoissonSampled{Probability: .01,
				Event: gaussianEvent(z)},
				Count: 20},
		}}
	for part := range 3 {
		t.Lines = append(t.Lines,
			ledger.Line{Purpose: "mixtures", Event: gaussianEvent(3 * z), Count: 4,
				Group: 1, Part: part})
	}
	return t
}

// TestTransactionPricesWhatReserveWould: a transaction costs the same as its lines reserved one by
// one.
func TestTransactionPricesWhatReserveWould(t *testing.T) {
	whole, single := ledger.New(txBudget), ledger.New(txBudget)
	if _, err := whole.ReserveAll(run("a", 10)); err != nil {
		t.Fatal(err)
	}
	var children []*ledger.Ledger
	for _, line := range run("", 10).Lines {
		at := single
		if line.Group > 0 {
			if children == nil {
				var err error
				if children, err = single.Disjoint(ledger.Parts{Purpose: "by class", N: 3}); err != nil {
					t.Fatal(err)
				}
			}
			at = children[line.Part]
		}
		if _, err := at.Reserve(line.Purpose, line.Event, line.Count); err != nil {
			t.Fatal(err)
		}
	}
	if a, b := whole.Epsilon(), single.Epsilon(); a != b || !(a.Upper > 0) {
		t.Errorf("the lines cost %v together, but %v one by one", a, b)
	}
	a, b := whole.Guarantee(), single.Guarantee()
	if !reflect.DeepEqual(a, b) {
		t.Errorf("guarantees differ:\n%v\n%v", a, b)
	}
}

// TestTransactionIsAllOrNothing: if not all lines of a transaction fit, or the policy refuses a
// line, nothing is reserved.
func TestTransactionIsAllOrNothing(t *testing.T) {
	l := ledger.New(txBudget)
	tx := run("a", 10)
	tx.Lines = append(tx.Lines, ledger.Line{Purpose: "more", Event: gaussianEvent(3.9), Count: 1})
	if _, err := l.ReserveAll(tx); !errors.Is(err, accountant.ErrBudgetExceeded) {
		t.Fatalf("got %v, want ErrBudgetExceeded", err)
	}
	if len(l.Entries())+len(l.Children()) != 0 || l.Epsilon().Upper != 0 {
		t.Error("something was set aside")
	}
	if _, err := l.ReserveAll(run("a", 10)); err != nil {
		t.Errorf("the ID of a refused transaction is taken: %v", err)
	}
	var asked int
	veto := errors.New("no")
	strict := ledger.New(txBudget, ledger.WithPolicy(func(r ledger.Request) error {
		if asked++; r.Purpose == "mixtures" {
			return veto
		}
		return nil
	}))
	if _, err := strict.ReserveAll(run("a", 10)); !errors.Is(err, veto) || asked != 4 {
		t.Errorf("got %d requests to the policy and %v, want 4 and the veto", asked, err)
	}
	if len(strict.Entries())+len(strict.Children()) != 0 {
		t.Error("a vetoed transaction was set aside")
	}
}

// TestConcurrentTransactionsNeverStrandEachOther: of twelve transactions on a ledger that can pay
// for six, exactly six are reserved, each of them whole.
func TestConcurrentTransactionsNeverStrandEachOther(t *testing.T) {
	one := must(accountant.Epsilon(accountant.Repeated{Event: gaussianEvent(12), Count: 12}, 1e-5,
		accountant.AddOrRemoveOne))(t)
	l := ledger.New(accountant.Budget{Epsilon: one.Upper * (1 + 1e-9), Delta: 1e-5})
	var paid, refused atomic.Int64
	var group sync.WaitGroup
	for range 12 {
		group.Go(func() {
			_, err := l.ReserveAll(ledger.Transaction{Lines: []ledger.Line{
				{Purpose: "first", Event: gaussianEvent(12), Count: 1},
				{Purpose: "second", Event: gaussianEvent(12), Count: 1}}})
			switch {
			case err == nil:
				paid.Add(1)
			case errors.Is(err, accountant.ErrBudgetExceeded):
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	group.Wait()
	if paid.Load() != 6 || refused.Load() != 6 {
		t.Errorf("%d were reserved and %d refused, want 6 and 6", paid.Load(), refused.Load())
	}
}

func spend(t *testing.T, r *ledger.Reservation, n int) {
	t.Helper()
	for range n {
		if err := r.Spend(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTransactionIsSetAsideOnce: reserving the same ID again returns the remaining uses, without
// the uses that the caller states as taken. The ledger is in memory, or was saved and read back.
func TestTransactionIsSetAsideOnce(t *testing.T) {
	l := ledger.New(txBudget)
	first := must(l.ReserveAll(run("a", 10)))(t)
	spend(t, first[1], 7)
	spend(t, first[5], 2)
	cost := l.Epsilon()
	text := must(json.Marshal(l))(t)
	read := must(ledger.Unmarshal(text))(t)
	for _, l := range []*ledger.Ledger{l, read} {
		again := run("a", 10)
		again.Lines[0].Taken = 1
		again.Lines[1].Taken = 9
		again.Lines[5].Taken = 1
		left := must(l.ReserveAll(again))(t)
		var got []int
		for _, r := range left {
			got = append(got, r.Remaining())
		}
		if want := []int{0, 41, 20, 4, 4, 2}; !reflect.DeepEqual(got, want) {
			t.Errorf("got %v uses left, want %v", got, want)
		}
		if l.Epsilon() != cost {
			t.Errorf("reserving again changed ε to %v, want %v", l.Epsilon(), cost)
		}
		if err := left[0].Spend(); !errors.Is(err, ledger.ErrReservationExhausted) {
			t.Errorf("a use is taken twice: got %v, want ErrReservationExhausted", err)
		}
	}
	// Two reservations of one line cannot take more uses than the line has.
	spend(t, first[2], 20)
	if err := first[2].Spend(); !errors.Is(err, ledger.ErrReservationExhausted) {
		t.Errorf("another use of line 2: got %v, want ErrReservationExhausted", err)
	}
	x, _ := l.ReserveAll(run("a", 10))
	spend(t, x[1], 41)
	if err := first[1].Spend(); !errors.Is(err, ledger.ErrReservationExhausted) {
		t.Errorf("a use that a new reservation took: got %v, want ErrReservationExhausted", err)
	}
}

// TestUsesBesideATransaction: uses of an event that were reserved alone remain when a transaction
// with an ID spends its own uses of the same event for the same purpose, and are no more than that.
func TestUsesBesideATransaction(t *testing.T) {
	l := ledger.New(txBudget)
	own := must(l.Reserve("counts", gaussianEvent(10), 2))(t)
	spend(t, must(l.ReserveAll(ledger.Transaction{ID: "a", Lines: []ledger.Line{
		{Purpose: "counts", Event: gaussianEvent(10), Count: 3}}}))(t)[0], 3)
	spend(t, own, 2)
	if err := own.Spend(); !errors.Is(err, ledger.ErrReservationExhausted) {
		t.Errorf("a third use: got %v, want ErrReservationExhausted", err)
	}
}

func TestTransactionRefusesOtherLinesUnderItsID(t *testing.T) {
	l := ledger.New(txBudget)
	if _, err := l.ReserveAll(run("a", 10)); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*ledger.Transaction){
		"event":   func(x *ledger.Transaction) { x.Lines[0].Event = gaussianEvent(11) },
		"count":   func(x *ledger.Transaction) { x.Lines[0].Count = 2 },
		"purpose": func(x *ledger.Transaction) { x.Lines[0].Purpose = "other" },
		"part":    func(x *ledger.Transaction) { x.Lines[3].Part = 1 },
		"parts":   func(x *ledger.Transaction) { x.Groups[0].N = 4 },
		"fixed":   func(x *ledger.Transaction) { x.Groups[0].Fixed = !x.Groups[0].Fixed },
		"moves":   func(x *ledger.Transaction) { x.Groups[0].MovesCovered = true },
		"fewer":   func(x *ledger.Transaction) { x.Lines = x.Lines[1:] },
		"shorter": func(x *ledger.Transaction) { x.Lines = x.Lines[:len(x.Lines)-1] },
		"longer":  func(x *ledger.Transaction) { x.Lines = append(x.Lines, x.Lines[0]) },
		"group":   func(x *ledger.Transaction) { x.Lines[0].Group = 1 },
		"groups": func(x *ledger.Transaction) {
			x.Groups = append(x.Groups, ledger.Parts{Purpose: "more", N: 2})
		},
	} {
		x := run("a", 10)
		change(&x)
		var e *param.Error
		if _, err := l.ReserveAll(x); !errors.As(err, &e) {
			t.Errorf("%s: got %v, want a *param.Error", name, err)
		}
	}
	for name, x := range map[string]ledger.Transaction{
		"none":  {},
		"nil":   {Lines: []ledger.Line{{Purpose: "x", Count: 1}}},
		"zero":  {Lines: []ledger.Line{{Purpose: "x", Event: gaussianEvent(9)}}},
		"taken": {Lines: []ledger.Line{{Purpose: "x", Event: gaussianEvent(9), Count: 1, Taken: 2}}},
		"group": {Lines: []ledger.Line{{Purpose: "x", Event: gaussianEvent(9), Count: 1, Group: 1}}},
	} {
		var e *param.Error
		if _, err := l.ReserveAll(x); !errors.As(err, &e) {
			t.Errorf("%s: got %v, want a *param.Error", name, err)
		}
	}
}

// TestResumeLeavesTransactionsAlone: Resume does not return uses of a transaction with an ID.
func TestResumeLeavesTransactionsAlone(t *testing.T) {
	l := ledger.New(txBudget)
	if _, err := l.ReserveAll(run("a", 10)); err != nil {
		t.Fatal(err)
	}
	e := run("", 10).Lines[1].Event
	if _, err := l.Resume("steps", e); !errors.Is(err, ledger.ErrReservationExhausted) {
		t.Errorf("got %v, want ErrReservationExhausted", err)
	}
	if _, err := l.Reserve("steps", e, 3); err != nil {
		t.Fatal(err)
	}
	if r, err := l.Resume("steps", e); err != nil || r.Remaining() != 3 {
		t.Errorf("got %v, %v, want 3 uses", r, err)
	}
}

// TestHostileTransactionsInFiles: a file cannot give a run more uses than its entries hold.
func TestHostileTransactionsInFiles(t *testing.T) {
	l := ledger.New(txBudget)
	first := must(l.ReserveAll(run("a", 10)))(t)
	spend(t, first[1], 7)
	text := must(json.Marshal(l))(t)
	for name, change := range map[string]func(line map[string]any, tx map[string]any){
		"more":      func(line, _ map[string]any) { line["reserved"] = 71 },
		"less gone": func(line, _ map[string]any) { line["spent"] = -1 },
		"too much":  func(line, _ map[string]any) { line["spent"] = 8 },
		"elsewhere": func(line, _ map[string]any) { line["purpose"] = "other" },
		"no group":  func(line, _ map[string]any) { line["group"] = 2 },
		"no ID":     func(_, tx map[string]any) { tx["id"] = "" },
		"far group": func(_, tx map[string]any) { tx["groups"] = []int{7} },
	} {
		var doc map[string]any
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		tx := doc["transactions"].([]any)[0].(map[string]any)
		change(tx["lines"].([]any)[1].(map[string]any), tx)
		bad := must(json.Marshal(doc))(t)
		if _, err := ledger.Unmarshal(bad); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
