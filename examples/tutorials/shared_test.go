package tutorials_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
)

func Example_shared() {
	folder, err := os.MkdirTemp("", "ledgers")
	check(err)
	defer os.RemoveAll(folder)
	ctx, ledgers := context.Background(), ledger.Dir(folder)
	_, err = ledgers.Create(ctx, "patients-2026", ledger.Terms{
		Unit:   "user",
		Budget: accountant.Budget{Epsilon: 3, Delta: 1e-6},
		Limits: []ledger.Limit{{PerRelease: true, Epsilon: 1}},
	})
	check(err)

	monthly := accountant.Gaussian{NoiseMultiplier: 10}
	for range 3 { // three processes, each with its own handle
		l, err := ledgers.Open(ctx, "patients-2026")
		check(err)
		check(l.Spend("monthly count", monthly))
		check(l.Close())
	}

	auditor, err := ledgers.Audit(ctx, "patients-2026")
	check(err)
	fmt.Printf("spent: ε ≤ %s of 3\n", accountant.FormatUpper(auditor.Epsilon().Upper, 3))
	fmt.Println("an auditor cannot spend:",
		errors.Is(auditor.Spend("peek", monthly), ledger.ErrReadOnly))

	l, err := ledgers.Open(ctx, "patients-2026")
	check(err)
	var refused *ledger.Refusal
	if errors.As(l.Spend("everything", accountant.Gaussian{NoiseMultiplier: 2}), &refused) {
		fmt.Println("refused by", refused.Limit)
	}
	lines := 0
	for _, err := range ledgers.History(ctx, "patients-2026") {
		check(err)
		lines++
	}
	fmt.Println(lines > 3, "history")
	// Output:
	// spent: ε ≤ 0.715 of 3
	// an auditor cannot spend: true
	// refused by the limit for one release
	// true history
}
