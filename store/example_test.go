package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/store"
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
	ledgers := store.Dir(folder)
	if _, err := ledgers.Create(ctx, "patients-2026", accountant.Terms{
		Unit:   "user",
		Budget: accountant.Budget{Epsilon: 3, Delta: 1e-6},
		Limits: []accountant.Limit{
			{PerRelease: true, Epsilon: 1},
			{Window: 30 * 24 * time.Hour, Epsilon: 1.5},
		},
	}); err != nil {
		fmt.Println(err)
		return
	}
	ledger, err := ledgers.Open(ctx, "patients-2026") // in another process
	if err != nil {
		fmt.Println(err)
		return
	}
	defer ledger.Close()
	fmt.Println(ledger.Spend("monthly count", accountant.Gaussian{NoiseMultiplier: 10}))
	err = ledger.Spend("everything", accountant.Gaussian{NoiseMultiplier: 2})
	var refused *accountant.Refusal
	if errors.As(err, &refused) {
		fmt.Printf("%q is refused by %s\n", refused.Purpose, refused.Limit)
	}
	// Output:
	// <nil>
	// "everything" is refused by the limit for one release
}
