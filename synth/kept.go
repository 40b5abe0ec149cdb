package synth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/seed7ba64551/privgen/ledger"
)

// A run on a ledger in a store records more than its reservation. Its transaction has an ID. Its
// checkpoint names the ledger and the last line seen. A final line of the ledger names the plan and
// the resulting generator.

// identify gives the transaction an ID if the ledger is in a store and the run has no checkpoint.
// The run's final line refers to this ID.
func (r *Run) identify(t *ledger.Transaction) {
	if t.ID == "" && r.Ledger.Kept() != nil {
		t.ID = rand.Text()
	}
	r.transaction = t.ID
}

// ledTo records in a store's ledger which generator the run produced.
func (r *Run) ledTo(g *Generator) error {
	if r.Ledger.Kept() == nil {
		return nil
	}
	release := ledger.Release{Transaction: r.transaction}
	var err error
	// The digest with prices needs no code that reads JSON, which small programs do without.
	if release.Plan, err = r.program.hash(true); err != nil {
		release.Plan = "" // a plan that cannot be written
	}
	sum := sha256.New()
	if g.Save(sum) == nil { // a model that cannot be written is identified by its plan alone
		release.Artefact = hex.EncodeToString(sum.Sum(nil))
	}
	if err := r.Ledger.LedTo(release); err != nil {
		return fmt.Errorf("%s: the ledger did not record the generator: %w", r.program.system, err)
	}
	return nil
}
