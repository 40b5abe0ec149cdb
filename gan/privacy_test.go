package gan_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
)

func schemas(t testing.TB) []records.Schema {
	return []records.Schema{records.Interval(5, -1, 2),
		records.BinaryImage(6, 4).WithLabels("a", "b", "c"),
		records.Sets(12, 4)}
}

// everythingVisible returns a function for replays. It runs the plan and returns all released and
// reported values: progress, previews, the generator and the checkpoint without its random names.
func everythingVisible(t testing.TB, p *gan.Plan,
	checkpoint bool) func(context.Context, *ledger.Ledger, records.Data) (any, error) {
	return func(ctx context.Context, l *ledger.Ledger, data records.Data) (any, error) {
		var seen []any
		file := func(g *synth.Generator) {
			var text bytes.Buffer
			err := g.Save(&text)
			seen = append(seen, text.Bytes(), err)
		}
		opts := []synth.Option{
			synth.OnProgress(func(s synth.Progress) {
				s.Elapsed = 0
				seen = append(seen, s)
			}),
			synth.OnPreview(2, func(step int, g *synth.Generator) {
				seen = append(seen, step)
				file(g)
			})}
		path := filepath.Join(t.TempDir(), "checkpoint")
		if checkpoint {
			opts = append(opts, synth.CheckpointEvery(path, 2))
		}
		g, err := p.FitOn(ctx, l, data, opts...)
		if err != nil {
			return seen, err
		}
		file(g)
		if checkpoint {
			head, sections := contents(t, path)
			delete(head, "id")
			delete(head, "nonce")
			seen = append(seen, head, sections)
		}
		return seen, nil
	}
}

// contents returns the header and the sections of a checkpoint.
func contents(t testing.TB, path string) (map[string]any, []synth.Section) {
	t.Helper()
	text := must(os.ReadFile(path))(t)
	f := must(synth.DecodeFile(bytes.NewReader(text)))(t)
	var head map[string]any
	if err := json.Unmarshal(f.Header, &head); err != nil {
		t.Fatal(err)
	}
	return head, f.Sections
}

// TestNothingButNoisedSumsDependsOnARecord replays whole runs on neighbouring data sets with the
// mechanisms' answers fixed. The ledger, the progress, the previews, the model and the checkpoint
// must be bit-identical. Some of the records are extreme or invalid.
func TestNothingButNoisedSumsDependsOnARecord(t *testing.T) {
	for at, s := range schemas(t) {
		for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
			pairs := privacytest.Neighbours(t, s, r, 12, 3)
			turn := 0 // each variant is tested on a pair of its own, and with every second schema
			all := variants(t, s, r)
			for i, name := range slices.Sorted(maps.Keys(all)) {
				c := all[name]
				if turn += 5; (i+at+int(r))%2 == 1 {
					continue
				}
				c.Train.Steps = 3
				plan := mustPlan(t, c)
				pair := pairs[turn%len(pairs)]
				t.Run(s.String()+"/"+r.String()+"/"+name+"/"+pair.Name, func(t *testing.T) {
					privacytest.Replay[records.Data]{Run: everythingVisible(t, plan, turn%4 == 0),
						Budget: c.Budget,
						Data:   pair.Data, Neighbour: pair.Neighbour, Seeds: 1}.Check(t)
				})
			}
		}
	}
}

// TestReplayHasPower checks that the replay finds a run that also returns an exact count of labels.
func TestReplayHasPower(t *testing.T) {
	s := records.Interval(3, 0, 1).WithLabels("a", "b")
	pair := privacytest.Neighbours(t, s, accountant.AddOrRemoveOne, 12, 3)[:5]
	plan := mustPlan(t, small(s, accountant.AddOrRemoveOne))
	run := everythingVisible(t, plan, false)
	leaks := 0
	for _, p := range pair {
		found := privacytest.Replay[records.Data]{Budget: plan.Config.Budget, Data: p.Data,
			Neighbour: p.Neighbour, Seeds: 1,
			Run: func(ctx context.Context, l *ledger.Ledger, d records.Data) (any, error) {
				ones := 0
				for _, y := range d.(*records.Table).Labels() {
					ones += int(y)
				}
				v, err := run(ctx, l, d)
				return []any{v, ones}, err
			}}.Findings(t)
		leaks += len(found)
	}
	if leaks == 0 {
		t.Error("the replay did not find an exact count of labels")
	}
}

// TestLedgerHoldsThePlan checks that the ledger has one entry with the plan's critic steps, for
// every variant. Fakes, warm starts and generator steps must have no entries. The test computes ε
// again from σ, the sampling probability and the number of steps.
func TestLedgerHoldsThePlan(t *testing.T) {
	s := records.Interval(5, 0, 1)
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		for name, c := range variants(t, s, r) {
			t.Run(r.String()+"/"+name, func(t *testing.T) {
				p := mustPlan(t, c)
				_, ledger := fit(t, c, some(t, s, 40, 1))
				sigma := p.Config.Train.NoiseMultiplier
				// The clip norm is released from the same batch, so there is one event with the joint
				// multiplier. Under replace-one it is also a sum of rows of at most these norms.
				rows := 2 * sigma
				joint := func(a, b float64) float64 { return 1 / math.Hypot(1/a, 1/b) }
				switch clip := c.Train.Clip.(type) {
				case sgd.DPNorm:
					sigma = joint(sigma, clip.NoiseMultiplier)
					rows = joint(rows, clip.NoiseMultiplier*math.Sqrt2)
				case sgd.Quantile:
					sigma = joint(sigma, clip.NoiseMultiplier)
					rows = joint(rows, clip.NoiseMultiplier/max(clip.Quantile, 1-clip.Quantile))
				}
				events := []accountant.Event{accountant.PoissonSampled{Probability: 0.5,
					Event: accountant.Gaussian{NoiseMultiplier: sigma}}}
				if r == accountant.ReplaceOne {
					events = append(events, accountant.SampledSum{Probability: 0.5, NoiseMultiplier: rows})
				}
				entries := ledger.Entries()
				if len(entries) != 1 || entries[0].Purpose != gan.PurposeCritic || entries[0].Reserved != 6 ||
					entries[0].Spent != 6 {
					t.Fatalf("ledger entries %v, want one with 6 critic steps", entries)
				}
				want := math.Inf(1)
				for _, e := range events {
					b := must(accountant.Epsilon(accountant.Repeated{Count: 6, Event: e}, 1e-5, r))(t)
					want = min(want, b.Upper)
				}
				if math.Abs(want-ledger.Epsilon().Upper) > 1e-6*want ||
					ledger.Epsilon() != p.Total() {
					t.Errorf("ε is %v by the ledger, %v by the plan and %v computed", ledger.Epsilon(),
						p.Total(), want)
				}
				if p.Total().Upper > c.Budget.Epsilon || p.Total().Upper < 0.98*c.Budget.Epsilon {
					t.Errorf("ε = %v, want 98 to 100 %% of %v", p.Total().Upper, c.Budget.Epsilon)
				}
			})
		}
	}
}

// TestHostileRecordsAreFitted checks that hostile records and an empty data set do not make a run
// fail.
func TestHostileRecordsAreFitted(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	s := records.Interval(4, -0.3, 0.1)
	wild := must(records.FromRows(s,
		[][]float32{{nan, nan, nan, nan}, {inf, -inf, 1e38, -0}, {5, 5, 5, 5}, {0, 0, 0, 0}}))(t)
	none := must(records.FromFlat(s, nil))(t)
	for name, data := range map[string]records.Data{"hostile": wild, "empty": none} {
		for variant, c := range variants(t, s, accountant.AddOrRemoveOne) {
			g, _ := fit(t, c, data)
			if got := draw(t, g, 30).Len(); got != 30 {
				t.Errorf("%s, %s: got %d records, want 30", name, variant, got)
			}
		}
	}
}

func TestCancelledRunKeepsWhatItReserved(t *testing.T) {
	s := records.Interval(5, 0, 1)
	ctx, cancel := context.WithCancel(t.Context())
	l := ledger.New(small(s, 0).Budget)
	_, err := mustPlan(t, small(s, 0)).FitOn(ctx, l, some(t, s, 30, 1),
		synth.OnProgress(func(p synth.Progress) {
			if p.Step == 2 {
				cancel()
			}
		}))
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want context.Canceled", err)
	}
	if e := l.Entries(); len(e) != 1 || e[0].Reserved != 6 || e[0].Spent != 2 ||
		l.Epsilon().Upper < 7.8 {
		t.Errorf("got ledger entries %v and ε = %v, want 2 of 6 steps spent and the full price", e,
			l.Epsilon())
	}
}

// TestBudgetIsAskedBefore checks that a run takes no step and leaves the ledger unchanged if the
// ledger cannot pay for the whole run.
func TestBudgetIsAskedBefore(t *testing.T) {
	s := records.Interval(5, 0, 1)
	poor := ledger.New(accountant.Budget{Epsilon: 7, Delta: 1e-5})
	_, err := mustPlan(t, small(s, 0)).FitOn(t.Context(), poor, some(t, s, 30, 1),
		synth.OnProgress(func(synth.Progress) { t.Error("a step was taken") }))
	if !errors.Is(err, accountant.ErrBudgetExceeded) || len(poor.Entries()) != 0 {
		t.Errorf("got error %v and entries %v, want ErrBudgetExceeded and none", err, poor.Entries())
	}
}
