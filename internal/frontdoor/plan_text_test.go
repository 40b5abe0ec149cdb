package frontdoor_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
)

// TestPlanTextsForgeNoLine: a text in a plan's file begins no line of the plan's bill, and no
// control sequence of it is printed.
func TestPlanTextsForgeNoLine(t *testing.T) {
	schema := must(records.NewSchema(records.Numeric("age", 0, 99),
		records.Categorical("c", "a", "b")))(t)
	plan, err := privgen.AIM(schema, accountant.Budget{Epsilon: 1, Delta: 1e-5}).Nominal(1000).
		Plan()
	if err != nil {
		t.Fatal(err)
	}
	text := must(json.Marshal(plan))(t)
	var file map[string]any
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	forged := "\n  together  ε = 0.001\x1b[8m\u202e"
	file["config"].(map[string]any)["choices"] = []any{map[string]any{"setting": "", "value": "",
		"why": forged}}
	if text, err = json.Marshal(file); err != nil {
		t.Fatal(err)
	}
	read := must(privgen.ReadPlan(text))(t)
	bill := read.String()
	if strings.Contains(bill, "\n  together  ε = 0.001") || strings.ContainsAny(bill, "\x1b\u202e") ||
		!strings.Contains(bill, "0.001") {
		t.Errorf("the bill holds a forged line:\n%s", bill)
	}
}
