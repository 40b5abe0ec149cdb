package sequence_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sequence"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/tune"
)

// enclosing is a user-defined system that carries out another one.
type enclosing struct {
	spy
	in func(r *synth.Run) synth.Inner
}

func (w *enclosing) Fit(ctx context.Context, r *synth.Run) (synth.Model, error) {
	return r.FitInner(ctx, w.in(r))
}

// TestInnerPlansAreComplete checks that an inner plan is refused before it draws in three cases. It
// would draw outside the run's reservation. It lacks the records that it starts from. It is given
// private records as public records.
func TestInnerPlansAreComplete(t *testing.T) {
	b := budget(accountant.AddOrRemoveOne)
	data, other := table(t, numbers, 40), table(t, numbers, 7)
	both, err := records.Concat(numbers, other, data)
	if err != nil {
		t.Fatal(err)
	}
	part := &spy{}
	plan, alone := spyPlan(t, part, b), spyPlan(t, &spy{alone: true}, b)
	for name, c := range map[string]struct {
		in   synth.Inner
		want string // path of the error; "" if the plan is carried out
	}{
		"alone":         {synth.Inner{Plan: plan, Prefix: "x: "}, ""},
		"after another": {synth.Inner{Plan: plan, Prefix: "x: ", Follows: true, Public: other}, ""},
		"a part that uses no records": {synth.Inner{Plan: alone, Prefix: "x: ", Follows: true,
			Public: other}, "synth.Inner.Plan"},
		"another stage": {synth.Inner{Plan: plan, Prefix: "y: "}, "synth.Inner.Prefix"},
		"nothing before it": {synth.Inner{Plan: plan, Prefix: "x: ", Follows: true},
			"synth.Inner.Public"},
		"no rows before it": {synth.Inner{Plan: plan, Prefix: "x: ", Follows: true,
			Public: other.Slice(0, 0)}, "synth.Inner.Public"},
		"rows without a first system": {synth.Inner{Plan: plan, Prefix: "x: ",
			Public: other}, "synth.Inner.Public"},
		"private rows": {synth.Inner{Plan: plan, Prefix: "x: ", Follows: true,
			Public: data.Slice(3, 9)}, "synth.Inner.Public"},
		"copies of private rows": {synth.Inner{Plan: plan, Prefix: "x: ", Follows: true,
			Public: both}, "synth.Inner.Public"},
	} {
		w := &enclosing{in: func(*synth.Run) synth.Inner { return c.in }}
		program, err := synth.NewProgram("enclosing", numbers, b,
			synth.Inner{Plan: plan, Prefix: "x: "}.Stages(), w)
		if err != nil {
			t.Fatal(err)
		}
		ledger := accountant.NewLedger(b)
		part.given = nil
		_, err = program.FitOn(t.Context(), ledger, data)
		var mistake *param.Error
		if c.want == "" && err != nil || c.want != "" &&
			(!errors.As(err, &mistake) || mistake.Path != c.want || part.given != nil) {
			t.Errorf("%s: got error %v, want %q", name, err, c.want)
		}
		if n := len(ledger.Entries()); n > 1 {
			t.Errorf("%s: the ledger has %d entries, want at most 1", name, n)
		}
	}
}

// TestCandidatesThatFollowCostNothing: a search refuses candidates that follow another system
// before it reserves anything.
func TestCandidatesThatFollowCostNothing(t *testing.T) {
	follower, err := adversary(numbers, accountant.Budget{Epsilon: 0.3, Delta: 1e-6}, 40)
	if err != nil {
		t.Fatal(err)
	}
	b := accountant.Budget{Epsilon: 50, Delta: 1e-5}
	p, err := tune.Config{Budget: b, Candidates: []synth.Plan{follower},
		Trials: tune.Trials{Mean: 3, Limit: 6}, Score: tune.Queries{Count: 10, Records: 40},
		Noise: 20}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	ledger := accountant.NewLedger(b)
	_, err = p.FitOn(t.Context(), ledger, table(t, numbers, 40))
	if err == nil || len(ledger.Entries()) != 0 {
		t.Errorf("got error %v and %d ledger entries, want an error and no entry",
			err, len(ledger.Entries()))
	}
}

// TestSequencesWithinSequencesAreFew: a plan file cannot request many systems. Each of them would
// build networks.
func TestSequencesWithinSequencesAreFew(t *testing.T) {
	s := spyPlan(t, &spy{}, budget(accountant.AddOrRemoveOne))
	var p synth.Plan = s
	for range 8 {
		q, err := sequence.Config{Budget: accountant.Budget{Epsilon: 100, Delta: 1e-5}, First: p,
			Then: s}.Plan()
		if err != nil {
			t.Fatal(err)
		}
		p = q
	}
	text, err := p.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	systems := synth.Systems{{Name: "spy", Plan: func(synth.SavedPlan) (synth.Plan, error) {
		return s, nil
	}}}
	systems = append(systems, sequence.System(systems))
	if _, err := systems.ReadPlan(text); !errors.Is(err, synth.ErrFormat) ||
		!strings.Contains(err.Error(), "within each other") {
		t.Errorf("eight sequences within each other: got error %v, want ErrFormat", err)
	}
}
