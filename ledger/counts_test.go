package ledger

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
)

func TestLedgerPricesWhatWasReserved(t *testing.T) {
	noise := []float64{2, 2}
	l := New(accountant.Budget{Epsilon: 9, Delta: 1e-5})
	r := must[*Reservation](t)(l.Reserve("batch", accountant.SameBatch{NoiseMultipliers: noise}, 3))
	want := must[accountant.Bound](
		t,
	)(
		accountant.Epsilon(
			accountant.Repeated{Event: accountant.SameBatch{NoiseMultipliers: []float64{2, 2}}, Count: 3},
			1e-5,
			accountant.AddOrRemoveOne,
		),
	).Upper
	noise[0] = 1e9
	r.Event().(accountant.SameBatch).NoiseMultipliers[1] = 1e9
	l.Entries()[0].Event.(accountant.SameBatch).NoiseMultipliers[1] = 1e9
	first := l.Event().(accountant.Composed).Events[0].(accountant.Repeated).Event
	first.(accountant.SameBatch).NoiseMultipliers[1] = 1e9
	if got := l.Epsilon().Upper; math.Abs(got-want) > 1e-9*want {
		t.Errorf("changes of the caller's events changed ε from %g to %g", want, got)
	}
}

func TestLedgerCountsDoNotOverflow(t *testing.T) {
	l := New(accountant.Budget{Epsilon: 1, Delta: 1e-5})
	for range 6 {
		if _, err := l.Reserve("nothing", accountant.Composed{}, maxCount); err != nil {
			var p *param.Error
			if !errors.As(err, &p) {
				t.Fatal(err)
			}
		}
	}
	if e := l.Entries()[0]; e.Reserved != maxCount || math.IsInf(l.Epsilon().Upper, 1) {
		t.Errorf("%+v %v", e, l.Epsilon())
	}
}

// TestSpendingOneByOneIsMarked: events reserved after a first release are marked as late, and the
// guarantee states the condition on their number.
func TestSpendingOneByOneIsMarked(t *testing.T) {
	l := New(accountant.Budget{Epsilon: 9, Delta: 1e-5})
	for range 3 {
		if err := l.Spend("look", accountant.Gaussian{NoiseMultiplier: 9}); err != nil {
			t.Fatal(err)
		}
	}
	if !l.Entries()[0].Late ||
		!strings.Contains(strings.Join(strings.Fields(l.Guarantee().String()), " "),
			"their number were fixed before it") {
		t.Error(l.Guarantee())
	}
	whole := New(accountant.Budget{Epsilon: 9, Delta: 1e-5})
	r := must[*Reservation](t)(whole.Reserve("look", accountant.Gaussian{NoiseMultiplier: 9}, 3))
	for r.Spend() == nil {
	}
	if whole.Entries()[0].Late {
		t.Error("a reservation made before anything was released is marked")
	}
}

func TestFilterPublishesItsBudget(t *testing.T) {
	l := New(accountant.Budget{Epsilon: 2, Delta: 1e-5}, WithFilter(16))
	if e := l.Epsilon(); e.Upper != 0 {
		t.Error(e)
	}
	if err := l.Spend("a first look", accountant.Gaussian{NoiseMultiplier: 50}); err != nil {
		t.Fatal(err)
	}
	if g := l.Guarantee(); g.Epsilon != 2 || l.Epsilon().Upper != 2 || !(l.EpsilonSoFar() < 2) {
		t.Errorf("%v, so far %g", g, l.EpsilonSoFar())
	}
	if err := l.Spend("approximate", accountant.Approximate{Epsilon: 0.01, Delta: 1e-7}); !errors.Is(
		err,
		accountant.ErrUnsupported,
	) {
		t.Error(err)
	}
}

func TestReadersWantEveryField(t *testing.T) {
	entry := `{"purpose":"a","event":{"kind":"gaussian","noise_multiplier":9},"reserved":3,"spent":1}`
	good := `{"version":1,"budget":{"epsilon":1,"delta":1e-5,"relation":"replace_one"},"entries":[` +
		entry + `]}`
	if _, err := Unmarshal([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, cut := range []string{`,"relation":"replace_one"`, `,"entries":[` + entry + `]`,
		`,"spent":1`, `"purpose":"a",`} {
		if l, err := Unmarshal([]byte(strings.Replace(good, cut, "", 1))); err == nil || l != nil {
			t.Errorf("a ledger without %s is read", cut)
		}
	}
	if _, err := Unmarshal([]byte(good + good)); err == nil {
		t.Error("two ledgers read as one")
	}
	for _, bad := range []string{`{}`, `{"epsilon":null,"delta":1e-5,"relation":"replace_one"}`,
		`{"epsilon":-1,"delta":1e-5,"relation":"replace_one"}`, `{"epsilon":1,"delta":1e-5}`} {
		var g Guarantee
		if json.Unmarshal([]byte(bad), &g) == nil {
			t.Errorf("%s is read as a guarantee of ε = %g", bad, g.Epsilon)
		}
	}
}
