package synthtest

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/pins"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// testKinds checks that every kind of record, under both relations, is fitted, sampled, saved and
// loaded, or is refused by Plan with a *param.Error or accountant.ErrUnsupported.
func (s Subject) testKinds(t *testing.T) {
	handled := 0
	for _, r := range relations {
		for _, k := range kinds(t) {
			t.Run(name(r, "/", k.name), func(t *testing.T) {
				p, err := s.Plan(k.schema, budgetOf(r), rows)
				if err != nil {
					var wrong *synth.ParamError
					if !errors.As(err, &wrong) && !errors.Is(err, accountant.ErrUnsupported) {
						t.Fatalf("refused with %v, want a *param.Error or ErrUnsupported", err)
					}
					t.Skip(err)
				}
				handled++
				s.kind(t, p, sample(t, k.schema, rows, 1))
			})
		}
	}
	if handled == 0 {
		t.Error("no kind of record is handled")
	}
}

func (s Subject) kind(t *testing.T, p synth.Plan, data records.Data) {
	paid := ledger.New(p.Budget())
	gen := must(p.FitOn(privacytest.Seeded(t, t.Context(), 7), paid, data))(t)
	pins.Run(t, p, gen)
	if got, want := gen.Guarantee().Epsilon, p.Total().Upper; !(got <= want) {
		t.Errorf("the guarantee has ε = %v, want at most the plan's %v", got, want)
	}
	checkBooks(t, p, paid)
	again := reload(t, s, gen)
	if !reflect.DeepEqual(again.Guarantee(), gen.Guarantee()) || again.System() != gen.System() {
		t.Errorf("the generator read back has the guarantee %v, want %v", again.Guarantee(),
			gen.Guarantee())
	}
	draws := [][]synth.DrawOption{{synth.Seed(5)}, {synth.Seed(5), synth.Means()},
		{synth.Seed(5), synth.FromCluster(gen.Clusters() - 1)}}
	all := len(draws) // of all classes
	for class := range gen.Schema().Classes() {
		draws = append(draws, []synth.DrawOption{synth.Seed(5), synth.OfClass(class)})
	}
	for i, d := range draws {
		drawn := must(gen.Sample(t.Context(), 30, d...))(t)
		if drawn.Len() != 30 {
			t.Errorf("got %d records, want 30", drawn.Len())
		}
		if err := records.Check(drawn); err != nil {
			t.Error(err)
		}
		between := func(p float32) bool { return p > 0 && p < 1 }
		if i == 1 && gen.Schema().IsBinary() && !gen.Schema().Sparse() &&
			!slices.ContainsFunc(contents(drawn).Dense.Data, between) {
			t.Error("synth.Means has no effect: the means of binary records are all 0 or 1")
		}
		for _, l := range contents(drawn).Labels {
			if class := i - all; class >= 0 && int(l) != class {
				t.Errorf("class %d has a record of class %d", class, l)
			}
		}
		same := must(again.Sample(t.Context(), 30, d...))(t)
		if !reflect.DeepEqual(contents(same), contents(drawn)) {
			t.Error("the generator read back draws other records from the same seed")
		}
	}
	checkSamplers(t, gen.Model())
	if none, err := gen.Sample(t.Context(), 0); err != nil || none.Len() != 0 {
		t.Errorf("a draw of 0 records: error %v", err)
	}
}

// checkSamplers checks that a sampler draws the same records if another one draws meanwhile.
func checkSamplers(t *testing.T, m synth.Model) {
	other := must(m.Sampler(synth.Draw{Cluster: -1, Class: -1, Seed: 6}))(t)
	draw := func(meanwhile bool) (all []device.Batch) {
		s := must(m.Sampler(synth.Draw{Cluster: -1, Class: -1, Seed: 5}))(t)
		for range 3 {
			all = append(all, contents(must(s.Next(10))(t)))
			if meanwhile {
				must(other.Next(10))(t)
			}
		}
		return all
	}
	if !reflect.DeepEqual(draw(false), draw(true)) {
		t.Error("a sampler draws other records if another sampler of the model draws meanwhile")
	}
}

// contents returns all records as one batch.
func contents(d records.Data) device.Batch {
	var b device.Batch
	d.Range(0, d.Len(), &b)
	return b
}

func reload(t *testing.T, s Subject, gen *synth.Generator) *synth.Generator {
	t.Helper()
	var file bytes.Buffer
	if err := gen.Save(&file); err != nil {
		t.Fatal(err)
	}
	again := must(synth.Systems{s.System}.Load(&file, s.Load...))(t)
	return again
}

// checkBooks checks that the ledger holds all stages of the plan and nothing else, and that it
// states the plan's price.
func checkBooks(t *testing.T, p synth.Plan, l *ledger.Ledger) {
	t.Helper()
	type line struct{ reserved, spent int }
	held := map[string]line{}
	eachEntry(l, func(e ledger.Entry) {
		h := held[e.Purpose]
		held[e.Purpose] = line{h.reserved + e.Reserved, h.spent + e.Spent}
	})
	for _, s := range p.Stages() {
		want := s.Count * max(s.Parts, 1)
		if got := held[s.Purpose]; got != (line{want, want}) {
			t.Errorf("%s: the ledger has %+v, want %d uses reserved and spent", s.Purpose, got, want)
		}
		delete(held, s.Purpose)
	}
	if len(held) > 0 {
		t.Errorf("the ledger has lines that the plan lacks: %v", held)
	}
	if got, want := l.Epsilon().Upper, p.Total().Upper; got > want*(1+1e-9) ||
		got < want*(1-1e-3) {
		t.Errorf("the ledger has ε = %v, want the plan's %v", got, want)
	}
}

// fit runs a plan and fails the test if the run fails.
func fit(t *testing.T, p synth.Plan, ledger *ledger.Ledger, data records.Data,
	opts ...synth.Option) *synth.Generator {
	t.Helper()
	return must(p.FitOn(context.Background(), ledger, data, opts...))(t)
}
