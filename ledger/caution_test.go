package ledger

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
)

// TestCautionOfLargeBudgets checks that Caution describes what a large ε or δ does not protect, and
// that a guarantee describes it for a large ε.
func TestCautionOfLargeBudgets(t *testing.T) {
	for _, c := range []struct {
		b       accountant.Budget
		records int
		words   []string
	}{
		{accountant.Budget{Epsilon: 10, Delta: 1e-5}, 99_999, nil},
		{accountant.Budget{Epsilon: 10, Delta: 0.5}, 0, nil},
		{accountant.Budget{Epsilon: 10.5, Delta: 1e-5}, 0, []string{"ε above 10"}},
		{accountant.Budget{Epsilon: math.Inf(1), Delta: 1e-5}, 0, []string{"ε above 10"}},
		{accountant.Budget{Epsilon: 1, Delta: 1e-5}, 100_000, []string{"1 ÷ 100000 records"}},
		{accountant.Budget{Epsilon: 1e6, Delta: 0.1}, 50, []string{"ε above 10", "1 ÷ 50 records"}},
	} {
		got := c.b.Caution(c.records)
		for _, w := range c.words {
			if !strings.Contains(got, w) {
				t.Errorf("%v, %d records: got %q, want %q", c.b, c.records, got, w)
			}
		}
		if len(c.words) == 0 && got != "" {
			t.Errorf("%v, %d records: got %q, want nothing", c.b, c.records, got)
		}
	}
	for epsilon, want := range map[float64]bool{9: false, 40: true} {
		l := New(accountant.Budget{Epsilon: epsilon + 1e-3, Delta: 1e-5})
		if err := l.Spend("x", accountant.Laplace{Scale: 1 / epsilon}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(l.Guarantee().String(), "odds"); got != want {
			t.Errorf("ε = %g: the guarantee has a caution: %v, want %v", epsilon, got, want)
		}
	}
}

// TestPercentRoundsUp checks that the shown percentage is the fraction rounded up to one decimal.
func TestPercentRoundsUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 20_000 {
		whole := math.Exp(20*rng.Float64() - 10)
		part := whole * rng.Float64()
		switch i % 4 {
		case 0: // a whole number of tenths, or a neighbour
			part = whole * float64(rng.IntN(1001)) / 1000
			part = math.Nextafter(part, float64(rng.IntN(3)-1)*part)
		case 1:
			part = whole
		}
		text := percent(part, whole)
		shown, ok := new(big.Rat).SetString(strings.TrimSuffix(text, "%"))
		if !ok {
			t.Fatalf("%g of %g: got %q", part, whole, text)
		}
		used := new(big.Rat).Quo(new(big.Rat).SetFloat64(part), new(big.Rat).SetFloat64(whole))
		used.Mul(used, big.NewRat(100, 1))
		over := new(big.Rat).Sub(shown, used)
		if over.Sign() < 0 || over.Cmp(big.NewRat(1, 10)) >= 0 {
			t.Fatalf("%g of %g: got %s, want %s rounded up", part, whole, text, used.FloatString(20))
		}
	}
	for want, v := range map[string][2]float64{"0.0%": {0, 1}, "100.0%": {1, 1}, "33.4%": {1, 3},
		"–": {math.Inf(1), 1}, "0.1%": {1e-300, 1}} {
		if got := percent(v[0], v[1]); got != want {
			t.Errorf("%s: got %s, want %s", strconv.FormatFloat(v[0], 'g', -1, 64), got, want)
		}
	}
}

// TestErrorsOfJournalsSayWhatToDo checks that errors after which nothing can be reserved name the
// page that lists the next steps.
func TestErrorsOfJournalsSayWhatToDo(t *testing.T) {
	for _, err := range []error{ErrDamaged, ErrRolledBack} {
		if !strings.Contains(err.Error(), "docs/durability.md") {
			t.Errorf("the error does not name the page: %v", err)
		}
	}
}
