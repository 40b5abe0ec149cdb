package mix_test

import (
	"context"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// small returns the configuration of a whole run that takes milliseconds.
func small(s records.Schema, sampling mix.Sampling) mix.Config {
	return mix.Config{
		Schema:   s,
		Budget:   accountant.Budget{Epsilon: 8, Delta: 1e-5, Relation: sampling.Relation()},
		Sampling: sampling,
		Mixtures: 42,
		ClipNorm: 1.5,
	}
}

func mustPlan(t testing.TB, c mix.Config) *mix.Plan {
	t.Helper()
	return must(c.Plan())(t)
}

// fit runs a plan.
func fit(t testing.TB, p *mix.Plan, data records.Data) *synth.Generator {
	t.Helper()
	return must(p.Fit(t.Context(), data))(t)
}

// released returns the model that a plan releases.
func released(t testing.TB, p *mix.Plan, data records.Data) *mix.Model {
	t.Helper()
	return fit(t, p, data).Model().(*mix.Model)
}

// variants returns configurations for n records, by name, that cover everything the guarantee
// depends on: sampling, projection, centres and classes.
func variants(s records.Schema, r accountant.Relation, n int) map[string]mix.Config {
	n = max(n, 1)
	samplings := map[string]mix.Sampling{"poisson": mix.Poisson{Nominal: 12, Degree: 3}}
	if r == accountant.ReplaceOne {
		samplings = map[string]mix.Sampling{"poisson": mix.PoissonReplaceOne{Records: n,
			Degree: min(n, 3)},
			"subset": mix.WithoutReplacement{Records: n, Degree: min(n, 3)}}
	}
	out := map[string]mix.Config{}
	for name, sampling := range samplings {
		c := small(s, sampling)
		out[name] = c
		projected := c
		projected.Projection = mix.Projection{Dim: 3, Seed: 4}
		out[name+" projected"] = projected
		centred := c
		centred.Centers = mix.Centers{Share: 0.3, ClipNorm: 1}
		out[name+" centred"] = centred
		if s.Classes() < 2 || name == "subset" || n < 3*s.Classes() {
			continue
		}
		byClass := centred
		byClass.ByClass = true
		out[name+" by class"] = byClass
	}
	return out
}

func schemas(t *testing.T) []records.Schema {
	return []records.Schema{records.Binary(6).WithLabels("a", "b"),
		records.Interval(4, -1, 1).WithLabels("a",
			"b", "c"), records.Image(2, 3).WithLabels("a", "b")}
}

// TestNothingButNoisedSumsDependsOnARecord replays whole runs on neighbouring data sets with the
// mechanisms' answers fixed. The ledger, the progress and the released rows must be bit-identical,
// and sums must not differ by more than the declared effect.
func TestNothingButNoisedSumsDependsOnARecord(t *testing.T) {
	for _, s := range schemas(t) {
		for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
			turn := 0
			pairs := privacytest.Neighbours(t, s, r, 12, 3)
			for _, pair := range pairs {
				if r == accountant.ReplaceOne && pair.Data.Len() == 0 {
					continue
				}
				all := variants(s, r, pair.Data.Len())
				for _, name := range slices.Sorted(maps.Keys(all)) {
					c := all[name]
					// Rows are numbered within their class. A replay cannot follow the numbers if a row with a
					// smaller number is added or removed, or changes its class. See synthtest.Subject.OwnNumbers.
					if c.ByClass && (r == accountant.ReplaceOne || strings.Contains(pair.Name, "in front") ||
						strings.Contains(pair.Name, "in the middle")) {
						continue
					}
					// Each pair is tested with some of the variants, and every variant is tested.
					if turn++; turn%23 != 0 {
						continue
					}
					c.Budget.Epsilon, c.NoiseMultiplier = 1e3, 1.5 // given, so that nothing has to be calibrated
					if c.Centers.Share > 0 {
						c.Centers.Share, c.Centers.NoiseMultiplier = 0, 2
					}
					plan := mustPlan(t, c)
					t.Run(s.String()+"/"+r.String()+"/"+name+"/"+pair.Name, func(t *testing.T) {
						privacytest.Replay[records.Data]{Run: everythingVisible(plan), Budget: c.Budget,
							Data: pair.Data, Neighbour: pair.Neighbour, Seeds: 1}.Check(t)
					})
				}
			}
		}
	}
}

// everythingVisible returns a function for replays. It runs the plan and returns all released and
// reported values. With one worker the order of events is the same in every run.
func everythingVisible(p *mix.Plan) func(context.Context, *ledger.Ledger,
	records.Data) (any, error) {
	return func(ctx context.Context, l *ledger.Ledger, data records.Data) (any, error) {
		var told []synth.Progress
		gen, err := p.FitOn(ctx, l, data, synth.On(device.CPUWith(1)),
			synth.OnProgress(func(s synth.Progress) {
				s.Elapsed = 0
				told = append(told, s)
			}))
		if err != nil {
			return told, err
		}
		file, err := gen.Model().Encode()
		return []any{told, file}, err
	}
}

// grey draws labelled records at random. Later classes have fewer records.
func grey(t testing.TB, n int, s records.Schema) *records.Table {
	t.Helper()
	return greyOf(t, n, s, func(rng *rand.Rand, classes int) int {
		return min(rng.IntN(classes), rng.IntN(classes))
	})
}

func greyOf(t testing.TB, n int, s records.Schema,
	class func(rng *rand.Rand, classes int) int) *records.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(9, uint64(n)))
	flat, labels := make([]float32, n*s.Dim()), make([]int32, n)
	for i := range flat {
		flat[i] = rng.Float32()
	}
	for i := range labels {
		labels[i] = int32(class(rng, max(s.Classes(), 1)))
	}
	if s.Classes() == 0 {
		labels = nil
	}
	return must(records.FromFlat(s, flat, labels...))(t)
}

// TestLedgerHoldsThePlan checks that the ledger has exactly the plan's events.
func TestLedgerHoldsThePlan(t *testing.T) {
	s := records.Image(2, 3).WithLabels("a", "b")
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		for name, c := range variants(s, r, 30) {
			t.Run(r.String()+"/"+name, func(t *testing.T) {
				p := mustPlan(t, c)
				l := ledger.New(c.Budget)
				gen := must(p.FitOn(t.Context(), l, grey(t, 30, s)))(t)
				checkLedger(t, p, l)
				if got := l.Epsilon().Upper; math.Abs(got-p.Total().Upper) > 1e-9*got ||
					got > c.Budget.Epsilon {
					t.Errorf("ε is %v by the ledger, %v by the plan; the budget is %v", got, p.Total().Upper,
						c.Budget.Epsilon)
				}
				if g := gen.Guarantee(); len(g.NoiseClass) != 1 || g.NoiseClass[0] != ledger.ExactNoise ||
					g.Relation != r {
					t.Errorf("guarantee: noise class %v under %v, want exact noise", g.NoiseClass, g.Relation)
				}
			})
		}
	}
}

// checkLedger compares the events on the ledger and its children with the events of the plan's
// stages.
func checkLedger(t *testing.T, p *mix.Plan, paid *ledger.Ledger) {
	t.Helper()
	ledgers := []*ledger.Ledger{paid}
	for _, g := range paid.Children() {
		ledgers = append(ledgers, g.Parts...)
	}
	lines := 0
	for _, l := range ledgers {
		for _, e := range l.Entries() {
			lines++
			for _, stage := range p.Stages() {
				if e.Purpose == stage.Purpose &&
					(e.Spent != stage.Count || e.Reserved != stage.Count || e.Late ||
						!accountant.EqualEvents(stage.Event, e.Event)) {
					t.Errorf("%s: %d of %d × %v, planned %d × %v", e.Purpose, e.Spent, e.Reserved, e.Event,
						stage.Count,
						stage.Event)
				}
			}
		}
	}
	want := 0
	for _, stage := range p.Stages() {
		want += max(stage.Parts, 1)
	}
	if lines != want {
		t.Errorf("the ledger has %d entries, want %d", lines, want)
	}
}

// TestRelationsCannotBeMixedUp checks that Plan refuses a sampling for another relation than the
// budget's.
func TestRelationsCannotBeMixedUp(t *testing.T) {
	s := records.Image(2, 3).WithLabels("a", "b")
	for _, sampling := range []mix.Sampling{mix.Poisson{Nominal: 9, Degree: 2},
		mix.PoissonReplaceOne{Records: 9, Degree: 2}, mix.WithoutReplacement{Records: 9, Degree: 2}} {
		c := small(s, sampling)
		mustPlan(t, c)
		c.Budget.Relation = accountant.AddOrRemoveOne + accountant.ReplaceOne - c.Budget.Relation
		var param *param.Error
		if _, err := c.Plan(); !errors.As(err, &param) || param.Path != "mix.Config.Sampling" {
			t.Errorf("%T under %v: got %v, want *param.Error for Sampling", sampling, c.Budget.Relation, err)
		}
	}
	sizes := small(s, mix.WithoutReplacement{Records: 9, Degree: 2})
	sizes.ByClass = true
	if _, err := sizes.Plan(); err == nil {
		t.Error("Plan accepts subsets with ByClass, although class sizes are private")
	}
	p := mustPlan(t, small(s, mix.PoissonReplaceOne{Records: 9, Degree: 2}))
	l := ledger.New(p.Config.Budget)
	if _, err := p.FitOn(t.Context(), l, grey(t, 8, s)); !errors.Is(err, synth.ErrRecords) ||
		len(l.Entries()) != 0 {
		t.Errorf("eight records instead of nine: got %v, want ErrRecords and no ledger entry", err)
	}
}

// TestHostileRecordsAreMixed checks that records with NaN, infinite or huge coordinates do not make
// a run fail. Under add/remove, an empty data set must not make it fail either.
func TestHostileRecordsAreMixed(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	s := records.Interval(4, -0.3, 0.1).WithLabels("a", "b")
	wild := must(records.FromRows(s,
		[][]float32{{nan, nan, nan, nan}, {inf, -inf, 1e38, -0}, {5, 5, 5, 5}}, 7, -1, 1))(t)
	for name, data := range map[string]*records.Table{"hostile": wild, "empty": grey(t, 0, s)} {
		for variant, c := range variants(s, accountant.AddOrRemoveOne, 12) {
			drawn, err := fit(t, mustPlan(t, c), data).Sample(t.Context(), 100)
			if err == nil {
				err = records.Check(drawn)
			}
			if err != nil {
				t.Errorf("%s, %s: %v", name, variant, err)
			}
		}
	}
}
