package ledger_test

import (
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
)

// TestTheStrictestLimitDecides: if a request exceeds several limits, as many people must approve it
// as the strictest of them wants, wherever that one stands in the terms.
func TestTheStrictestLimitDecides(t *testing.T) {
	event := accountant.Gaussian{NoiseMultiplier: 100}
	three := ledger.Limit{Epsilon: 1e-3, PerRelease: true, Approvals: 3}
	one := ledger.Limit{Epsilon: 1e-3, PerRelease: true, Approvals: 1}
	for _, limits := range [][]ledger.Limit{{three, one}, {one, three}, {one, three, one}} {
		var people []string
		l, err := ledger.Memory().Create(t.Context(), "people", ledger.Terms{
			Budget: accountant.Budget{Epsilon: 3, Delta: 1e-6}, Limits: limits},
			ledger.WithApproval(func(ledger.Request) ([]string, error) { return people, nil }))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"ann", "bob", "cy"} {
			people = append(people, name)
			if err := l.Spend("use", event); (err == nil) != (len(people) == 3) {
				t.Errorf("limits %v with %d approvals: got %v", limits, len(people), err)
			}
		}
	}
}
