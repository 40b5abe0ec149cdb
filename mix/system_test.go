package mix_test

import (
	"flag"
	"runtime/debug"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/synth/synthtest"
)

// Tests leave much garbage and hold little memory, so collections may be rare. Long ones hold more.
func init() {
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(2 << 30)
}

// together plans 200 mixtures of records of all classes.
func together(s records.Schema, b accountant.Budget, n int) (synth.Plan, error) {
	return quick(mix.Config{Schema: s, Budget: b, Mixtures: 200, ClipNorm: 2}, n)
}

// apart plans mixtures of one class each, with released centres.
func apart(s records.Schema, b accountant.Budget, n int) (synth.Plan, error) {
	classes := s.Classes()
	if classes < 2 {
		return nil, param.New("mix_test.schema", s.String(), "classes")
	}
	return quick(mix.Config{Schema: s, Budget: b, Mixtures: 100 * classes, ClipNorm: 2, ByClass: true,
		Centers: mix.Centers{Share: 0.3, ClipNorm: 1}}, n)
}

func quick(c mix.Config, n int) (synth.Plan, error) {
	c.Sampling = mix.Poisson{Nominal: n, Degree: 4}
	if c.Budget.Relation == accountant.ReplaceOne {
		c.Sampling = mix.PoissonReplaceOne{Records: n, Degree: 4}
	}
	p, err := c.Plan()
	if err != nil {
		return nil, err
	}
	return p, nil
}

func subjects() map[string]synthtest.Subject {
	return map[string]synthtest.Subject{"together": {System: mix.System(), Plan: together},
		"apart": {System: mix.System(), Plan: apart, OwnNumbers: true}}
}

func TestSystem(t *testing.T) {
	t.Parallel() // it waits for the disk
	for name, subject := range subjects() {
		t.Run(name, func(t *testing.T) { synthtest.Run(t, subject) })
	}
}

var (
	kills = flag.Int("kills", 4, "number of processes to kill")
	long  = flag.Bool("long", false, "recompute a table of noise, too")
)

func TestKilledRunsGoOn(t *testing.T) { synthtest.Kill(t, subjects()["together"], *kills) }

func TestKilledRunsByClassGoOn(t *testing.T) { synthtest.Kill(t, subjects()["apart"], *kills) }

func TestProcessesShareACheckpoint(t *testing.T) {
	synthtest.Race(t, subjects()["apart"], max(*kills/4, 1))
}

// TestMixturesOfAClassAreOfItsRecords checks that no record of another class is in a mixture of one
// class: the parts are priced as disjoint. Records of one class have 1 and the others −1, so with
// hardly any noise each mixture has the sign of its class.
func TestMixturesOfAClassAreOfItsRecords(t *testing.T) {
	s := records.Interval(1, -1, 1).WithLabels("a", "b")
	values, labels := make([]float32, 300), make([]int32, 300)
	for i := range values {
		if values[i] = -1; i%3 == 0 {
			values[i], labels[i] = 1, 1
		}
	}
	data := must(records.FromFlat(s, values, labels...))(t)
	ctx := privacytest.Seeded(t, t.Context(), 1)
	gen, err := mustPlan(t, mix.Config{Schema: s, Budget: accountant.Budget{Epsilon: 1e5, Delta: 1e-5},
		Sampling: mix.Poisson{Nominal: 300, Degree: 60}, Mixtures: 20, ClipNorm: 2, ByClass: true}).
		Fit(ctx, data)
	if err != nil {
		t.Fatal(err)
	}
	m := gen.Model().(*mix.Model).Rows()
	for i := range m.Len() {
		ofB, sign := m.Labels(i)[1] > m.Labels(i)[0], m.Features(i)[0]
		if ofB != (sign > 0) {
			t.Errorf("mixture %d has labels %v and the mean %v", i, m.Labels(i), sign)
		}
	}
}
