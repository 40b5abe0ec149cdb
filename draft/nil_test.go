package draft_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/draft"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
)

// TestAPlanIsNeeded: a nil or zero plan is printed, and refused before anything is read or spent.
func TestAPlanIsNeeded(t *testing.T) {
	schema, err := records.NewSchema(records.Numeric("x", 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	data, err := records.DecodeFlat(schema, []float32{0.5})
	if err != nil {
		t.Fatal(err)
	}
	parts := func(yield func(records.Data, error) bool) { yield(data, nil) }
	for _, p := range []*draft.Plan{nil, {}} {
		l := ledger.New(accountant.Budget{Epsilon: 1, Delta: 1e-5})
		var wrong *param.Error
		if _, err := draft.Fit(context.Background(), p, data, l); !errors.As(err, &wrong) {
			t.Errorf("Fit: got error %v, want *param.Error", err)
		}
		if _, err := draft.FitStream(context.Background(), p, parts, l); !errors.As(err, &wrong) {
			t.Errorf("FitStream: got error %v, want *param.Error", err)
		}
		if _, err := p.NewPartial(); !errors.As(err, &wrong) {
			t.Errorf("NewPartial: got error %v, want *param.Error", err)
		}
		if p.String() == "" || fmt.Sprintf("%v %+v %s %q", p, p, p, p) == "" {
			t.Error("a plan prints as nothing")
		}
		_, _ = json.Marshal(p)
		if len(l.Entries()) > 0 {
			t.Error("a refused fit spends budget")
		}
	}
}
