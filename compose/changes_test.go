package compose_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// digits is MERF of drawn images with few features and steps.
var digits = merf.Config{Kernel: rff.PatchesFor(300, 28, 28), Nominal: 2000,
	Generator: merf.GeneratorConfig{Steps: 80, Batch: 50, Generators: 1}}

func drawnSchema() records.Schema {
	return records.Image(28, 28).WithLabels("0", "1", "2", "3", "4", "5", "6", "7", "8", "9")
}

// drawn returns images of a square, whose class says where on a circle it stands.
func drawn(t *testing.T, n int, seed uint64) *records.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 28))
	pixels, labels := make([]uint8, n*28*28), make([]int32, n)
	for i := range n {
		labels[i] = int32(rng.IntN(10))
		sin, cos := math.Sincos(2 * math.Pi * float64(labels[i]) / 10)
		x, y := 11+8*cos+rng.NormFloat64(), 11+8*sin+rng.NormFloat64()
		for k := range 36 {
			at := int(min(max(y, 0), 22))*28 + int(min(max(x, 0), 22)) + k/6*28 + k%6
			pixels[i*28*28+at] = uint8(120 + rng.IntN(120))
		}
	}
	return must(records.FromBytes(drawnSchema(), pixels, labels...))(t)
}

// TestHarmfulChangesAreNotChosen has two candidates of which one moves every pixel far away. The
// exponential mechanism then chooses the other, except with a probability below 1e-12: the
// utilities differ by about a hundred, and the choice has ε = 5.
func TestHarmfulChangesAreNotChosen(t *testing.T) {
	if !*long {
		t.Skip("see -long")
	}
	data := drawn(t, 600, 1)
	b := accountant.Budget{Epsilon: 50, Delta: 1e-5}
	for at, candidates := range [][]compose.Change{{{}, {Distortion: 10}},
		{{Distortion: 10}, {}}} {
		p := must(compose.Changes{Of: digits, Candidates: candidates, Share: 0.1, Records: 300,
			Seed: 2}.PlanFor(drawnSchema(), b))(t)
		l := ledger.New(b)
		gen := must(p.FitOn(t.Context(), l, data))(t)
		if got := chosenBy(t, gen); got != (compose.Change{}) {
			t.Errorf("candidates %v: chosen is %q", candidates, got)
		}
		if got := l.Epsilon().Upper; got > b.Epsilon || got < 5 {
			t.Errorf("the run has spent ε = %v of %v", got, b.Epsilon)
		}
		if at == 0 {
			continue
		}
		of, err := compose.Part(gen, 0)
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
			for _, share := range []float64{0.001, 0.03, 0.5, 0.9} {
				b := accountant.Budget{Epsilon: epsilon, Delta: 1e-5, Relation: r}
				p := must(compose.Changes{Of: embedding(60), Share: share, Records: 30,
					Candidates: make([]compose.Change, 2)}.PlanFor(s, b))(t)
				if got := p.Total().Upper / epsilon; got > 1 || got < 0.99 {
					t.Errorf("%v, share %v: the plan costs %v of it, want 0.99 to 1", b, share, got)
				}
				choice := p.Stages()[len(p.Stages())-1].Event
				if want := (accountant.ExponentialMechanism{Epsilon: share * epsilon}); choice != want {
					t.Errorf("%v, share %v: the choice is %v, want %v", b, share, choice, want)
				}
				l := ledger.New(b)
				if _, err := p.FitOn(t.Context(), l, stripes(t)); err != nil {
					t.Fatal(err)
				}
				if got := l.Epsilon().Upper / epsilon; got > 1 || got < 0.99 {
					t.Errorf("%v, share %v: the run costs %v of it, want 0.99 to 1", b, share, got)
				}
			}
		}
	}
	most := accountant.Budget{Epsilon: 1, Delta: 1e-10}
	_, err := compose.Changes{Of: embedding(60), Share: 0.95,
		Candidates: make([]compose.Change, 2)}.PlanFor(s, most)
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
	data := must(records.FromFlat(s, flat, labels...))(t)
	b := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	list := []compose.Change{{}, {Contrast: compose.Contrast{Black: 0.2, White: 0.8}}}
	p := must(compose.Changes{Of: embedding(8), Candidates: list, Share: 0.01, Records: 20}.PlanFor(s,
		b))(t)
	counts := map[compose.Change]int{}
	for range 40 {
		gen := must(p.Fit(t.Context(), data))(t)
		counts[chosenBy(t, gen)]++
	}
	if counts[list[0]] == 0 || counts[list[1]] == 0 {
		t.Errorf("of 40 choices %d are of the first candidate", counts[list[0]])
	}
}

// TestChangesAreApplied checks that samples are the other system's samples of the same seed,
// changed by the chosen candidate.
func TestChangesAreApplied(t *testing.T) {
	data := drawn(t, 300, 1)
	b := accountant.Budget{Epsilon: 50, Delta: 1e-5}
	black := compose.Change{Contrast: compose.Contrast{Black: 0.5, White: 0.51}}
	p := must(compose.Changes{Of: embedding(300), Records: 200,
		Candidates: []compose.Change{black, black}}.PlanFor(drawnSchema(), b))(t)
	gen := must(p.Fit(t.Context(), data))(t)
	of := must(compose.Part(gen, 0))(t)
	levels := func(gen *synth.Generator, c compose.Change) []float32 {
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
	got := levels(gen, compose.Change{})
	if !slices.Equal(got, levels(of, black)) || slices.Equal(got, levels(of, compose.Change{})) {
		t.Error("samples are not the changed samples of the other system")
	}
}

// TestChangesRefusals lists plans that are refused, with the path of the mistake.
func TestChangesRefusals(t *testing.T) {
	b := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	part := accountant.Budget{Epsilon: 0.9, Delta: 1e-5}
	fixed := func(d synth.Design, s records.Schema, b accountant.Budget) synth.Design {
		p := must(d.PlanFor(s, b))(t)
		return compose.Fixed(p)
	}
	s, numbers := drawnSchema(), records.Interval(2, 0, 1).WithLabels("low", "high")
	of, ofNumbers := fixed(digits, s, part), fixed(embedding(0), numbers, part)
	replace := part
	replace.Relation = accountant.ReplaceOne
	two := []compose.Change{{}, {Distortion: 1}}
	for want, c := range map[string]struct {
		compose.Changes
		s records.Schema
	}{
		"Of":            {compose.Changes{}, s},
		"Share":         {compose.Changes{Of: of, Share: 1}, s},
		"Records":       {compose.Changes{Of: of, Records: -1}, s},
		"Candidates":    {compose.Changes{Of: ofNumbers}, numbers},
		"Candidates[1]": {compose.Changes{Of: ofNumbers, Candidates: two}, numbers},
		"Candidates[0].Normalize": {compose.Changes{Of: of,
			Candidates: []compose.Change{{Normalize: true}, {}}}, s},
		"Candidates[1].Distortion": {compose.Changes{Of: of,
			Candidates: []compose.Change{{}, {Distortion: -1}}}, s},
		"Of.Budget.Relation": {compose.Changes{Of: fixed(embedding(100), s, replace)}, s},
	} {
		_, err := c.PlanFor(c.s, b)
		if wrong := new(param.Error); !errors.As(err, &wrong) || wrong.Path != "compose.Changes."+want {
			t.Errorf("%s: got error %v", want, err)
		}
	}
	twice := fixed(compose.Changes{Of: of}, s, b)
	_, err := compose.Changes{Of: twice}.PlanFor(s, accountant.Budget{Epsilon: 2, Delta: 1e-5})
	if err == nil {
		t.Error("a choice of a choice is planned")
	}
	_, err = compose.Changes{Of: of}.PlanFor(s, part)
	if !errors.Is(err, accountant.ErrBudgetExceeded) {
		t.Errorf("without budget for the choice: got error %v", err)
	}
	if _, err := compose.Part(&synth.Generator{}, 0); err == nil {
		t.Error("Part accepts a generator without a model")
	}
}

// chosenBy returns the change that a generator has chosen.
func chosenBy(t testing.TB, g *synth.Generator) compose.Change {
	t.Helper()
	return must(compose.Chosen(g))(t)
}

// TestDefaultsFit checks the default candidates of every kind of image.
func TestDefaultsFit(t *testing.T) {
	b := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	for _, test := range []struct {
		schema records.Schema
		want   int
	}{{records.Image(6, 6), 5}, {records.RGBImage(6, 6), 3}, {records.BinaryImage(6, 6), 0},
		{records.Interval(4, 0, 1), 0}} {
		s := test.schema.WithLabels("a", "b")
		p, err := compose.Changes{Of: embedding(20)}.PlanFor(s, b)
		if (err == nil) != (test.want > 0) {
			t.Errorf("%v: error %v", test.schema, err)
		}
		if err == nil && !strings.Contains(p.String(), fmt.Sprintf("one of %d changes", test.want)) {
			t.Errorf("%v: want %d candidates:\n%v", test.schema, test.want, p)
		}
	}
	rows, err := records.FromFlat(records.RGBImage(2, 2).WithLabels("a", "b"), make([]float32, 12), 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (compose.Change{Distortion: 1}).Apply(rows, 1); err != nil {
		t.Error(err)
	}
}

// TestPlanStatesCandidates checks the text of a plan, and that its JSON gives the same plan.
func TestPlanStatesCandidates(t *testing.T) {
	p := must(compose.Changes{Of: digits}.PlanFor(drawnSchema(),
		accountant.Budget{Epsilon: 1, Delta: 1e-5}))(t)
	for _, want := range []string{"change 0: unchanged", "change 4: distorted by 1, grey levels 0.2",
		"choice of a change"} {
		if !strings.Contains(p.String(), want) {
			t.Errorf("the plan does not state %q:\n%v", want, p)
		}
	}
	text := must(json.Marshal(p))(t)
	again, err := compose.Systems(systems).ReadPlan(text)
	if err != nil || again.String() != p.String() {
		t.Errorf("read back: %v, %v", again, err)
	}
}
