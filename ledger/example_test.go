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

func ExampleLedger() {
	l := ledger.New(accountant.Budget{Epsilon: 1, Delta: 1e-5})
	count, err := l.Reserve("noisy count", accountant.Gaussian{NoiseMultiplier: 10}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := count.Spend(); err != nil { // before the noise is drawn
		fmt.Println(err)
		return
	}
	fmt.Printf("ε ≤ %s\n", accountant.FormatUpper(l.Epsilon().Upper, 3))
	err = l.Spend("all of it", accountant.Gaussian{NoiseMultiplier: 1})
	var refused *ledger.Refusal
	fmt.Println(errors.Is(err, accountant.ErrBudgetExceeded), errors.As(err, &refused))
	// Output:
	// ε ≤ 0.341
	// true true
}
