package gan_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/internal/release"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

func schemas(t testing.TB) []records.Schema {
	table, err := records.NewSchema(records.Numeric("age", 17, 90), records.Categorical("work", "a", "b", "c"), records.Flag("own", "no", "yes"), records.Label("income", "low", "high"))
	if err != nil {
		t.Fatal(err)
	}
	return []records.Schema{records.Interval(5, -1, 2), records.BinaryImage(6, 4).WithLabels("a", "b", "c"), records.Sets(12, 4), table}
}

// everythingVisible is all that leaves a run: progress, previews, the model and the checkpoint but for its random
// token.
func everythingVisible(t testing.TB, p *gan.Plan, checkpoint bool) func(context.Context, *accountant.Ledger, records.Data) (any, error) {
	return func(ctx context.Context, ledger *accountant.Ledger, data records.Data) (any, error) {
		var seen []any
		var opts []gan.Option
		path := filepath.Join(t.TempDir(), "checkpoint")
		if checkpoint {
			opts = append(opts, gan.WithCheckpoint(path, 2))
		}
		m, err := gan.Fit(ctx, p, data, ledger, append(opts, gan.WithProgress(func(s gan.Progress) {
			s.Elapsed = 0
			seen = append(seen, s)
		}),
			gan.WithPreview(2, func(step int, m *gan.Model) {
				file, err := m.Encode()
				seen = append(seen, step, file, err)
			}))...)
		if err != nil {
			return seen, err
		}
		file, err := m.Encode()
		if err != nil || !checkpoint {
			return append(seen, file), err
		}
		kept, err := gan.Contents(path)
		return append(seen, file, kept), err
	}
}

// TestNothingButNoisedSumsDependsOnARecord replays whole runs with a record present and absent, or one replaced by
// another: with the mechanisms' answers held fixed, ledger, progress, previews, model and checkpoint must be the same
// to the bit. Records are the worst that each schema allows, and worse.
func TestNothingButNoisedSumsDependsOnARecord(t *testing.T) {
	for _, s := range schemas(t) {
		for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
			pairs := privacytest.Neighbours(t, s, r, 12, 3)
			turn := 0 // each variant meets a few of the pairs, all together meet all
			for name, c := range variants(t, s, r) {
				c.Train.Steps = 3
				plan := mustPlan(t, c)
				for i := range 2 {
					pair := pairs[(turn*2+i)%len(pairs)]
					t.Run(s.String()+"/"+r.String()+"/"+name+"/"+pair.Name, func(t *testing.T) {
						privacytest.Replay[records.Data]{Run: everythingVisible(t, plan, i == 0 && turn%4 == 0), Budget: c.Budget,
							Data: pair.Data, Neighbour: pair.Neighbour, Seeds: 1}.Check(t)
					})
				}
				turn++
			}
		}
	}
}

// TestReplayHasPower: a generator that also learnt from the records' labels in the clear would be found.
func TestReplayHasPower(t *testing.T) {
	s := records.Interval(3, 0, 1).WithLabels("a", "b")
	pair := privacytest.Neighbours(t, s, accountant.AddOrRemoveOne, 12, 3)[:5]
	plan := mustPlan(t, small(s, accountant.AddOrRemoveOne))
	run := everythingVisible(t, plan, false)
	leaks := 0
	for _, p := range pair {
		found := privacytest.Replay[records.Data]{Budget: plan.Config.Budget, Data: p.Data, Neighbour: p.Neighbour, Seeds: 1,
			Run: func(ctx context.Context, l *accountant.Ledger, d records.Data) (any, error) {
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
		t.Error("a count of labels in the clear was not found")
	}
}

// TestLedgerHoldsThePlan: what sampler and noise used is what the plan billed, whatever the options; fakes, warm
// starts and generator steps are on no line. ε is computed again from nothing but σ, q and the number of steps.
func TestLedgerHoldsThePlan(t *testing.T) {
	s := records.Interval(5, 0, 1)
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		for name, c := range variants(t, s, r) {
			t.Run(r.String()+"/"+name, func(t *testing.T) {
				p := mustPlan(t, c)
				_, ledger := fit(t, c, some(t, s, 40, 1))
				sigma := p.Config.Train.NoiseMultiplier
				switch clip := c.Train.Clip.(type) { // released from the same batch: one event of the joint multiplier
				case sgd.DPNorm:
					sigma = math.Pow(math.Pow(sigma, -2)+math.Pow(clip.NoiseMultiplier, -2), -0.5)
				case sgd.Quantile:
					sigma = math.Pow(math.Pow(sigma, -2)+math.Pow(clip.NoiseMultiplier, -2), -0.5)
				}
				entries := ledger.Entries()
				if len(entries) != 1 || entries[0].Purpose != gan.PurposeCritic || entries[0].Reserved != 6 || entries[0].Spent != 6 {
					t.Fatalf("ledger %v", entries)
				}
				e := entries[0].Event.(accountant.PoissonSampled)
				if got := e.Event.(accountant.Gaussian).NoiseMultiplier; math.Abs(got/sigma-1) > 1e-12 || e.Probability != 0.5 {
					t.Errorf("event %v, want multiplier %v at probability 0.5", e, sigma)
				}
				want, err := accountant.Epsilon(accountant.Repeated{Count: 6, Event: accountant.PoissonSampled{Probability: 0.5, Event: accountant.Gaussian{NoiseMultiplier: sigma}}}, 1e-5, r)
				if err != nil || math.Abs(want.Upper-ledger.Epsilon().Upper) > 1e-6*want.Upper || ledger.Epsilon() != p.Total {
					t.Errorf("ε = %v on the ledger, %v planned, %v computed (%v)", ledger.Epsilon(), p.Total, want, err)
				}
				if p.Total.Upper > c.Budget.Epsilon || p.Total.Upper < 0.98*c.Budget.Epsilon {
					t.Errorf("ε = %v of %v", p.Total.Upper, c.Budget.Epsilon)
				}
			})
		}
	}
}

// TestHostileRecordsAreFitted: no record makes a run fail, and none at all is fine.
func TestHostileRecordsAreFitted(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	s := records.Interval(4, -0.3, 0.1)
	wild, err := records.FromRows(s, [][]float32{{nan, nan, nan, nan}, {inf, -inf, 1e38, -0}, {5, 5, 5, 5}, {0, 0, 0, 0}})
	if err != nil {
		t.Fatal(err)
	}
	none, err := records.FromFlat(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]records.Data{"hostile": wild, "empty": none} {
		for variant, c := range variants(t, s, accountant.AddOrRemoveOne) {
			m, _ := fit(t, c, data)
			if got := draw(t, m, 30, gan.All()).Len(); got != 30 {
				t.Errorf("%s, %s: %d records", name, variant, got)
			}
		}
	}
}

func TestCancelledRunKeepsWhatItReserved(t *testing.T) {
	s := records.Interval(5, 0, 1)
	ctx, cancel := context.WithCancel(t.Context())
	ledger := accountant.NewLedger(small(s, 0).Budget)
	_, err := gan.Fit(ctx, mustPlan(t, small(s, 0)), some(t, s, 30, 1), ledger, gan.WithProgress(func(p gan.Progress) {
		if p.Step == 2 {
			cancel()
		}
	}))
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
	if e := ledger.Entries(); len(e) != 1 || e[0].Reserved != 6 || e[0].Spent != 2 || ledger.Epsilon().Upper < 7.8 {
		t.Errorf("%v, ε = %v", e, ledger.Epsilon())
	}
}

// TestBudgetIsAskedBefore: a ledger that cannot pay the whole run is left alone, and nothing is drawn.
func TestBudgetIsAskedBefore(t *testing.T) {
	s := records.Interval(5, 0, 1)
	c := small(s, 0)
	poor := accountant.NewLedger(accountant.Budget{Epsilon: 7, Delta: 1e-5})
	_, err := gan.Fit(t.Context(), mustPlan(t, c), some(t, s, 30, 1), poor, gan.WithProgress(func(gan.Progress) { t.Error("a step was taken") }))
	if !errors.Is(err, accountant.ErrBudgetExceeded) || len(poor.Entries()) != 0 {
		t.Errorf("%v, %v", err, poor.Entries())
	}
}

// killed ends a run of 6 steps as a kill after some steps would: without a word.
func killed(t *testing.T, p *gan.Plan, data records.Data, path string, steps, every int) {
	t.Helper()
	type kill struct{}
	defer func() {
		if r := recover(); r != (kill{}) {
			t.Fatalf("not killed: %v", r)
		}
	}()
	_, err := gan.Fit(t.Context(), p, data, accountant.NewLedger(p.Config.Budget), gan.WithCheckpoint(path, every),
		gan.WithProgress(func(s gan.Progress) {
			if s.Stage == gan.PurposeCritic && s.Step == steps {
				panic(kill{})
			}
		}))
	t.Fatalf("finished: %v", err)
}

// TestKilledRunNeverSpendsMore: however a run is killed, steps drawn before and after are together no more than were
// reserved.
func TestKilledRunNeverSpendsMore(t *testing.T) {
	s := records.BinaryImage(6, 4).WithLabels("a", "b", "c")
	data := some(t, s, 40, 1)
	for name, c := range variants(t, s, accountant.AddOrRemoveOne) {
		for _, kill := range []int{1, 4, 6} {
			p, path := mustPlan(t, c), filepath.Join(t.TempDir(), "checkpoint")
			killed(t, p, data, path, kill, 2)
			k, err := gan.OpenCheckpoint(path)
			if err != nil {
				t.Fatal(err)
			}
			if k.Spent < kill || k.Spent > kill+2 || k.Of != 6 || k.Step > kill {
				t.Errorf("%s: killed in step %d, the file says %d of %d are gone and the state is at %d", name, kill, k.Spent, k.Of, k.Step)
			}
			steps := 0
			m, err := k.Resume(t.Context(), p, data, gan.WithProgress(func(g gan.Progress) {
				if g.Stage == gan.PurposeCritic {
					steps++
				}
			}))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if kill+steps > 6 || steps != 6-k.Spent {
				t.Errorf("%s: %d steps before and %d after", name, kill, steps)
			}
			if e := m.Guarantee().Entries; len(e) != 1 || e[0].Reserved != 6 || e[0].Spent != 6 || m.Guarantee().Epsilon != p.Total.Upper {
				t.Errorf("%s: guarantee %+v, ε = %v", name, e, m.Guarantee().Epsilon)
			}
		}
	}
}

// TestResumedRunGoesOn: a run that ends in order loses nothing, and where mechanisms give the same answers it arrives
// where an uninterrupted one does, to the bit.
func TestResumedRunGoesOn(t *testing.T) {
	s := records.BinaryImage(6, 4).WithLabels("a", "b", "c")
	none, err := records.FromFlat(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range variants(t, s, accountant.AddOrRemoveOne) {
		p := mustPlan(t, c)
		ctx := func() context.Context { return forced(t.Context()) }
		whole, err := gan.Fit(ctx(), p, none, accountant.NewLedger(c.Budget))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "checkpoint")
		stop, cancel := context.WithCancel(ctx())
		_, err = gan.Fit(stop, p, none, accountant.NewLedger(c.Budget), gan.WithCheckpoint(path, 5), gan.WithProgress(func(g gan.Progress) {
			if g.Stage == gan.PurposeCritic && g.Step == 3 {
				cancel()
			}
		}))
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		k, err := gan.OpenCheckpoint(path)
		if err != nil || k.Step != 3 || k.Spent != 3 {
			t.Fatalf("%s: %v, %+v", name, err, k)
		}
		part, err := k.Resume(ctx(), p, none)
		if err != nil {
			t.Fatal(err)
		}
		a, b := encoded(t, whole), encoded(t, part)
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s: the resumed run arrives elsewhere", name)
		}
		again, err := gan.OpenCheckpoint(path)
		if err != nil {
			t.Fatal(err)
		}
		done, err := again.Resume(ctx(), p, none, gan.WithProgress(func(gan.Progress) { t.Errorf("%s: a step after the last", name) }))
		if err != nil || !reflect.DeepEqual(encoded(t, done), b) {
			t.Errorf("%s: a finished run gives another model (%v)", name, err)
		}
	}
}

// TestTwoRunsOnOneCheckpoint: of two runs that go on from one file only one draws on.
func TestTwoRunsOnOneCheckpoint(t *testing.T) {
	s := records.Interval(5, 0, 1)
	data, p, path := some(t, s, 30, 1), mustPlan(t, small(s, 0)), filepath.Join(t.TempDir(), "checkpoint")
	killed(t, p, data, path, 1, 1)
	first, err := gan.OpenCheckpoint(path)
	if err != nil {
		t.Fatal(err)
	}
	second, err := gan.OpenCheckpoint(path)
	if err != nil {
		t.Fatal(err)
	}
	var late error
	_, err = first.Resume(t.Context(), p, data, gan.WithCheckpoint(path, 1), gan.WithProgress(func(g gan.Progress) {
		if g.Step == 4 {
			_, late = second.Resume(t.Context(), p, data, gan.WithProgress(func(gan.Progress) { t.Error("the second run drew") }))
		}
	}))
	if err != nil || !errors.Is(late, gan.ErrTaken) {
		t.Errorf("first %v, second %v", err, late)
	}
	third, err := gan.OpenCheckpoint(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gan.Fit(t.Context(), p, data, accountant.NewLedger(p.Config.Budget), gan.WithCheckpoint(path, 1)); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a fresh run over a checkpoint: %v", err)
	}
	other := small(s, 0)
	other.Latent++
	if _, err := third.Resume(t.Context(), mustPlan(t, other), data); !errors.Is(err, gan.ErrPlan) {
		t.Errorf("another plan: %v", err)
	}
}

// TestTwoResumesAtOnce: nor do two that begin at the same moment spend more than one, nor two fresh runs.
func TestTwoResumesAtOnce(t *testing.T) {
	s := records.Interval(5, 0, 1)
	data, p := some(t, s, 30, 1), mustPlan(t, small(s, 0))
	together := func(runs [2]func(gan.Option) error) (steps, failed int) {
		var wait sync.WaitGroup
		var count, wrong atomic.Int32
		start := make(chan struct{})
		for _, run := range runs {
			wait.Go(func() {
				<-start
				if run(gan.WithProgress(func(gan.Progress) { count.Add(1) })) != nil {
					wrong.Add(1)
				}
			})
		}
		close(start)
		wait.Wait()
		return int(count.Load()), int(wrong.Load())
	}
	for range 5 {
		path := filepath.Join(t.TempDir(), "checkpoint")
		killed(t, p, data, path, 1, 1)
		var runs [2]func(gan.Option) error
		for i := range runs {
			k, err := gan.OpenCheckpoint(path)
			if err != nil {
				t.Fatal(err)
			}
			runs[i] = func(o gan.Option) error { _, err := k.Resume(t.Context(), p, data, o); return err }
		}
		if steps, failed := together(runs); steps > 5 || failed != 1 {
			t.Errorf("%d steps of 5, %d runs failed", steps, failed)
		}
		path = filepath.Join(t.TempDir(), "checkpoint")
		for i := range runs {
			runs[i] = func(o gan.Option) error {
				_, err := gan.Fit(t.Context(), p, data, accountant.NewLedger(p.Config.Budget), gan.WithCheckpoint(path, 2), o)
				return err
			}
		}
		if steps, failed := together(runs); steps > 6 || failed != 1 {
			t.Errorf("%d steps of 6, %d fresh runs failed", steps, failed)
		}
	}
}

// TestResumeRefusesAnotherRelation: a ledger under the other relation would train with the wrong sensitivity.
func TestResumeRefusesAnotherRelation(t *testing.T) {
	s := records.Interval(5, 0, 1)
	data, p, path := some(t, s, 30, 1), mustPlan(t, small(s, 0)), filepath.Join(t.TempDir(), "checkpoint")
	killed(t, p, data, path, 1, 1)
	k, err := gan.OpenCheckpoint(path)
	if err != nil {
		t.Fatal(err)
	}
	b := p.Config.Budget
	b.Relation = accountant.ReplaceOne
	k.Ledger = accountant.NewLedger(b)
	var wrong *param.Error
	if _, err := k.Resume(t.Context(), p, data); !errors.As(err, &wrong) {
		t.Errorf("%v", err)
	}
}

func TestPlanJSON(t *testing.T) {
	for name, c := range variants(t, records.Interval(5, 0, 1), accountant.ReplaceOne) {
		p := mustPlan(t, c)
		text, err := json.Marshal(p)
		if c.Public != nil {
			if err == nil {
				t.Errorf("%s: public records were written", name)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		var back gan.Plan
		if err := json.Unmarshal(text, &back); err != nil || back.Total != p.Total || back.String() != p.String() {
			t.Errorf("%s: %v\n%v\n%v", name, err, &back, p)
		}
		if !reflect.DeepEqual(back.Config.Critic, c.Critic) {
			t.Errorf("%s: the critic became %+v", name, back.Config.Critic)
		}
	}
}

func TestFileRoundTrip(t *testing.T) {
	for _, s := range schemas(t)[:2] {
		for name, c := range variants(t, s, accountant.AddOrRemoveOne) {
			m, _ := fit(t, c, some(t, s, 20, 1))
			file := encoded(t, m)
			back, err := gan.Decode(file, release.Loading{})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			d := gan.All()
			if !reflect.DeepEqual(draw(t, m, 20, d), draw(t, back, 20, d)) || !reflect.DeepEqual(encoded(t, back), file) {
				t.Errorf("%s: another model came back", name)
			}
			file.Sections[0].Data = file.Sections[0].Data[4:]
			if _, err := gan.Decode(file, release.Loading{}); err == nil {
				t.Errorf("%s: a file with a number missing was read", name)
			}
		}
	}
}

func TestMistakesComeTogether(t *testing.T) {
	c := small(records.Interval(5, 0, 1), 0)
	c.Latent, c.Average, c.GeneratorBatch, c.ClassWeights, c.WarmSteps = 0, 1, 1, []float64{1}, 3
	c.Frequency = gan.Frequency{Threshold: 0.5}
	_, err := c.Plan()
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || len(joined.Unwrap()) < 6 {
		t.Fatalf("%v", err)
	}
	for name, change := range map[string]func(*gan.Config){
		"no critic":    func(c *gan.Config) { c.Critic = nil },
		"no generator": func(c *gan.Config) { c.Generator = nil },
		"wrong image":  func(c *gan.Config) { c.Generator = models.SmallGenerator28() },
		"clip and groups": func(c *gan.Config) {
			c.Clipping = gan.Clipping{Groups: gan.PerBlock, Norms: []float64{1, 1, 1, 1, 1, 1}}
		},
		"groups without norm": func(c *gan.Config) { c.Train.ClipNorm, c.Clipping = 0, gan.Clipping{Groups: gan.PerBlock} },
		"too few norms": func(c *gan.Config) {
			c.Train.ClipNorm, c.Clipping = 0, gan.Clipping{Groups: gan.PerBlock, Norms: []float64{1}}
		},
		"unused norms": func(c *gan.Config) { c.Clipping.Norms = []float64{1} },
		"no clusters": func(c *gan.Config) {
			c.Train.ClipNorm, c.Clipping = 0, gan.Clipping{Groups: gan.Clustered, Norms: []float64{1, 1, 1, 1, 1, 1}}
		},
		"sum beside a mean": func(c *gan.Config) { c.Loss = models.Hinge },
		"penalty on hinge":  func(c *gan.Config) { c.Loss, c.Penalty, c.Train.NominalBatch = models.Hinge, 10, 4 },
		"unused public":     func(c *gan.Config) { c.Public = some(t, c.Schema, 3, 1) },
		"huge critic":       func(c *gan.Config) { c.Critic = models.MLP{Hidden: []int{math.MaxInt}, Activation: models.LeakyReLU} },
		"huge generator":    func(c *gan.Config) { c.Generator = models.MLP{Hidden: []int{math.MaxInt}} },
		"huge batch":        func(c *gan.Config) { c.GeneratorBatch = math.MaxInt },
		"huge public batch": func(c *gan.Config) {
			c.Train.ClipNorm, c.Public, c.Clipping = 0, some(t, c.Schema, 9, 99), gan.Clipping{Adaptive: true, Batch: math.MaxInt}
		},
		"too dear": func(c *gan.Config) { c.Train.NoiseMultiplier = 0.1 },
	} {
		c := small(records.Interval(5, 0, 1), 0)
		change(&c)
		if _, err := c.Plan(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// byUser says of records that each row is all of one person.
type byUser struct{ records.Data }

func (byUser) Unit() string { return records.UnitUser }

// TestUnit: a promise to users is refused for rows of which a user may have several, and made where each is a user.
func TestUnit(t *testing.T) {
	s := records.Interval(5, 0, 1)
	c := small(s, 0)
	data, p := some(t, s, 30, 1), mustPlan(t, c)
	users := accountant.NewLedger(c.Budget, accountant.WithUnit(records.UnitUser))
	if _, err := gan.Fit(t.Context(), p, data, users); err == nil || len(users.Entries()) != 0 {
		t.Errorf("%v, %v", err, users.Entries())
	}
	m, err := gan.FitFrom(t.Context(), p, filepath.Join(t.TempDir(), "checkpoint"), byUser{data})
	if err != nil || m.Guarantee().Unit != records.UnitUser {
		t.Errorf("%v: one %s", err, m.Guarantee().Unit)
	}
}
