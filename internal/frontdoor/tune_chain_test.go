package frontdoor_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/tune"
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
	score := tune.Queries{Count: 20, Records: 50}
	for _, p := range all {
		one := privgen.Tune(budget).Plans(p).Trials(tune.Trials{Mean: 1}).Score(score, 10)
		if _, err := one.Fit(t.Context(), data); err != nil {
			t.Errorf("%s: %v", p.System(), err)
		}
	}
	plan, err := privgen.Tune(budget).Plans(all...).Trials(tune.Trials{Mean: 4, Limit: 6}).
		Score(score, 10).Plan()
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
	if err != nil || again.Model().(*tune.Model).Score() != gen.Model().(*tune.Model).Score() {
		t.Errorf("the same call after a complete search: other score, or error %v", err)
	}
	if err := gen.SaveFile(path + ".gen"); err != nil {
		t.Fatal(err)
	}
	back, err := privgen.LoadFile(path + ".gen")
	if err != nil {
		t.Fatal(err)
	}
	m := back.Model().(*tune.Model)
	best := m.Best(back)
	if best.System() != all[m.Candidate()].System() ||
		best.Guarantee().Epsilon != gen.Guarantee().Epsilon {
		t.Errorf("candidate %d is a %s", m.Candidate(), best.System())
	}
	if drawn, err := back.Sample(t.Context(), 9); err != nil || drawn.Len() != 9 {
		t.Errorf("%v", err)
	}
	t.Log(plan)
}

// TestSearchChain checks that a chain finds the budget of a trial and refuses invalid settings.
func TestSearchChain(t *testing.T) {
	s := records.Binary(4)
	chain := privgen.Tune(accountant.Budget{Epsilon: 2, Delta: 1e-5}).
		Candidates(func(trial accountant.Budget) ([]privgen.Plan, error) {
			p, err := privgen.MERF(s, trial).Plan()
			return []privgen.Plan{p}, err
		}).Trials(tune.Trials{Mean: 20}).Score(tune.Likelihood{}, 30)
	p, err := chain.Plan()
	if err != nil {
		t.Fatal(err)
	}
	one := p.Config().Candidates[0].Budget().Epsilon
	if total := p.Total().Upper; total > 2 || total < 1.95 || one < 0.8 || one > 1.5 {
		t.Errorf("the search costs ε = %g in total and %g per trial, want 1.95 to 2 and 0.8 to 1.5",
			total, one)
	}
	t.Log(p)
	if _, err := chain.Trials(tune.Trials{}).Plan(); err == nil {
		t.Error("a search without trials is planned")
	}
	if _, err := chain.Score(nil, 0).Plan(); err == nil {
		t.Error("a search without a score is planned")
	}
	poor, refused := chain.Score(tune.Likelihood{}, 0.1).Plan()
	if !errors.Is(refused, accountant.ErrBudgetExceeded) {
		t.Errorf("a score with too little noise: got plan %v and error %v, want ErrBudgetExceeded", poor,
			refused)
	}
}
