package merf

import (
	"context"
	"flag"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

var auditRuns = flag.Int("audit-runs", 60,
	"runs of each audit of learned features with the canary, and without it")

// audited is a plan of both releases with an image that an auditor looks for.
type audited struct {
	plan     *Plan
	without  records.Data
	with     records.Data
	canary   *records.Table
	relation accountant.Relation
	second   bool // the auditor sees the second release alone
}

// newAudited plans a run on nearly no records. The canary is the only image of its class, or
// replaces the only image of the other class.
func newAudited(t testing.TB, r accountant.Relation, epsilon, part float64) audited {
	t.Helper()
	s := records.Image(4, 4).WithLabels("a", "b")
	c := Config{Schema: s, Budget: accountant.Budget{Epsilon: epsilon, Delta: 1e-3, Relation: r},
		Seed: 1, Kernel: rff.RBF{Dim: 8, Bandwidth: 1},
		Learned: Learned{Part: part, Features: 8, Code: 2, Steps: 1, Records: 20, Epochs: 1},
		Generator: GeneratorConfig{Architecture: models.MLP{Hidden: []int{4}}, Latent: 1, Steps: 1,
			Batch: 8}}
	without := imagesOf(t, s)
	if r == accountant.ReplaceOne {
		c.Nominal, without = 1, imagesOf(t, s, 1)
	}
	p, err := c.Plan()
	if err != nil {
		t.Fatal(err)
	}
	canary := imagesOf(t, s, 0)
	return audited{plan: p, without: without, with: canary, canary: canary, relation: r}
}

// imagesOf returns an image for each label. The images of a class are equal.
func imagesOf(t testing.TB, s records.Schema, labels ...int32) *records.Table {
	t.Helper()
	flat := make([]float32, s.Dim()*len(labels))
	for i := range flat {
		if labels[i/s.Dim()] == 0 || i%2 == 0 {
			flat[i] = 1
		}
	}
	d, err := records.FromFlat(s, flat, labels...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// release carries out both releases.
func (a audited) release(planted bool) (*Embedding, error) {
	data := a.without
	if planted {
		data = a.with
	}
	return a.plan.Embed(context.Background(), accountant.NewLedger(a.plan.Budget()), data,
		synth.On(device.CPUWith(1)))
}

// score returns the likelihood of the canary: the inner product of the released sums with the
// effect of the canary on them. All coordinates have the same noise. The auditor knows the encoder,
// which is public when the second release is made.
func (a audited) score(t testing.TB, e *Embedding) float64 {
	t.Helper()
	from := 0
	if a.second {
		from = e.Features() - a.plan.work.config.Learned.Features
	}
	along := func(label int, d *records.Table) float64 {
		mean, err := e.meanOf(d)
		if err != nil {
			t.Fatal(err)
		}
		total := 0.0
		for i, v := range e.sum(label)[from:] {
			total += v * mean[from+i]
		}
		return total
	}
	out := along(0, a.canary)
	if a.relation == accountant.ReplaceOne {
		out -= along(1, a.without.(*records.Table))
	}
	return out
}

// audit returns the audit of a claim of ε.
func (a audited) audit(t testing.TB, claimed float64, runs int) privacytest.Canary[float64] {
	t.Helper()
	var spent accountant.Event
	if claimed == a.plan.Budget().Epsilon {
		var all accountant.Composed
		for _, s := range a.plan.Stages() {
			all.Events = append(all.Events, accountant.Repeated{Event: s.Event, Count: s.Count})
		}
		spent = all
	}
	return privacytest.Canary[float64]{
		Fit: func(planted bool) (float64, error) {
			e, err := a.release(planted)
			if err != nil {
				return 0, err
			}
			return a.score(t, e), nil
		},
		Score:   func(released float64) float64 { return released },
		Epsilon: claimed, Delta: 1e-3, FalseAlarm: 1e-9, Trainings: runs, Event: spent,
		Relation: a.relation,
	}
}

// TestCanaryAuditOfLearned looks for an image in both releases, and in the second one alone, which
// has nearly all of the effect then. The false alarm of each of the four audits is 1e-9. The test
// also proves the power: a run that spends 1,000 and claims ε = 0.5 is refuted in both views.
func TestCanaryAuditOfLearned(t *testing.T) {
	for _, c := range []struct {
		name     string
		relation accountant.Relation
		part     float64
		second   bool
	}{
		{"both releases", accountant.AddOrRemoveOne, 0.3, false},
		{"both releases, replace-one", accountant.ReplaceOne, 0.3, false},
		{"second release", accountant.AddOrRemoveOne, 0.9, true},
		{"second release, replace-one", accountant.ReplaceOne, 0.9, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := newAudited(t, c.relation, 6, c.part)
			a.second = c.second
			result := a.audit(t, 6, *auditRuns).Audit(t)
			t.Log(result)
			if result.Epsilon > 6 {
				t.Errorf("claimed ε = 6, but %v", result)
			}
			broken := newAudited(t, c.relation, 1000, c.part)
			broken.second = c.second
			if !broken.audit(t, 0.5, 200).Refuted(t) {
				t.Error("a run that claims ε = 0.5 and spends 1000 is not refuted")
			}
		})
	}
}
