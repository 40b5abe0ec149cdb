package gan_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

var systems = synth.Systems{gan.System()}

func TestPlanJSON(t *testing.T) {
	s := records.Interval(5, 0, 1).WithLabels("a", "b")
	for name, c := range variants(t, s, accountant.ReplaceOne) {
		p := mustPlan(t, c)
		text, err := json.Marshal(p)
		if c.Public.Data() != nil {
			if err == nil {
				t.Errorf("%s: a plan with public records was written, want an error", name)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		back, err := systems.ReadPlan(text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		again, err := json.Marshal(back)
		if err != nil || !bytes.Equal(again, text) || back.String() != p.String() ||
			back.Total() != p.Total() {
			t.Errorf("%s: error %v, or the plan read\n%v\ndiffers from\n%v", name, err, back, p)
		}
		if read := back.(*gan.Plan); !reflect.DeepEqual(read.Config, p.Config) {
			t.Errorf("%s: the plan read from JSON has another configuration: %+v", name, read.Config)
		}
	}
}

// TestHostilePlans checks that reading an invalid plan returns an error and a nil plan.
func TestHostilePlans(t *testing.T) {
	text := must(json.Marshal(mustPlan(t, small(records.Interval(5, 0, 1), 0))))(t)
	for old, bad := range map[string]string{
		`"latent":3`:           `"latent":0`,
		`"latent":3,`:          `"latent":"3",`,
		`"critic":{`:           `"other":{`,
		`"name":"mlp"`:         `"name":"none"`,
		`"generator_batch":6`:  `"generator_batch":6,"public":"00"`,
		`"critic_steps":2`:     `"critic_steps":2,"warm_steps":1`,
		`"seed":"5"`:           `"seed":5`,
		`"loss":"wasserstein"`: `"loss":"hinge"`,
		`"generator":{`:        `"generators":{`,
	} {
		hostile := strings.Replace(string(text), old, bad, 1)
		if hostile == string(text) {
			t.Fatalf("the plan does not contain %s: %s", old, text)
		}
		p, err := systems.ReadPlan([]byte(hostile))
		if err == nil || p != nil {
			t.Errorf("%s: got plan %v and error %v, want a nil plan and an error", bad, p, err)
		}
	}
}

// TestNetworksOfPlansAreLimited checks that a plan may name networks of exactly as many parameters
// as the limits allow.
func TestNetworksOfPlansAreLimited(t *testing.T) {
	for name, change := range map[string]func(c *gan.Config){
		"critic":    func(c *gan.Config) { c.Critic = models.MLP{Hidden: []int{300}} },
		"generator": func(c *gan.Config) { c.Generator = models.MLP{Hidden: []int{300}} },
	} {
		c := small(records.Interval(5, 0, 1).WithLabels("a", "b"), 0)
		change(&c)
		text := must(mustPlan(t, c).MarshalJSON())(t)
		size := map[string]int64{"critic": (5+1)*300 + (1+2)*301, // a score, and one for each class
			"generator": (3+2+1)*300 + 301*5}[name]
		for most, refused := range map[int64]bool{size: false, size - 1: true} {
			_, err := systems.ReadPlan(text, synth.WithLimits(records.Limits{Parameters: most}))
			if errors.As(err, new(*records.LimitError)) != refused || err != nil && !refused {
				t.Errorf("%s, limit %d: %v", name, most, err)
			}
		}
	}
}

// TestZeroValues checks that zero values can be printed and that their other methods return errors.
func TestZeroValues(t *testing.T) {
	s := records.Interval(5, 0, 1)
	p, m, data := new(gan.Plan), new(gan.Model), some(t, s, 3, 1)
	second := func(_ any, err error) error { return err }
	_ = p.Stages()
	_, _ = m.Schema(), p.Total()
	if p.String() == "" {
		t.Error("the zero plan has no text")
	}
	for name, err := range map[string]error{
		"fit":     second(p.Fit(t.Context(), data)),
		"fit on":  second(p.FitOn(t.Context(), ledger.New(small(s, 0).Budget), data)),
		"write":   second(p.MarshalJSON()),
		"encode":  second(m.Encode()),
		"sampler": second(m.Sampler(synth.Draw{})),
	} {
		var wrong *param.Error
		if !errors.As(err, &wrong) {
			t.Errorf("%s: got %v, want *param.Error", name, err)
		}
	}
}

func TestFileRoundTrip(t *testing.T) {
	for _, s := range schemas(t)[:2] {
		for name, c := range variants(t, s, accountant.AddOrRemoveOne) {
			g, _ := fit(t, c, some(t, s, 20, 1))
			var text bytes.Buffer
			if err := g.Save(&text); err != nil {
				t.Fatal(err)
			}
			back, err := systems.Load(bytes.NewReader(text.Bytes()))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			file := encoded(t, g)
			for _, opts := range [][]synth.DrawOption{{synth.Seed(1)}, {synth.Seed(2), synth.Means()}} {
				if !reflect.DeepEqual(draw(t, g, 20, opts...), draw(t, back, 20, opts...)) {
					t.Errorf("%s: the loaded generator draws other records", name)
				}
			}
			if !reflect.DeepEqual(encoded(t, back), file) ||
				!reflect.DeepEqual(back.Guarantee(), g.Guarantee()) {
				t.Errorf("%s: the loaded generator has another model or guarantee", name)
			}
			file.Sections[0].Data = file.Sections[0].Data[4:]
			if m, err := gan.System().Model(file, synth.Loading{}); !errors.Is(err, synth.ErrFormat) ||
				m != nil {
				t.Errorf("%s: a file with a missing number: got %v, want ErrFormat", name, err)
			}
		}
	}
}

func TestMistakesComeTogether(t *testing.T) {
	c := small(records.Interval(5, 0, 1), 0)
	c.Latent, c.Average, c.GeneratorBatch = 0, 1, 1
	c.CriticSteps, c.WarmSteps, c.Penalty = -1, 3, -1
	_, err := c.Plan()
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || len(joined.Unwrap()) < 6 {
		t.Fatalf("got %v, want at least 6 joined errors", err)
	}
	for name, change := range map[string]func(*gan.Config){
		"no critic":     func(c *gan.Config) { c.Critic = nil },
		"an allocation": func(c *gan.Config) { c.Train.RandomAllocation = true },
		"no generator":  func(c *gan.Config) { c.Generator = nil },
		"wrong image":   func(c *gan.Config) { c.Generator = models.Generator28(32, 16) },
		"clip and groups": func(c *gan.Config) {
			c.Public = public(t, c.Schema, 3, 1)
			c.Clipping = gan.Clipping{Groups: gan.WeightsAndBiases, Adaptive: true}
		},
		"groups without norms": func(c *gan.Config) {
			c.Clipping = gan.Clipping{Groups: gan.WeightsAndBiases}
		},
		"kept norms of nothing": func(c *gan.Config) { c.Clipping.Kept = true },
		"no clusters": func(c *gan.Config) {
			c.Public, c.Train.ClipNorm = public(t, c.Schema, 3, 1), 0
			c.Clipping = gan.Clipping{Groups: gan.Clustered, Adaptive: true}
		},
		"more clusters than blocks": func(c *gan.Config) {
			c.Public, c.Train.ClipNorm = public(t, c.Schema, 3, 1), 0
			c.Clipping = gan.Clipping{Groups: gan.Clustered, K: 1000, Adaptive: true}
		},
		"unused public": func(c *gan.Config) { c.Public = public(t, c.Schema, 3, 1) },
		"huge critic": func(c *gan.Config) {
			c.Critic = models.MLP{Hidden: []int{math.MaxInt}, Activation: models.LeakyReLU}
		},
		"huge generator": func(c *gan.Config) { c.Generator = models.MLP{Hidden: []int{math.MaxInt}} },
		"huge batch":     func(c *gan.Config) { c.GeneratorBatch = math.MaxInt },
		"huge public batch": func(c *gan.Config) {
			c.Train.ClipNorm, c.Public = 0, public(t, c.Schema, 9, 99)
			c.Clipping = gan.Clipping{Adaptive: true, Batch: math.MaxInt}
		},
		"correlated noise": func(c *gan.Config) { c.Train.Bands = 2 },
		"too dear":         func(c *gan.Config) { c.Train.NoiseMultiplier = 0.1 },
	} {
		c := small(records.Interval(5, 0, 1), 0)
		change(&c)
		if _, err := c.Plan(); err == nil {
			t.Errorf("%s: Plan accepts the configuration, want an error", name)
		}
	}
}

// byUser states that each row of its records is everything about one person.
type byUser struct{ records.Data }

func (byUser) Unit() string { return records.UnitUser }

// TestUnit checks that the guarantee's unit is the user if each row is a user.
func TestUnit(t *testing.T) {
	s := records.Interval(5, 0, 1)
	g, err := mustPlan(t, small(s, 0)).Fit(t.Context(), byUser{some(t, s, 30, 1)})
	if err != nil || g.Guarantee().Unit != records.UnitUser {
		t.Errorf("got error %v and unit %s, want the user", err, g.Guarantee().Unit)
	}
}

// unwritable is an architecture that cannot be written as JSON.
type unwritable struct {
	models.MLP
	Hook func()
}

// TestUnwritablePlansKeepNoCheckpoint checks that a plan cannot use a checkpoint if the plan cannot
// be written. Checkpoints of different plans could otherwise not be distinguished.
func TestUnwritablePlansKeepNoCheckpoint(t *testing.T) {
	s := records.Interval(5, 0, 1)
	c, data := small(s, 0), some(t, s, 30, 1)
	c.Critic = unwritable{MLP: models.MLP{Activation: models.LeakyReLU}}
	l := ledger.New(c.Budget)
	_, err := mustPlan(t, c).FitOn(t.Context(), l, data,
		synth.Checkpoint(filepath.Join(t.TempDir(), "k")))
	if err == nil || len(l.Entries()) != 0 {
		t.Errorf("got error %v and ledger entries %v, want an error and none", err, l.Entries())
	}
	fit(t, c, data)
}

// TestSetsAreNoLongerThanTheSchemaAllows checks that drawn sets have at most the schema's number of
// items, for any output of the generator.
func TestSetsAreNoLongerThanTheSchemaAllows(t *testing.T) {
	s := records.Sets(9, 1)
	data := must(records.FromItems(s, [][]uint32{{1}, {2}, {8}}))(t)
	g, _ := fit(t, small(s, 0), data)
	if got := draw(t, g, 50).Len(); got != 50 { // draw checks every record
		t.Errorf("got %d records, want 50", got)
	}
}
