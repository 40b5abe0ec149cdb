package ledger_test

import (
	"context"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
)

// EpsilonSoFar is an upper bound of what has been taken, whoever took it, as Epsilon is of what has
// been reserved.
func TestEpsilonSoFarCountsUsesOfOtherProcesses(t *testing.T) {
	ctx, all := context.Background(), ledger.Memory()
	mine, err := all.Create(ctx, "shared", ledger.Terms{Budget: accountant.Budget{Epsilon: 9}})
	if err != nil {
		t.Fatal(err)
	}
	other, err := all.Open(ctx, "shared")
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Spend("a", accountant.Pure{Epsilon: 3}); err != nil {
		t.Fatal(err)
	}
	if e := mine.EpsilonSoFar(); !(e >= 3) {
		t.Errorf("ε so far %g, after another process took 3", e)
	}
}
