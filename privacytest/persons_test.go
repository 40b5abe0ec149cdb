package privacytest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/tables"
)

// byPerson lists the runs that take persons.
var byPerson = []string{"merf", "merf, table", "merf, sets in a stream", "merf, samples",
	"kmeans", "kmeans, private norm", "sets, independent", "sets, MWEM",
	"tables, AIM", "tables, MST", "dpgm, marginals", "gan",
	"mix", "mix, projected, centred", "compose, linked"}

// alsoByPerson lists runs that are replayed record by record elsewhere.
var alsoByPerson = []struct {
	name   string
	schema records.Schema
	fit    func(s records.Schema, b accountant.Budget) fitting
}{
	{"merf, samples", records.Interval(3, -1, 2).WithLabels("a", "b"), fitMerfSamples},
	{"kmeans", records.Interval(3, 0, 1), fitCentres},
	{"kmeans, private norm", records.Interval(3, -2, 1), fitCentresByNorm},
	{"tables, AIM", smallTable(), fitAIM},
	{"compose, linked", smallTable().WithoutLabels(), fitLinked},
}

// fitLinked fits persons as a table of their numbers of rows and a table of their rows.
func fitLinked(s records.Schema, b accountant.Budget) fitting {
	t := records.Tables{Name: "persons", Key: "person", Children: []records.Tables{{Name: "rows",
		Schema: s.ByPerson(0), Parents: []string{"person"}, Most: s.RowsPerPerson(), Ordered: true}}}
	aim := tables.AIM{Common: tables.Common{Bins: 3, Seed: 4}, Rounds: 2}
	return func(ctx context.Context, l *ledger.Ledger, data records.Data) (any, error) {
		b.Epsilon = 2
		p, err := compose.Linked{Tables: t, Of: aim, Each: aim}.PlanFor(t.Full(), b)
		if err != nil {
			return nil, err
		}
		persons, _ := records.AsPersons(data)
		rows, err := records.Concat(s.ByPerson(0), persons.Rows())
		if err != nil {
			return nil, err
		}
		own := records.Keyed{Parents: [][]string{{}}}
		own.Rows, _ = records.AsFrame(rows)
		keys := []string{}
		for i := range persons.Len() {
			keys = append(keys, fmt.Sprint(i))
			for lo, hi := persons.Span(i); lo < hi; lo++ {
				own.Parents[0] = append(own.Parents[0], keys[i])
			}
		}
		linked, err := records.Link(t, records.Keyed{Keys: keys}, own)
		if err != nil {
			return nil, err
		}
		return released(p.FitOn, ctx, l, linked)
	}
}

func fitMerfSamples(s records.Schema, b accountant.Budget) fitting {
	return func(ctx context.Context, l *ledger.Ledger, data records.Data) (any, error) {
		c := merf.Config{Schema: s, Budget: b, NoiseMultiplier: 2, Features: 20,
			Batches: merf.Batches{Probability: 0.5, Steps: 3}}
		if b.Relation == accountant.ReplaceOne {
			c.Nominal = 7
		}
		plan, err := c.Plan()
		if err != nil {
			return nil, err
		}
		e, err := plan.Embed(ctx, l, data, synth.On(device.CPUWith(2)))
		return embedded(ctx, e, err)
	}
}

func fitCentresByNorm(s records.Schema, _ accountant.Budget) fitting {
	return func(ctx context.Context, l *ledger.Ledger, data records.Data) (any, error) {
		cfg := kmeans.Config{K: 2, Iterations: 2, NoiseMultiplier: 3,
			Norm: &kmeans.DPNorm{Max: 3, Bins: 6, NoiseMultiplier: 2}}
		return kmeans.Fit(ctx, cfg, kmeans.Raw(s), data, l)
	}
}

func smallTable() records.Schema {
	s, err := records.NewSchema(records.Integer("n", 0, 3).WithMissing(),
		records.Categorical("c", "p", "q"), records.Label("y", "a", "b"))
	if err != nil {
		panic(err)
	}
	return s
}

func fitAIM(s records.Schema, b accountant.Budget) fitting {
	return func(ctx context.Context, l *ledger.Ledger, data records.Data) (any, error) {
		b.Epsilon = 2
		plan, err := tables.AIM{Common: tables.Common{Schema: s, Budget: b, Bins: 3, Seed: 4},
			Rounds: 2, Order: 2}.Plan()
		if err != nil {
			return nil, err
		}
		return released(plan.FitOn, ctx, l, data)
	}
}

func fitMST(s records.Schema, b accountant.Budget) fitting {
	return planned(func() (synth.Plan, error) {
		b.Epsilon = 2
		return synth.PlanOf(tables.MST{Common: tables.Common{Schema: s, Budget: b, Bins: 3,
			Seed: 4}}.Plan())
	})
}

// TestSystemsUnderReplayByPerson: a whole person is added, removed or replaced. The person has one,
// three or thirty rows, and at most three rows are kept. No input of a mechanism changes by more
// than the declared effect.
func TestSystemsUnderReplayByPerson(t *testing.T) {
	if !*long {
		t.Skip("see -long")
	}
	for _, c := range append(alsoByPerson, replayed...) {
		if !slices.Contains(byPerson, c.name) {
			continue
		}
		s := c.schema.ByPerson(3)
		for _, r := range relations {
			t.Run(c.name+" "+r.String(), func(t *testing.T) {
				replayAll(t, s, r, c.fit(s, accountant.Budget{Epsilon: 1e3, Delta: 1e-5, Relation: r}))
			})
		}
	}
}

// TestTrainingUnderReplayByPerson replays DP-SGD by person, for every kind of network and clip
// norm.
func TestTrainingUnderReplayByPerson(t *testing.T) {
	if !*long {
		t.Skip("see -long")
	}
	for _, c := range trainings() {
		for _, r := range relations {
			t.Run(c.name+" "+r.String(), func(t *testing.T) {
				replayAll(t, c.schema.ByPerson(3), r, training(c.cfg, c.network))
			})
		}
	}
}

// TestNeighboursByPerson: the pairs differ in one person. The person has one row, three rows or
// thirty rows; three of the thirty are kept.
func TestNeighboursByPerson(t *testing.T) {
	s := records.Interval(2, 0, 1).WithLabels("a", "b").ByPerson(3)
	for _, r := range relations {
		sizes := map[int]bool{}
		pairs := privacytest.Neighbours(t, s, r, 7, 1)
		for _, p := range append(pairs, privacytest.Edges(t, s, r, 1)...) {
			a, _ := records.AsPersons(p.Data)
			b, _ := records.AsPersons(p.Neighbour)
			if r == accountant.AddOrRemoveOne && b.Len() != a.Len()+1 ||
				r == accountant.ReplaceOne && b.Len() != a.Len() {
				t.Fatalf("%s: got %d and %d persons", p.Name, a.Len(), b.Len())
			}
			sizes[b.Rows().Len()-a.Rows().Len()] = true
			if strings.Contains(p.Name, " 30 rows") && r == accountant.AddOrRemoveOne &&
				b.Rows().Len() != a.Rows().Len()+3 {
				t.Errorf("%s: %d rows of 30 are kept, want 3", p.Name, b.Rows().Len()-a.Rows().Len())
			}
		}
		if r == accountant.AddOrRemoveOne && (len(sizes) != 2 || !sizes[1] || !sizes[3]) {
			t.Errorf("got added persons of %v rows, want 1 and 3", sizes)
		}
	}
}

// TestPersonsByRowAreCompared: Replay detects that two persons differ only in their second rows. A
// run that reads a person's rows only if the person is in the sample has no findings. A run that
// always reads these rows has findings.
func TestPersonsByRowAreCompared(t *testing.T) {
	build := func(second float32) records.Data {
		d := must(records.FromFlat(records.Interval(1, 0, 1), []float32{0.5, second, 0.25}))(t)
		return must(records.GroupBy(d, []int{1, 1, 2}, 2))(t)
	}
	run := func(sampled bool) fitting {
		return func(ctx context.Context, l *ledger.Ledger, d records.Data) (any, error) {
			g, err := mechanism.Begin(ctx, l).Spend("sum", accountant.PoissonSampled{
				Probability: 0.5, Event: accountant.Gaussian{NoiseMultiplier: 2}})
			if err != nil {
				return nil, err
			}
			sample, _ := g.PoissonSample(d.Len(), nil, nil)
			p, sum := d.(*records.Persons), mechanism.NewFixedSum(1, 0x1p-20)
			if !sampled {
				sample = []int32{0}
			}
			var b device.Batch
			p.Rows().Gather(p.AppendRows(nil, sample), &b)
			for i, row := range b.Index {
				sum.AddRow(b.Dense.Row(i), float64(p.Share(int(row))))
			}
			out := make([]float64, 1)
			err = g.Release(0.5, mechanism.Part{Sum: sum, Std: 2, Out: out})
			return out, err
		}
	}
	for _, sampled := range []bool{true, false} {
		r := privacytest.Replay[records.Data]{Run: run(sampled), Data: build(0), Neighbour: build(1),
			Budget: accountant.Budget{Epsilon: 1e3, Delta: 1e-5, Relation: accountant.ReplaceOne}}
		if f := r.Findings(t); (len(f) == 0) != sampled {
			t.Errorf("reads rows of the sample only: %v; got findings %q", sampled, f)
		}
	}
}
