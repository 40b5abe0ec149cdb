package ledger

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
)

var step = accountant.PoissonSampled{
	Probability: 0.01,
	Event:       accountant.Gaussian{NoiseMultiplier: 1.5},
}

func TestLedgerRefusesBeyondBudget(t *testing.T) {
	l := New(accountant.Budget{Epsilon: 1, Delta: 1e-5})
	n, _, err := accountant.CalibrateCount(
		l.Budget(),
		1<<20,
		func(n int) accountant.Event { return accountant.Repeated{Event: step, Count: n} },
	)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Reserve("too much", step, 2*n); !errors.Is(err, accountant.ErrBudgetExceeded) {
		t.Error(err)
	}
	if len(l.Entries()) != 0 || l.Epsilon() != (accountant.Bound{}) {
		t.Error("a refused reservation changed the ledger")
	}
	r := must[*Reservation](t)(l.Reserve("training", step, n))
	if got := l.Epsilon().Upper; got > 1 || got < 0.99 {
		t.Errorf("published ε = %g, want slightly below 1", got)
	}
	if err := l.Spend("more", accountant.Gaussian{NoiseMultiplier: 10}); !errors.Is(
		err,
		accountant.ErrBudgetExceeded,
	) {
		t.Error(err)
	}
	almost := accountant.Gaussian{NoiseMultiplier: 1e9}
	if err := l.Spend("an event that costs almost nothing", almost); err != nil &&
		!errors.Is(err, accountant.ErrBudgetExceeded) {
		t.Error(err)
	}
	for range n {
		if err := r.Spend(); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Spend(); !errors.Is(err, ErrReservationExhausted) || r.Remaining() != 0 ||
		r.entry.spent != n {
		t.Error(err, r.Remaining(), r.entry.spent)
	}
	if !accountant.EqualEvents(r.Event(), step) {
		t.Error(r.Event())
	}
}

func TestLedgerMillionSteps(t *testing.T) {
	e := accountant.PoissonSampled{Probability: 1e-4, Event: accountant.Gaussian{NoiseMultiplier: 3}}
	l := New(accountant.Budget{Epsilon: 3, Delta: 1e-5})
	const n = 1_000_000
	r := must[*Reservation](t)(l.Reserve("training", e, n))
	last, priced, knot := 0.0, 0, -1
	for i := range n {
		if err := r.Spend(); err != nil {
			t.Fatal(err)
		}
		eps := l.EpsilonSoFar()
		if eps < last {
			t.Fatalf("step %d: ε so far fell from %g to %g", i, last, eps)
		}
		last = eps
		if k := l.soFar.knots[0]; k != knot {
			priced, knot = priced+1, k
		}
	}
	// The full accountant runs at counts that grow by the factor knotRatio = 1.25. There are
	// log(n)/log(1.25) < 62 such counts below a million.
	if priced > 64 {
		t.Errorf("the full accountant ran %d times in %d steps, want at most 64 times", priced, n)
	}
	if full := l.Epsilon(); last < full.Lower || last > full.Upper*1.001 {
		t.Errorf("ε so far is %g after all steps, want about the published %+v", last, full)
	}
}

func TestLedgerSpendsOneByOne(t *testing.T) {
	l := New(accountant.Budget{Epsilon: 1, Delta: 1e-5})
	n := 0
	for ; n < 1<<20; n++ {
		if err := l.Spend("step", step); err != nil {
			if !errors.Is(err, accountant.ErrBudgetExceeded) {
				t.Fatal(err)
			}
			break
		}
	}
	want, _, err := accountant.CalibrateCount(
		l.Budget(),
		1<<20,
		func(n int) accountant.Event { return accountant.Repeated{Event: step, Count: n} },
	)
	if err != nil || n != want {
		t.Errorf("%d steps fit one by one, %d at once (%v)", n, want, err)
	}
	if l.Epsilon().Upper > 1 {
		t.Error("over budget")
	}
}

func TestLedgerIsSafeForConcurrentUse(t *testing.T) {
	l := New(accountant.Budget{Epsilon: 1, Delta: 1e-5})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 40 {
				if err := l.Spend("step", accountant.Gaussian{NoiseMultiplier: 60}); err != nil &&
					!errors.Is(err, accountant.ErrBudgetExceeded) {
					t.Error(err)
				}
				l.EpsilonSoFar()
				l.Entries()
			}
		})
	}
	wg.Wait()
	if b := l.Epsilon(); b.Upper > 1 || b.Upper < 0.9 {
		t.Errorf("got %+v after all uses that fit, want slightly below 1", b)
	}
}

func TestLedgerRoundTrip(t *testing.T) {
	l := New(accountant.Budget{Epsilon: 50, Delta: 1e-5})
	for kind, x := range everyEvent(t) {
		if x.r != accountant.AddOrRemoveOne {
			continue
		}
		r := must[*Reservation](t)(l.Reserve(kind, x.e, 2))
		if err := r.Spend(); err != nil {
			t.Fatal(err)
		}
		r.Note(RealNoise)
	}
	parts := must[[]*Ledger](t)(l.Disjoint(Parts{Purpose: "clusters", N: 2}))
	if err := parts[0].Spend("mean", accountant.Gaussian{NoiseMultiplier: 5}); err != nil {
		t.Fatal(err)
	}
	data := must[[]byte](t)(json.Marshal(l))
	back := must[*Ledger](t)(Unmarshal(data))
	if !reflect.DeepEqual(l.Entries(), back.Entries()) {
		t.Error("entries changed")
	}
	if a, b := l.Epsilon(), back.Epsilon(); a != b {
		t.Errorf("reading the ledger back changed ε from %+v to %+v", a, b)
	}
	again := must[[]byte](t)(json.Marshal(back))
	if string(again) != string(data) {
		t.Error("second writing differs")
	}
	if _, err := back.Resume("gaussian", accountant.Gaussian{NoiseMultiplier: 2}); err != nil {
		t.Error(err)
	}
	if _, err := back.Resume("gaussian", accountant.Gaussian{NoiseMultiplier: 3}); !errors.Is(
		err,
		ErrReservationExhausted,
	) {
		t.Error(err)
	}
	for _, bad := range []string{`{}`, `{"version":2}`, `null`,
		strings.Replace(string(data), `"version":1`, `"version":3`, 1),
		strings.Replace(string(data), `"spent":1`, `"spent":7`, 1),
		strings.Replace(string(data), `"reserved":2`, `"reserved":0`, 1),
		strings.Replace(string(data), `"kind":"gaussian"`, `"kind":"gauss"`, 1),
		strings.Replace(string(data), `"noise_multiplier"`, `"noise_multplier"`, 1)} {
		if _, err := Unmarshal([]byte(bad)); err == nil {
			t.Errorf("accepted %.60s", bad)
		}
	}
}

func TestLedgerDisjointChildrenShareTheBudget(t *testing.T) {
	l := New(accountant.Budget{Epsilon: 1, Delta: 1e-5})
	parts := must[[]*Ledger](t)(l.Disjoint(Parts{Purpose: "clusters", N: 3}))
	n, _, err := accountant.CalibrateCount(
		l.Budget(),
		1<<20,
		func(n int) accountant.Event { return accountant.Repeated{Event: step, Count: n} },
	)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range parts {
		if _, err := p.Reserve("training", step, n); err != nil {
			t.Errorf("part %d: %v", i, err)
		}
	}
	if _, err := parts[1].Reserve("more", step, n); !errors.Is(err, accountant.ErrBudgetExceeded) {
		t.Error(err)
	}
	if err := l.Spend("whole", accountant.Gaussian{NoiseMultiplier: 10}); !errors.Is(
		err,
		accountant.ErrBudgetExceeded,
	) {
		t.Error(err)
	}
	if e := l.Epsilon().Upper; e > 1 || e < 0.99 {
		t.Errorf("parent and children cost %g, want slightly below 1", e)
	}
}

func TestLedgerPolicyAndFilter(t *testing.T) {
	refusal := errors.New("central budget is gone")
	asked := 0
	l := New(accountant.Budget{Epsilon: 1, Delta: 1e-5}, WithPolicy(func(r Request) error {
		if asked++; r.Purpose == "secret" {
			return refusal
		}
		return nil
	}))
	if err := l.Spend("secret", accountant.Gaussian{NoiseMultiplier: 100}); !errors.Is(err, refusal) ||
		len(l.Entries()) != 0 {
		t.Error(err)
	}
	if err := l.Spend("open", accountant.Gaussian{NoiseMultiplier: 100}); err != nil || asked != 2 {
		t.Error(err, asked)
	}
	f := New(accountant.Budget{Epsilon: 1, Delta: 1e-5}, WithFilter(20))
	for f.Spend("chosen after looking", accountant.Gaussian{NoiseMultiplier: 30}) == nil {
	}
	rdp := must[float64](t)(accountant.RDP(f.Event(), 20, accountant.AddOrRemoveOne))
	if e := accountant.EpsilonFromRDP(20, rdp, 1e-5); e > 1 || e < 0.9 {
		t.Errorf("a filter of order 20 stops at ε = %g, want slightly below 1", e)
	}
	if e := f.Epsilon().Upper; e != 1 {
		t.Errorf("a filter of order 20 publishes ε = %g, want 1", e)
	}
	if New(
		accountant.Budget{Epsilon: 1, Delta: 1e-5},
		WithFilter(1),
	).Spend("x", accountant.Gaussian{NoiseMultiplier: 9}) ==
		nil {
		t.Error("a filter of order 1 spends")
	}
}

func TestGuaranteeSaysEverything(t *testing.T) {
	l := New(accountant.Budget{Epsilon: 2, Delta: 1e-5})
	k := must[*Reservation](
		t,
	)(
		l.Reserve("k-means", accountant.SameBatch{NoiseMultipliers: []float64{60, 40}}, 20),
	)
	k.Note(ExactNoise)
	if err := k.Spend(); err != nil {
		t.Fatal(err)
	}
	s := must[*Reservation](t)(l.Reserve("training", step, 1000))
	s.Note(RealNoise)
	g := l.Guarantee()
	text := g.String()
	for _, want := range []string{"ε = ", "δ = 1e-05", "presence of one record", "one record",
		"privacy loss distribution", "Poisson", "k-means", "training", "1000 ×",
		"2^-23·B²", "exact: ", "Not covered", "hyper-parameters", "quality reports", "running time",
		"declared public", "*"} {
		if !strings.Contains(text, want) {
			t.Errorf("the guarantee does not say %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "NOT PRIVATE") {
		t.Error("the guarantee says that the run is not private")
	}
	var back Guarantee
	if err := json.Unmarshal(must[[]byte](t)(json.Marshal(g)), &back); err != nil ||
		!reflect.DeepEqual(g, back) {
		t.Errorf("%v\n%+v\n%+v", err, g, back)
	}
	l.MarkNotPrivate("deterministic test noise: not private")
	if text := l.Guarantee().String(); !strings.Contains(text,
		"NOT PRIVATE: deterministic test noise") {
		t.Error(text)
	}
}
