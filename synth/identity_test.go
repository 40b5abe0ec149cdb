package synth

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
)

// known is a system whose configuration and user-defined types the test sets.
type known struct {
	deed
	config string
	parts  []any
}

func (k known) Config() (json.RawMessage, error) { return json.RawMessage(k.config), nil }
func (k known) Parts() []any                     { return k.parts }

type (
	oneType     struct{}
	anotherType struct{}
)

// TestPlansAreIdentifiedByAllTheyHave: a checkpoint belongs to one plan. Plans that differ in
// anything that their runs depend on have different digests, and equal plans have the same one. A
// written plan has all of it.
func TestPlansAreIdentifiedByAllTheyHave(t *testing.T) {
	digest := func(name string, s records.Schema, b accountant.Budget, w known, list ...Stage) string {
		p, err := NewProgram(name, s, b, list, w)
		if err != nil {
			t.Fatal(err)
		}
		text, err := p.hash(false)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	s, b, w := records.Binary(2), deedBudget, known{config: `{"a":1}`, parts: []any{nil, oneType{}}}
	use := Stage{Purpose: "use", Event: normal, Count: 8, Parts: 2, MovesCovered: true}
	other := Stage{Purpose: "other", Event: normal, Count: 1}
	with := func(change func(*Stage)) Stage {
		s := use
		change(&s)
		return s
	}
	wide, less, replace := b, b, b
	wide.Epsilon, less.Delta, replace.Relation = 30, 1e-6, accountant.ReplaceOne
	first := digest("deed", s, b, w, use, other)
	if again := digest("deed", s, b, w, use, other); again != first {
		t.Errorf("the digests of one plan are %s and %s", first, again)
	}
	seen := map[string]string{first: "the first"}
	for what, text := range map[string]string{
		"system":   digest("did", s, b, w, use, other),
		"schema":   digest("deed", records.Binary(3), b, w, use, other),
		"persons":  digest("deed", s.ByPerson(2), b, w, use, other),
		"epsilon":  digest("deed", s, wide, w, use, other),
		"delta":    digest("deed", s, less, w, use, other),
		"relation": digest("deed", s, replace, w, use, other),
		"config":   digest("deed", s, b, known{config: `{"a":2}`, parts: w.parts}, use, other),
		"types": digest("deed", s, b, known{config: w.config, parts: []any{anotherType{}}}, use,
			other),
		"pointers": digest("deed", s, b, known{config: w.config, parts: []any{&oneType{}}}, use,
			other),
		"no types": digest("deed", s, b, known{config: w.config}, use, other),
		"purpose":  digest("deed", s, b, w, with(func(s *Stage) { s.Purpose = "look" }), other),
		"count":    digest("deed", s, b, w, with(func(s *Stage) { s.Count = 9 }), other),
		"lanes":    digest("deed", s, b, w, with(func(s *Stage) { s.Lanes = 2 }), other),
		"parts":    digest("deed", s, b, w, with(func(s *Stage) { s.Parts = 3 }), other),
		"event": digest("deed", s, b, w, with(func(s *Stage) {
			s.Event = accountant.Gaussian{NoiseMultiplier: 6}
		}), other),
		"order":     digest("deed", s, b, w, other, use),
		"one stage": digest("deed", s, b, w, use),
	} {
		if same, ok := seen[text]; ok {
			t.Errorf("plans with another %s have the digest of %s", what, same)
		}
		seen[text] = what
	}
	p, err := NewProgram("deed", s, b, []Stage{use, other}, w)
	if err != nil {
		t.Fatal(err)
	}
	text, err := p.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]json.RawMessage
	var budget accountant.Budget
	if err := errors.Join(json.Unmarshal(text, &fields),
		json.Unmarshal(fields["budget"], &budget)); err != nil || budget != b {
		t.Errorf("the written plan is of %v: %v", budget, err)
	}
	if got := slices.Sorted(maps.Keys(fields)); !slices.Equal(got, []string{"budget", "config",
		"epsilon", "schema", "stages", "system", "version"}) {
		t.Errorf("the written plan has %v", got)
	}
}

// TestKeptReleasesAtTheirLimits: a checkpoint may hold one to eight shares of each release, with
// all of its parts, once.
func TestKeptReleasesAtTheirLimits(t *testing.T) {
	part := Section{Name: "use", Data: Floats([]float64{1, 2})}
	for i, c := range []struct {
		list  []keptRelease
		parts int
		good  bool
	}{
		{nil, 0, true}, {[]keptRelease{{"use", 1, 1}}, 1, true}, {[]keptRelease{{"use", 8, 2}}, 2, true},
		{[]keptRelease{{"use", 0, 1}}, 1, false}, {[]keptRelease{{"use", 9, 1}}, 1, false},
		{[]keptRelease{{"use", -1, 1}}, 1, false}, {[]keptRelease{{"use", 1, 0}}, 1, false},
		{[]keptRelease{{"use", 1, -1}}, 1, false}, {[]keptRelease{{"use", 1, 2}}, 1, false},
		{[]keptRelease{{"use", 1, 1}, {"look", 2, 1}}, 2, true},
		{[]keptRelease{{"use", 1, 1}, {"use", 2, 1}}, 2, false},
		{[]keptRelease{{"use", 1, 1}, {"look", 2, 1}}, 1, false},
	} {
		k := &keeper{releases: map[string]*release{}}
		err := k.readReleases(c.list, slices.Repeat([]Section{part}, c.parts))
		if (err == nil) != c.good || !c.good && !errors.Is(err, ErrFormat) {
			t.Errorf("case %d: %v", i, err)
		}
		for _, r := range c.list {
			if got := k.releases[r.Purpose]; c.good && (got.made != r.Made || len(got.sums) != r.Parts) {
				t.Errorf("case %d: %q has %d shares of %d parts", i, r.Purpose, got.made, len(got.sums))
			}
		}
	}
}

// endingModel is a model that ends its caller's context at a call.
type endingModel struct {
	schema records.Schema
	calls  *int
	end    context.CancelFunc
}

func (m endingModel) Schema() records.Schema { return m.schema }
func (endingModel) Encode() (*File, error)   { return nil, errors.ErrUnsupported }
func (m endingModel) Sampler(Draw) (Sampler, error) {
	return Sampler{Schema: m.schema, Next: func(n int) (records.Data, error) {
		if *m.calls++; *m.calls == 2 {
			m.end()
		}
		rows := make([][]any, n)
		for i := range rows {
			rows[i] = []any{"no"}
		}
		return records.FromValues(m.schema, rows...)
	}}, nil
}

// TestCancelledDrawsEnd: a draw whose records never meet a constraint ends with its context, at
// once.
func TestCancelledDrawsEnd(t *testing.T) {
	s, err := records.NewSchema(records.Flag("f", "no", "yes"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	calls := 0
	p := deedOf(t, s, deed{run: func(context.Context, *Run) (Model, error) {
		return endingModel{s, &calls, cancel}, nil
	}}, Stage{Purpose: "use", Event: normal, Count: 1})
	data, err := records.FromValues(s, []any{"no"})
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Fit(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	_, err = g.Sample(ctx, 3, Given(records.Only("f", "yes")))
	if !errors.Is(err, context.Canceled) || calls != 2 {
		t.Errorf("after %d calls of the model: %v", calls, err)
	}
}
