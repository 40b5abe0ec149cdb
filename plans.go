package privgen

import (
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
)

// made refuses a plan that no chain has made and no file has filled.
func made(yes bool, path string) error {
	if yes {
		return nil
	}
	return &param.Error{Path: path, Value: nil, Want: "a plan, made by a chain's Plan or read from a file"}
}

func (p *DPGMPlan) made() error { return made(p != nil && p.plan != nil, "privgen.DPGMPlan") }
func (p *MERFPlan) made() error { return made(p != nil && p.plan != nil, "privgen.MERFPlan") }
func (p *MixPlan) made() error  { return made(p != nil && p.plan != nil, "privgen.MixPlan") }
func (p *GANPlan) made() error  { return made(p != nil && p.plan != nil, "privgen.GANPlan") }

// ownLedger is for one run and nothing else, and promises what the data's unit lets it promise.
func ownLedger(b accountant.Budget, data records.Data) *accountant.Ledger {
	return accountant.NewLedger(b, accountant.WithUnit(records.UnitOf(data)))
}
