package gan_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// failing is an architecture whose generators cannot be built when *now is true.
type failing struct {
	models.MLP
	now *bool
}

var errMemory = errors.New("no memory on the device")

func (f failing) NewGenerator(be device.Backend, latent int, heads []models.Head,
	seed uint64) (models.Generator, error) {
	if *f.now {
		return nil, errMemory
	}
	return f.MLP.NewGenerator(be, latent, heads, seed)
}

// TestGeneratorsThatFailLaterEndTheRun: if the network of a generator cannot be built, before the
// run, for a preview or at the end, the run ends with this error at once.
func TestGeneratorsThatFailLaterEndTheRun(t *testing.T) {
	s := records.Interval(5, 0, 1)
	for _, at := range []struct {
		stage       string
		step, every int
		previews    int
		spent       int // steps that are drawn; -1 if nothing is reserved
	}{{"", 0, 1, 0, -1}, {gan.StageWarm, 2, 1, 0, 0}, {gan.PurposeCritic, 2, 1, 2, 2},
		{gan.PurposeCritic, 2, 100, 1, 6}} {
		now := false
		c := small(s, 0)
		c.Generator = failing{models.MLP{Hidden: []int{7}}, &now}
		c.Public, c.WarmSteps = public(t, s, 9, 99), 2
		p, l, previews := mustPlan(t, c), ledger.New(c.Budget), 0
		now = at.stage == ""
		g, err := p.FitOn(t.Context(), l, some(t, s, 30, 1),
			synth.OnPreview(at.every, func(int, *synth.Generator) { previews++ }),
			synth.OnProgress(func(p synth.Progress) {
				now = now || p.Stage == at.stage && p.Step == at.step
			}))
		spent := -1
		for _, e := range l.Entries() {
			spent = e.Spent
		}
		if g != nil || !errors.Is(err, errMemory) || spent != at.spent || previews != at.previews {
			t.Errorf("%+v: a generator %v, error %v, %d steps and %d previews", at, g != nil, err, spent,
				previews)
		}
	}
}

// TestAWarmStartThatCannotBeSavedEndsTheRun: if the checkpoint cannot be written after the warm
// start, the run ends before it takes a private step.
func TestAWarmStartThatCannotBeSavedEndsTheRun(t *testing.T) {
	s := records.Interval(5, 0, 1)
	c := small(s, 0)
	c.Public, c.WarmSteps = public(t, s, 9, 99), 2
	for _, every := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "kept")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		l, warm := ledger.New(c.Budget), 0
		option := synth.Checkpoint(filepath.Join(dir, "run"))
		if every {
			option = synth.CheckpointEvery(filepath.Join(dir, "run"), 1)
		}
		g, err := mustPlan(t, c).FitOn(t.Context(), l, some(t, s, 30, 1), option,
			synth.OnProgress(func(p synth.Progress) {
				if warm++; p.Stage != gan.StageWarm {
					t.Errorf("a step of %q without its checkpoint", p.Stage)
				}
				if err := os.RemoveAll(dir); err != nil {
					t.Error(err)
				}
			}))
		if g != nil || err == nil || warm == 0 || l.Entries()[0].Spent != 0 {
			t.Errorf("a generator %v, error %v after %d steps, %v", g != nil, err, warm, l.Entries())
		}
	}
}

// TestGenerateChecksItsShapes: Generate computes the records of all codes, in order and in any
// number, and refuses what has other shapes.
func TestGenerateChecksItsShapes(t *testing.T) {
	s := records.Interval(5, 0, 1).WithLabels("a", "b")
	g, _ := fit(t, small(s, 0), some(t, s, 30, 1))
	m := g.Model().(*gan.Model)
	n := synth.SampleChunk + 3
	codes, labels, all := device.CPU().New(n, 3), make([]int32, n), device.CPU().New(n, 5)
	for i := range n {
		labels[i] = int32(i % 2)
		for j := range 3 {
			codes.Row(i)[j] = float32(i%7) - float32(j)
		}
	}
	if err := m.Generate(codes, labels, all); err != nil {
		t.Fatal(err)
	}
	one := device.CPU().New(1, 5)
	for _, i := range []int{0, 1, 6, synth.SampleChunk - 1, synth.SampleChunk, n - 1} {
		if err := m.Generate(codes.RowRange(i, i+1), labels[i:i+1], one); err != nil ||
			!reflect.DeepEqual(one.Row(0), all.Row(i)) {
			t.Errorf("code %d alone gives %v, want %v: %v", i, one.Row(0), all.Row(i), err)
		}
	}
	if slices.Equal(all.Row(0), all.Row(1)) || !slices.Equal(all.Row(0), all.Row(14)) {
		t.Error("records do not depend on codes and labels alone")
	}
	unlabelled := small(s, 0)
	unlabelled.IgnoreLabels = true
	h, _ := fit(t, unlabelled, some(t, s, 30, 1))
	free := h.Model().(*gan.Model)
	for what, c := range map[string]struct {
		model  *gan.Model
		codes  device.Matrix
		labels []int32
		dst    device.Matrix
		ok     bool
	}{"as it should": {m, codes, labels, all, true}, "short codes": {m, device.CPU().New(n, 2), labels,
		all, false}, "no labels": {m, codes, nil, all, false},
		"a label less": {m, codes, labels[1:], all, false},
		"a row less":   {m, codes, labels, all.RowRange(1, n), false},
		"narrow rows":  {m, codes, labels, device.CPU().New(n, 4), false},
		"no model":     {new(gan.Model), codes, labels, all, false},
		"nothing": {m, codes.RowRange(0, 0), []int32{}, all.RowRange(0, 0),
			true},
		"labels of none": {free, codes, labels, all, false}, "free": {free, codes, nil, all, true}} {
		err := c.model.Generate(c.codes, c.labels, c.dst)
		if wrong := (*param.Error)(nil); (err == nil) != c.ok || err != nil && !errors.As(err, &wrong) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := new(gan.Model).Layers(); err == nil || (*gan.Model)(nil).Schema().Dim() != 0 {
		t.Error("no model has layers or a schema")
	}
}

// TestPlansAreTheirOwn: a plan for another schema and budget has them, keeps the choices of the
// default rules when it is written and read, and does not follow the caller's changes.
func TestPlansAreTheirOwn(t *testing.T) {
	s, b := records.Interval(5, 0, 1), accountant.Budget{Epsilon: 2, Delta: 1e-6}
	hidden, wide := []int{7}, []int{5}
	c := gan.Config{Schema: records.Binary(9), Budget: accountant.Budget{Epsilon: 9, Delta: 1e-5},
		Nominal: 2000, Critic: models.MLP{Hidden: hidden}, Generator: models.MLP{Hidden: wide}}
	p := must(c.PlanFor(s, b))(t).(*gan.Plan)
	if !p.Config.Schema.Equal(s) || p.Config.Budget != b {
		t.Errorf("a plan for %v and %v is for %v and %v", s, b, p.Config.Schema, p.Config.Budget)
	}
	text := must(json.Marshal(p))(t)
	back := must(systems.ReadPlan(text))(t)
	if back.String() != p.String() || !strings.Contains(p.String(), "Train.Steps") {
		t.Errorf("the plan read is\n%v, want\n%v", back, p)
	}
	hidden[0], wide[0] = 6, 6
	if after := must(json.Marshal(p))(t); !slices.Equal(after, text) {
		t.Errorf("the caller has changed the plan to\n%s", after)
	}
	for _, change := range []func(c *gan.Config){func(c *gan.Config) { c.Nominal = -1 },
		func(c *gan.Config) { c.Budget = accountant.Budget{Epsilon: 1e-9, Delta: 1e-300} },
		func(c *gan.Config) { c.Schema = records.Schema{} }} {
		bad := c
		change(&bad)
		if p, err := bad.Plan(); err == nil || p != nil {
			t.Errorf("%+v has a plan", bad)
		}
	}
}
