package frontdoor_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// TestSearchesOverEverySystem checks that a search over each single system completes. A search over
// all systems must release one generator that can be saved, loaded and sampled.
func TestSearchesOverEverySystem(t *testing.T) {
	s := records.Sets(15, 4)
	var sets [][]uint32
	for i := range uint32(20) {
		sets = append(sets, []uint32{i % 5, 5 + i%7})
	}
	data, err := records.FromItems(s, sets)
	if err != nil {
		t.Fatal(err)
	}
	budget := accountant.Budget{Epsilon: 9, Delta: 1e-5}
	all := everyPlan(t, s, accountant.Budget{Epsilon: 1, Delta: 1e-5})
	search := func(trials compose.Trials, of ...privgen.Plan) privgen.ComposedChain {
		c := compose.Search{Trials: trials, Score: compose.Queries{Count: 20, Records: 50}, Noise: 10}
		for _, p := range of {
			c.Candidates = append(c.Candidates, compose.Fixed(p))
		}
		return privgen.Compose(s, budget, c)
	}
	for _, p := range all {
		if _, err := search(compose.Trials{Mean: 1}, p).Fit(t.Context(), data); err != nil {
			t.Errorf("%s: %v", p.System(), err)
		}
	}
	plan, err := search(compose.Trials{Mean: 4, Limit: 6}, all...).Plan()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	read, err := privgen.ReadPlan(text)
	if err != nil || read.String() != plan.String() {
		t.Fatalf("the plan read back differs, error %v:\n%v", err, read)
	}
	path := t.TempDir() + "/search"
	gen, err := read.Fit(t.Context(), data, privgen.Checkpoint(path))
	if err != nil {
		t.Fatal(err)
	}
	again, err := read.Fit(t.Context(), data, privgen.Checkpoint(path)) // from the file
	if err != nil {
		t.Fatal(err)
	}
	candidate, won, err := compose.Best(gen)
	if _, score, wrong := compose.Best(again); err != nil || wrong != nil || score != won {
		t.Errorf("the same call after a complete search: other score, or error %v", err)
	}
	if err := gen.SaveFile(path + ".gen"); err != nil {
		t.Fatal(err)
	}
	back, err := privgen.LoadFile(path + ".gen")
	if err != nil {
		t.Fatal(err)
	}
	best, err := compose.Part(back, 0)
	if err != nil || best.System() != all[candidate].System() ||
		best.Guarantee().Epsilon != gen.Guarantee().Epsilon {
		t.Errorf("candidate %d is a %s, error %v", candidate, best.System(), err)
	}
	if drawn, err := back.Sample(t.Context(), 9); err != nil || drawn.Len() != 9 {
		t.Errorf("%v", err)
	}
	t.Log(plan)
}

// TestSearchChain checks that a chain finds the budget of a trial and refuses invalid settings.
func TestSearchChain(t *testing.T) {
	s := records.Binary(4)
	b := accountant.Budget{Epsilon: 2, Delta: 1e-5}
	search := compose.Search{Candidates: []privgen.Design{privgen.MERF(s, b)},
		Trials: compose.Trials{Mean: 20}, Score: compose.Likelihood{}, Noise: 30}
	p, err := privgen.Compose(s, b, search).Plan()
	if err != nil {
		t.Fatal(err)
	}
	one := synth.WorkOf(p).(synth.Nested).Plans()[0].Budget().Epsilon
	if total := p.Total().Upper; total > 2 || total < 1.95 || one < 0.8 || one > 1.5 {
		t.Errorf("the search costs ε = %g in total and %g per trial, want 1.95 to 2 and 0.8 to 1.5",
			total, one)
	}
	t.Log(p)
	bad := search
	bad.Trials = compose.Trials{}
	if _, err := bad.PlanFor(s, b); err == nil {
		t.Error("a search without trials is planned")
	}
	bad = search
	bad.Score, bad.Noise = nil, 0
	if _, err := bad.PlanFor(s, b); err == nil {
		t.Error("a search without a score is planned")
	}
	search.Noise = 0.1
	poor, refused := search.PlanFor(s, b)
	if !errors.Is(refused, accountant.ErrBudgetExceeded) {
		t.Errorf("a score with too little noise: got plan %v and error %v, want ErrBudgetExceeded", poor,
			refused)
	}
}
