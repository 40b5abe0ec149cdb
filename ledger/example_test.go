package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
)

// A budget for years: one process creates the ledger, any process uses it, and the limits hold for
// all processes together.
func Example() {
	folder, err := os.MkdirTemp("", "ledgers")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	ctx := context.Background()
	ledgers := ledger.Dir(folder)
	if _, err := ledgers.Create(ctx, "patients-2026", ledger.Terms{
		Unit:   "user",
		Budget: accountant.Budget{Epsilon: 3, Delta: 1e-6},
		Limits: []ledger.Limit{
			{PerRelease: true, Epsilon: 1},
			{Window: 30 * 24 * time.Hour, Epsilon: 1.5},
		},
	}); err != nil {
		fmt.Println(err)
		return
	}
	l, err := ledgers.Open(ctx, "patients-2026") // in another process
	if err != nil {
		fmt.Println(err)
		return
	}
	defer l.Close()
	fmt.Println(l.Spend("monthly count", accountant.Gaussian{NoiseMultiplier: 10}))
	err = l.Spend("everything", accountant.Gaussian{NoiseMultiplier: 2})
	var refused *ledger.Refusal
	if errors.As(err, &refused) {
		fmt.Printf("%q is refused by %s\n", refused.Purpose, refused.Limit)
	}
	// Output:
	// <nil>
	// "everything" is refused by the limit for one release
}
