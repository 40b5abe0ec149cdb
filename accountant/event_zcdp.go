package accountant

import (
	"fmt"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
)

// ZCDP is any ρ-zero-concentrated differentially private mechanism. Source: Bun and Steinke 2016.
type ZCDP struct {
	Rho float64 `json:"rho"`
}

func (e ZCDP) check() error { return positive("accountant.ZCDP.Rho", e.Rho) }

func (ZCDP) kind() string { return "zcdp" }

func (e ZCDP) describe() string {
	return fmt.Sprintf("%s-zCDP mechanism", FormatUpper(e.Rho, 6))
}

func (ZCDP) sampling() sampling { return everyRecord() }

func (e ZCDP) charge(c *collector, n int) error {
	return c.push(zcdpAtom{e.Rho}, n)
}

func (e ZCDP) dpAccounting(Relation) (string, error) {
	return dpCall("ZCDpEvent", "rho", pyFloat(e.Rho)), nil
}

type zcdpAtom struct{ rho float64 }

func (a zcdpAtom) key() string { return fmt.Sprintf("zcdp %b", a.rho) }

func (a zcdpAtom) rdp(order float64) (float64, bool) { return order * a.rho * (1 + 4e-16), true }

func (a zcdpAtom) pairs() *pld.Pairs { return nil }
