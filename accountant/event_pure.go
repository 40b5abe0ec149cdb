package accountant

import "fmt"

// Pure is any mechanism known to be ε-differentially private. Source of its dominating pair:
// Kairouz, Oh and Viswanath 2015.
type Pure struct {
	Epsilon float64 `json:"epsilon"`
}

func (e Pure) check() error { return positive("accountant.Pure.Epsilon", e.Epsilon) }

func (Pure) kind() string { return "pure" }

func (e Pure) describe() string {
	return fmt.Sprintf("%s-differentially private mechanism", FormatUpper(e.Epsilon, 6))
}

func (Pure) sampling() sampling { return everyRecord() }

func (e Pure) charge(c *collector, n int) error {
	return c.push(approximateAtom{e.Epsilon, 0}, n)
}

func (e Pure) dpAccounting(Relation) (string, error) { return notInDPAccounting(e) }
