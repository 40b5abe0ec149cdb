package beam_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/beam"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/synth"
)

// stranger is a system of another module. Workers cannot read its plans.
type stranger struct{}

func (stranger) Title() string                    { return "stranger" }
func (stranger) Notes() []string                  { return nil }
func (stranger) Config() (json.RawMessage, error) { return json.RawMessage("{}"), nil }
func (stranger) Passes() []string                 { return []string{"use"} }

func (stranger) Fit(ctx context.Context, r *synth.Run) (synth.Model, error) {
	_, err := r.Read(ctx, synth.Pass{Purpose: "use"})
	return nil, err
}

func (stranger) Partial(synth.Pass, device.Backend) (*mechanism.Partial, error) {
	id, err := mechanism.NewPassID("stranger")
	return mechanism.NewPartial(id, tableSchema, strangerSums{}, false), err
}

type strangerSums struct{ mechanism.Counter }

func (strangerSums) Sums() []*mechanism.FixedSum { return nil }

// TestPlansThatWorkersCannotReadCostNothing: they are refused before anything is reserved.
func TestPlansThatWorkersCannotReadCostNothing(t *testing.T) {
	p := must(synth.NewPassProgram("stranger", tableSchema, budget, []synth.Stage{{Purpose: "use",
		Event: accountant.Gaussian{NoiseMultiplier: 5}, Count: 1}}, stranger{}))
	l := ledger.New(budget)
	_, err := beam.Fit(t.Context(), job(t, "table", 3), p, l)
	if err == nil || len(l.Entries()) > 0 {
		t.Errorf("%v, on the ledger: %+v", err, l.Entries())
	}
}
