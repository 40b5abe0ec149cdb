package frontdoor_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/records"
)

// TestRanksChain checks that a chain on ranks spends its budget, that its plan and its
// generator can be read back, and that draws obey constraints on numbers.
func TestRanksChain(t *testing.T) {
	data := must(wardTable())(t)
	s, b := data.Schema(), accountant.Budget{Epsilon: 4, Delta: 1e-5}
	quick := merf.GeneratorConfig{Steps: 20}
	plan := must(privgen.Compose(s, b, compose.Ranks{
		Of: privgen.MERF(s, b).Nominal(200).Train(quick)}).Plan())(t)
	if got := plan.Total().Upper; got > 4 || got < 3.9 {
		t.Errorf("the plan costs ε = %v", got)
	}
	text := must(json.Marshal(plan))(t)
	read, err := privgen.ReadPlan(text)
	if err != nil || read.String() != plan.String() {
		t.Fatalf("the plan read back differs, error %v:\n%v", err, read)
	}
	gen := must(read.Fit(t.Context(), data))(t)
	var file bytes.Buffer
	if err := gen.Save(&file); err != nil {
		t.Fatal(err)
	}
	back := must(privgen.Load(&file))(t)
	var drawn [2][]float64
	for i, g := range []*privgen.Generator{gen, back} {
		rows := must(g.Sample(t.Context(), 30, privgen.Seed(1), privgen.OfClass(1),
			privgen.Given(records.Within("age", 50, 100))))(t)
		drawn[i] = rows.(*records.Frame).Numbers(0)
	}
	if !slices.Equal(drawn[0], drawn[1]) || slices.Min(drawn[0]) < 50 {
		t.Errorf("ages %v, and %v after reading back", drawn[0], drawn[1])
	}
	alone, err := privgen.Compose(s, b, compose.Ranks{
		Of: privgen.AIM(s, b).Nominal(200)}).Plan()
	if err != nil || alone.Total().Upper > 4 {
		t.Errorf("AIM on ranks: error %v, or over the budget", err)
	}
	var wrong *param.Error
	if _, err := privgen.Compose(s, b, compose.Ranks{}).Plan(); !errors.As(err, &wrong) {
		t.Errorf("the zero value: got error %v, want a *param.Error", err)
	}
}
