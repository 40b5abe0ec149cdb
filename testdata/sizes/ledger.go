package main

import (
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
)

func main() {
	ledger := accountant.NewLedger(accountant.Budget{Epsilon: 1, Delta: 1e-5})
	err := ledger.Spend("noisy count", accountant.Gaussian{NoiseMultiplier: 10})
	fmt.Println(ledger.Epsilon().Upper, err)
}
