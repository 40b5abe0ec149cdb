package augment_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/augment"
	"github.com/seed7ba64551/privgen/internal/demo/shapes"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/records/retouch"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// small plans MERF of drawn digits with few features and steps.
func small(b accountant.Budget) (synth.Plan, error) {
	return synth.PlanOf(merf.Config{Schema: shapes.Schema(), Budget: b, Kernel: rff.PatchesFor(300,
		shapes.Side, shapes.Side), Nominal: 2000, Generator: merf.GeneratorConfig{Steps: 80,
		Batch: 50, Generators: 1}}.Plan())
}

// TestHarmfulChangesAreNotChosen has two candidates of which one moves every pixel far away. The
// exponential mechanism then chooses the other, except with a probability below 1e-12: the
// utilities differ by hundreds, and the choice has ε = 5.
func TestHarmfulChangesAreNotChosen(t *testing.T) {
	data, err := shapes.Draw(2000, 1)
	if err != nil {
		t.Fatal(err)
	}
	b := accountant.Budget{Epsilon: 50, Delta: 1e-5}
	for at, candidates := range [][]augment.Candidate{{{}, {Distortion: 10}},
		{{Distortion: 10}, {}}} {
		c, err := augment.Config{Budget: b, Candidates: candidates, Share: 0.1, Records: 1000,
			Seed: 2}.Within(small)
		if err != nil {
			t.Fatal(err)
		}
		p, err := c.Plan()
		if err != nil {
			t.Fatal(err)
		}
		ledger := accountant.NewLedger(b)
		gen, err := p.FitOn(t.Context(), ledger, data)
		if err != nil {
			t.Fatal(err)
		}
		if got := gen.Model().(*augment.Model).Chosen(); got != (augment.Candidate{}) {
			t.Errorf("candidates %v: chosen is %q", candidates, got)
		}
		if got := ledger.Epsilon().Upper; got > b.Epsilon || got < 5 {
			t.Errorf("the run has spent ε = %v of %v", got, b.Epsilon)
		}
		if at == 0 {
			continue
		}
		of, err := augment.Of(gen)
		if err != nil || of.System() != "merf" {
			t.Errorf("Of returns a generator of %q and error %v", of.System(), err)
		}
	}
}

// TestTheBudgetIsSpent plans the other system beside choices of several prices, under both
// relations. The plan and the ledger of a run cost at most the budget and nearly all of it, and the
// price of the choice is its share.
func TestTheBudgetIsSpent(t *testing.T) {
	s := stripes(t).Schema()
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		for _, epsilon := range []float64{0.1, 1, 10} {
			for _, share := range []float64{0.001, augment.DefaultShare, 0.5, 0.9} {
				b := accountant.Budget{Epsilon: epsilon, Delta: 1e-5, Relation: r}
				c, err := augment.Config{Budget: b, Share: share, Records: 30,
					Candidates: make([]augment.Candidate, 2)}.Within(
					func(b accountant.Budget) (synth.Plan, error) { return embedding(s, b, 60) })
				if err != nil {
					t.Fatal(err)
				}
				p, err := c.Plan()
				if err != nil {
					t.Fatal(err)
				}
				if got := p.Total().Upper / epsilon; got > 1 || got < 0.99 {
					t.Errorf("%v, share %v: the plan costs %v of it, want 0.99 to 1", b, share, got)
				}
				choice := p.Stages()[len(p.Stages())-1].Event
				if want := (accountant.ExponentialMechanism{Epsilon: share * epsilon}); choice != want {
					t.Errorf("%v, share %v: the choice is %v, want %v", b, share, choice, want)
				}
				ledger := accountant.NewLedger(b)
				if _, err := p.FitOn(t.Context(), ledger, stripes(t)); err != nil {
					t.Fatal(err)
				}
				if got := ledger.Epsilon().Upper / epsilon; got > 1 || got < 0.99 {
					t.Errorf("%v, share %v: the run costs %v of it, want 0.99 to 1", b, share, got)
				}
			}
		}
	}
	most := accountant.Budget{Epsilon: 1, Delta: 1e-10}
	_, err := augment.Config{Budget: most, Share: 0.95, Candidates: make([]augment.Candidate, 2)}.
		Within(func(b accountant.Budget) (synth.Plan, error) { return embedding(s, b, 60) })
	if !errors.Is(err, accountant.ErrBudgetExceeded) {
		t.Errorf("beside a choice that leaves too little: got error %v", err)
	}
}

// TestChoicesAreRandom makes 40 choices of ε = 0.01 among two candidates for eight records. Each
// candidate is chosen with a probability of 0.49 or more, so one of them is never chosen with a
// probability below 1e-11.
func TestChoicesAreRandom(t *testing.T) {
	s := records.Image(4, 4).WithLabels("a", "b")
	flat, labels := make([]float32, 8*16), make([]int32, 8)
	for i := range flat {
		flat[i], labels[i/16] = float32(i%5)/4, int32(i/16%2)
	}
	data, err := records.FromFlat(s, flat, labels...)
	if err != nil {
		t.Fatal(err)
	}
	b := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	list := []augment.Candidate{{}, {Contrast: retouch.Contrast{Black: 0.2, White: 0.8}}}
	c, err := augment.Config{Budget: b, Candidates: list, Share: 0.01, Records: 20}.Within(
		func(b accountant.Budget) (synth.Plan, error) { return embedding(s, b, 8) })
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Plan()
	if err != nil {
		t.Fatal(err)
	}
	counts := map[augment.Candidate]int{}
	for range 40 {
		gen, err := p.Fit(t.Context(), data)
		if err != nil {
			t.Fatal(err)
		}
		counts[gen.Model().(*augment.Model).Chosen()]++
	}
	if counts[list[0]] == 0 || counts[list[1]] == 0 {
		t.Errorf("of 40 choices %d are of the first candidate", counts[list[0]])
	}
}

// TestChangesAreApplied checks that samples are the other system's samples of the same seed,
// changed by the chosen candidate.
func TestChangesAreApplied(t *testing.T) {
	data, err := shapes.Draw(300, 1)
	if err != nil {
		t.Fatal(err)
	}
	b := accountant.Budget{Epsilon: 50, Delta: 1e-5}
	black := augment.Candidate{Contrast: retouch.Contrast{Black: 0.5, White: 0.51}}
	c, err := augment.Config{Budget: b, Records: 200, Candidates: []augment.Candidate{black, black}}.
		Within(func(b accountant.Budget) (synth.Plan, error) {
			return embedding(shapes.Schema(), b, 300)
		})
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Plan()
	if err != nil {
		t.Fatal(err)
	}
	gen, err := p.Fit(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	of, err := augment.Of(gen)
	if err != nil {
		t.Fatal(err)
	}
	levels := func(gen *synth.Generator, c augment.Candidate) []float32 {
		rows, err := gen.Sample(t.Context(), 50, synth.Means(), synth.Seed(5))
		if err == nil {
			rows, err = c.Apply(rows, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
		flat, _ := rows.(*records.Table).Flat()
		return flat
	}
	got := levels(gen, augment.Candidate{})
	if !slices.Equal(got, levels(of, black)) || slices.Equal(got, levels(of, augment.Candidate{})) {
		t.Error("samples are not the changed samples of the other system")
	}
}

// TestRefusals lists plans that are refused, with the path of the mistake.
func TestRefusals(t *testing.T) {
	b := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	of, err := small(accountant.Budget{Epsilon: 0.9, Delta: 1e-5})
	if err != nil {
		t.Fatal(err)
	}
	numbers := records.Interval(2, 0, 1).WithLabels("low", "high")
	ofNumbers, err := embedding(numbers, accountant.Budget{Epsilon: 0.9, Delta: 1e-5}, 0)
	if err != nil {
		t.Fatal(err)
	}
	other, err := embedding(shapes.Schema(), accountant.Budget{Epsilon: 0.9, Delta: 1e-5,
		Relation: accountant.ReplaceOne}, 100)
	if err != nil {
		t.Fatal(err)
	}
	two := []augment.Candidate{{}, {Distortion: 1}}
	twice, err := augment.Config{Budget: b, Of: of}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]augment.Config{
		"Of":            {Budget: b},
		"Share":         {Budget: b, Of: of, Share: 1},
		"Records":       {Budget: b, Of: of, Records: -1},
		"Candidates":    {Budget: b, Of: ofNumbers},
		"Candidates[1]": {Budget: b, Of: ofNumbers, Candidates: two},
		"Candidates[0].Normalize": {Budget: b, Of: of,
			Candidates: []augment.Candidate{{Normalize: true}, {}}},
		"Candidates[1].Distortion": {Budget: b, Of: of,
			Candidates: []augment.Candidate{{}, {Distortion: -1}}},
		"Of.Budget.Relation": {Budget: b, Of: other},
	} {
		_, err := c.Plan()
		if wrong := new(param.Error); !errors.As(err, &wrong) || wrong.Path != "augment.Config."+want {
			t.Errorf("%s: got error %v", want, err)
		}
	}
	if _, err := (augment.Config{Budget: accountant.Budget{Epsilon: 2, Delta: 1e-5}, Of: twice}).
		Plan(); err == nil {
		t.Error("a choice of a choice is planned")
	}
	if _, err := (augment.Config{Budget: accountant.Budget{Epsilon: 0.9, Delta: 1e-5}, Of: of}).
		Plan(); !errors.Is(err, accountant.ErrBudgetExceeded) {
		t.Errorf("without budget for the choice: got error %v", err)
	}
	if _, err := augment.Of(&synth.Generator{}); err == nil {
		t.Error("Of accepts a generator without a model")
	}
}

// TestDefaultsFit checks the default candidates of every kind of image.
func TestDefaultsFit(t *testing.T) {
	b := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	for _, test := range []struct {
		schema records.Schema
		want   int
	}{{records.Image(6, 6), 5}, {records.RGBImage(6, 6), 3}, {records.BinaryImage(6, 6), 0},
		{records.Interval(4, 0, 1), 0}} {
		list := augment.Defaults(test.schema)
		if len(list) != test.want {
			t.Errorf("%v: %d candidates, want %d", test.schema, len(list), test.want)
		}
		s := test.schema.WithLabels("a", "b")
		_, err := augment.Config{Budget: b, Candidates: list}.Within(
			func(b accountant.Budget) (synth.Plan, error) { return embedding(s, b, 20) })
		if (err == nil) != (test.want > 0) {
			t.Errorf("%v: error %v", test.schema, err)
		}
	}
	rows, err := records.FromFlat(records.RGBImage(2, 2).WithLabels("a", "b"), make([]float32, 12), 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (augment.Candidate{Distortion: 1}).Apply(rows, 1); err != nil {
		t.Error(err)
	}
}

// TestPlanStatesCandidates checks the text of a plan, and that its JSON gives the same plan.
func TestPlanStatesCandidates(t *testing.T) {
	c, err := augment.Config{Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5}}.Within(small)
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Plan()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"change 0: unchanged", "change 4: distorted by 1, grey levels 0.2",
		augment.PurposeChoice} {
		if !strings.Contains(p.String(), want) {
			t.Errorf("the plan does not state %q:\n%v", want, p)
		}
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	again, err := synth.Systems{merf.System(), augment.System(systems)}.ReadPlan(text)
	if err != nil || again.String() != p.String() {
		t.Errorf("read back: %v, %v", again, err)
	}
}
