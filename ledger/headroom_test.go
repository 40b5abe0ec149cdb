package ledger

import (
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
)

// moody is a policy whose answer a test chooses.
type moody struct{ answer func() error }

func (m *moody) ask(Request) error {
	if m.answer == nil {
		return nil
	}
	return m.answer()
}

// fillUp reserves the most expensive Gaussian that still fits, in steps of half a percent.
func fillUp(t *testing.T, l *Ledger, reserve func(e accountant.Event) error) {
	t.Helper()
	for z := 3.0; z < 1000; z *= 1.005 {
		err := reserve(accountant.Gaussian{NoiseMultiplier: z})
		if err == nil {
			return
		}
		if !errors.Is(err, accountant.ErrBudgetExceeded) {
			t.Fatal(err)
		}
	}
	t.Fatalf("no Gaussian fits: ε = %v", l.Epsilon())
}

// reserveUntilRefused reserves single uses of e until one is refused.
func reserveUntilRefused(t *testing.T, l *Ledger, e accountant.Event) {
	t.Helper()
	for range 10000 {
		_, err := l.Reserve("small", e, 1)
		if errors.Is(err, accountant.ErrBudgetExceeded) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Error("10000 reservations were accepted, want a refusal")
}

func reserveOneByOne(t *testing.T, l *Ledger, e accountant.Event, n int) {
	t.Helper()
	for range n {
		if _, err := l.Reserve("small", e, 1); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLedgerHeadroomAfterRefusals: the cached result of a check is used only for the state that was
// checked. This holds even if the policy refuses or panics and another event is reserved next.
func TestLedgerHeadroomAfterRefusals(t *testing.T) {
	veto := errors.New("veto")
	answers := map[string]func() error{
		"nothing": nil,
		"veto":    func() error { return veto },
		"panic":   func() error { panic(veto) },
	}
	for name, answer := range answers {
		for _, nested := range []bool{false, true} {
			t.Run(name, func(t *testing.T) { refuseAndGoOn(t, answer, nested) })
		}
	}
}

func refuseAndGoOn(t *testing.T, answer func() error, nested bool) {
	var policy moody
	root := New(accountant.Budget{Epsilon: 1, Delta: 1e-5}, WithPolicy(policy.ask))
	at, small := root, accountant.Gaussian{NoiseMultiplier: 100}
	if nested {
		at = must[[]*Ledger](t)(root.Disjoint(Parts{Purpose: "parts", N: 2}))[1]
	}
	reserveOneByOne(t, at, small, 200)
	if room := root.headroom.fits; room < 10 {
		t.Fatalf("headroom for %d uses is cached, want at least 10", room)
	}
	if policy.answer = answer; answer != nil {
		func() {
			defer func() { _ = recover() }()
			if _, err := at.Reserve("small", small, 1); err == nil {
				t.Error("the policy was not asked")
			}
		}()
	}
	policy.answer = nil
	fillUp(t, root, func(e accountant.Event) error {
		_, err := root.ReserveAll(Transaction{Lines: []Line{{Purpose: "big", Event: e, Count: 1}}})
		return err
	})
	reserveUntilRefused(t, at, small)
	if e := root.Epsilon().Upper; e > 1 || e < .99 {
		t.Errorf("ε = %v, want slightly below 1", e)
	}
}

// TestLedgerHeadroomForgetsOtherStates: the cached headroom is dropped when another event, a child
// ledger or a transaction uses up budget.
func TestLedgerHeadroomForgetsOtherStates(t *testing.T) {
	small := accountant.Gaussian{NoiseMultiplier: 100}
	for name, fill := range map[string]func(root *Ledger, e accountant.Event) error{
		"another event": func(root *Ledger, e accountant.Event) error {
			_, err := root.Reserve("big", e, 1)
			return err
		},
		"a child": func(root *Ledger, e accountant.Event) error {
			c := must[[]*Ledger](t)(root.Disjoint(Parts{Purpose: "parts", N: 1}))
			_, err := c[0].Reserve("big", e, 1)
			return err
		},
		"the same event together with another": func(root *Ledger, e accountant.Event) error {
			_, err := root.ReserveAll(Transaction{ID: "a", Lines: []Line{
				{Purpose: "small", Event: small, Count: 3}, {Purpose: "big", Event: e, Count: 1}}})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := New(accountant.Budget{Epsilon: 1, Delta: 1e-5})
			reserveOneByOne(t, root, small, 200)
			if room := root.headroom.fits; room < 10 {
				t.Fatalf("headroom for %d uses is cached, want at least 10", room)
			}
			fillUp(t, root, func(e accountant.Event) error { return fill(root, e) })
			reserveUntilRefused(t, root, small)
			if e := root.Epsilon().Upper; e > 1 || e < .99 {
				t.Errorf("ε = %v, want slightly below 1", e)
			}
		})
	}
}

// TestLedgerHeadroomIsOneParts: the cached headroom of one part is not used for another part, which
// is full.
func TestLedgerHeadroomIsOneParts(t *testing.T) {
	small := accountant.Gaussian{NoiseMultiplier: 100}
	root := New(accountant.Budget{Epsilon: 1, Delta: 1e-5})
	parts := must[[]*Ledger](t)(root.Disjoint(Parts{Purpose: "parts", N: 2}))
	fillUp(t, root, func(e accountant.Event) error {
		_, err := parts[1].Reserve("big", e, 1)
		return err
	})
	reserveUntilRefused(t, parts[1], small)
	reserveOneByOne(t, parts[0], small, 200)
	if room := root.headroom.fits; room < 10 {
		t.Fatalf("headroom for %d uses is cached, want at least 10", room)
	}
	if _, err := parts[1].Reserve("small", small, 1); !errors.Is(err, accountant.ErrBudgetExceeded) {
		t.Errorf("another use in a full part: got %v, want ErrBudgetExceeded", err)
	}
	if e := root.Epsilon().Upper; e > 1 {
		t.Errorf("ε = %v, want at most 1", e)
	}
}

// TestLedgerHeadroomOfSeveralUses: each reservation of several uses takes all of them from the
// headroom.
func TestLedgerHeadroomOfSeveralUses(t *testing.T) {
	l, e := New(accountant.Budget{Epsilon: 1, Delta: 1e-5}), accountant.Gaussian{NoiseMultiplier: 100}
	reserveOneByOne(t, l, e, 200)
	for range 1000 {
		if _, err := l.Reserve("small", e, 10); err != nil {
			break
		}
	}
	if e := l.Epsilon().Upper; e > 1 || e < .99 {
		t.Errorf("ε = %v, want slightly below 1", e)
	}
}

// TestLedgerHeadroomStaysBounded: counts near maxCount do not overflow when headroom is computed.
func TestLedgerHeadroomStaysBounded(t *testing.T) {
	l := New(accountant.Budget{Epsilon: 1, Delta: 1e-5})
	e := accountant.Gaussian{NoiseMultiplier: 1e15}
	for _, purpose := range []string{"a", "b", "c", "d", "e"} {
		if _, err := l.Reserve(purpose, e, maxCount); err != nil {
			t.Fatal(err)
		}
	}
	if n := l.used(must[string](t)(keyOf(e))); n != maxCount {
		t.Errorf("got %d uses, want maxCount", n)
	}
	if _, err := l.Reserve("f", e, 1); err != nil || l.headroom.fits < 0 {
		t.Error(err, l.headroom.fits)
	}
}
