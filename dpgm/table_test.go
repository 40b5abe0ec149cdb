package dpgm_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
)

// TestTablesAreRefused, before anything is spent: a network of independent
// coordinates does not know that of a one-hot block exactly one is 1.
func TestTablesAreRefused(t *testing.T) {
	s, err := records.NewSchema(records.Categorical("a", "x", "y"), records.Numeric("b", 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	_, err = small(s, accountant.AddOrRemoveOne).Plan()
	var p *param.Error
	if !errors.As(err, &p) || !strings.Contains(err.Error(), "dpgm.Config.Schema") {
		t.Errorf("a plan for a table: %v", err)
	}
}
