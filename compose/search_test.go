package compose_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// TestRefusesBeforeDrawing: a ledger that can pay for one trial, but not for 20, refuses the search
// before any trial runs.
func TestRefusesBeforeDrawing(t *testing.T) {
	w := &toy{noise: 4}
	p := search(t, compose.Trials{Mean: 20}, w)
	one := toyPlan(t, &toy{noise: 4}).Total().Upper
	ledger := accountant.NewLedger(accountant.Budget{Epsilon: p.Total().Upper * 0.99, Delta: 1e-5})
	if one > ledger.Budget().Epsilon {
		t.Fatalf("one trial costs %g, the search %v", one, p.Total())
	}
	_, err := p.FitOn(t.Context(), ledger, some(t, 9))
	if !errors.Is(err, accountant.ErrBudgetExceeded) || w.log.number > 0 || len(ledger.Entries()) > 0 {
		t.Errorf("got error %v after %d trials and entries %v, want ErrBudgetExceeded at once",
			err, w.log.number, ledger.Entries())
	}
	rich := accountant.NewLedger(accountant.Budget{Epsilon: p.Total().Upper * 1.001, Delta: 1e-5})
	gen, err := p.FitOn(t.Context(), rich, some(t, 9))
	if err != nil || w.log.number < 1 {
		t.Fatalf("got error %v after %d trials, want none after at least 1", err, w.log.number)
	}
	got := gen.Guarantee().Epsilon
	if got < p.Total().Lower || got > p.Total().Upper || got < 1.5*one {
		t.Errorf("the guarantee says ε = %g, the plan %v, a single trial %g", got, p.Total(), one)
	}
	_, err = p.FitOn(t.Context(), rich, some(t, 9))
	if !errors.Is(err, accountant.ErrBudgetExceeded) {
		t.Errorf("a second search: got error %v, want ErrBudgetExceeded", err)
	}
}

// TestTheBestIsReleased checks that the released number is distributed as the largest of a random
// number of normal numbers: P(max ≤ x) = f(Φ(x)). Here f is the generating function of the number
// of trials. If this is so, the test fails with probability 1e-9. It must reject means of 1, 2.5
// and 14 trials.
func TestTheBestIsReleased(t *testing.T) {
	const noise, n = 100.0, 500
	trials := compose.Trials{Mean: 6, Shape: 1}
	p := search(t, trials, &toy{noise: noise})
	var won []float64
	for range n {
		gen, err := p.Fit(t.Context(), some(t, 1))
		if err != nil {
			t.Fatal(err)
		}
		candidate, score := bestOf(t, gen)
		part, err := compose.Part(gen, 0)
		if err != nil {
			t.Fatal(err)
		}
		value := part.Model().(*toyModel).value
		if won = append(won, score); score != value || candidate != 0 {
			t.Fatalf("got score %g of candidate %d, want the value %g of candidate 0", score, candidate,
				value)
		}
	}
	law := func(mean float64) privacytest.GoodnessOfFit {
		next := 0
		return privacytest.GoodnessOfFit{Samples: n, FalseAlarm: 1e-9,
			Draw: func() float64 { next++; return won[(next-1)%n] },
			CDF: func(x float64) float64 { // geometric: f(F) = F/(mean − (mean−1)F)
				f := math.Erfc(-(x-1)/(noise*math.Sqrt2)) / 2
				return f / (mean - (mean-1)*f)
			}}
	}
	law(6).Check(t)
	for _, wrong := range []float64{1, 2.5, 14} {
		if !law(wrong).Rejected(t) {
			t.Errorf("a mean of %g trials is accepted, want only 6", wrong)
		}
	}
}

// TestNothingElseLeaves checks the end of a search. Only the best trial's model may be alive.
// Progress must report only the end of the search, and the ledger must have only the search's
// entry.
func TestNothingElseLeaves(t *testing.T) {
	w := &toy{noise: 4, log: &fits{}}
	p := search(t, compose.Trials{Mean: 30, Shape: 1}, w, &toy{noise: 4, log: w.log})
	ledger := accountant.NewLedger(p.Budget())
	var seen []synth.Progress
	for w.log.number < 2 { // a search of one trial tests nothing
		seen, w.log.models, w.log.number = nil, nil, 0
		ledger = accountant.NewLedger(p.Budget())
		gen, err := p.FitOn(t.Context(), ledger, some(t, 9),
			synth.OnProgress(func(at synth.Progress) { seen = append(seen, at) }))
		if err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		alive := 0
		for _, m := range w.log.models {
			if m.Value() != nil {
				alive++
			}
		}
		if alive != 1 {
			t.Errorf("%d of %d models are alive", alive, len(w.log.models))
		}
		runtime.KeepAlive(gen)
	}
	if len(seen) != 1 || seen[0].Stage != "search" || seen[0].Step != 1 || seen[0].Of != 1 {
		t.Errorf("got progress %+v, want one report at the end", seen)
	}
	if e := ledger.Entries(); len(e) != 1 || e[0].Purpose != "search" || e[0].Reserved != 1 ||
		len(ledger.Children()) > 0 {
		t.Errorf("got entries %+v, want the entry of the search", e)
	}
}

// TestFailuresRankLast: trials that fail or panic lose against all others, and a search fails only
// if every trial fails. Its error does not contain the value of a panic.
func TestFailuresRankLast(t *testing.T) {
	broken := func(*toy, *synth.Run) error { return errToy }
	panics := func(_ *toy, r *synth.Run) error { panic("a secret of record 7") }
	done := 0
	sometimes := func(*toy, *synth.Run) error {
		if done++; done%2 == 1 {
			return nil
		}
		return errToy
	}
	data, many := some(t, 9), compose.Trials{Mean: 20, Shape: 1}
	var err error
	for range 40 { // in half of the searches the last trial fails
		done = 0
		if _, err = search(t, many, &toy{noise: 4, quirk: sometimes}).Fit(t.Context(), data); err != nil {
			t.Fatalf("%d trials, of which every second one failed: got error %v, want none", done, err)
		}
	}
	for what, quirk := range map[string]func(*toy, *synth.Run) error{"fails": broken,
		"panics": panics} {
		_, err := search(t, compose.Trials{Mean: 5}, &toy{noise: 4, quirk: quirk}).Fit(t.Context(), data)
		if !errors.Is(err, compose.ErrFailed) || strings.Contains(err.Error(), "secret") ||
			(what == "fails") != errors.Is(err, errToy) {
			t.Errorf("every trial %s: got error %v, want ErrFailed without the secret", what, err)
		}
	}
	for range 200 {
		one := compose.Trials{Mean: 1, Poisson: true}
		_, err = search(t, one, &toy{noise: 4}).Fit(t.Context(), data)
		if err != nil {
			break
		}
	}
	if !errors.Is(err, compose.ErrNone) { // each search has no trial with probability 1/e
		t.Errorf("200 searches of one Poisson trial: got error %v, want ErrNone", err)
	}
}

// TestTrialsSpendWhatWasPriced: in a trial, a plan can reserve only the events that it states, and
// each only once.
func TestTrialsSpendWhatWasPriced(t *testing.T) {
	drawn := 0
	reserve := func(purpose string, e accountant.Event) func(*toy, *synth.Run) error {
		return func(_ *toy, r *synth.Run) error {
			_, err := mechanism.Begin(context.Background(), r.Ledger).Spend(purpose, e)
			if err == nil {
				drawn++
			}
			return err
		}
	}
	const noise = 1e4 // costs so little that no budget refuses two events
	tiny, own := accountant.Gaussian{NoiseMultiplier: 1e6}, accountant.Gaussian{NoiseMultiplier: noise}
	for what, quirk := range map[string]func(*toy, *synth.Run) error{
		"another line": reserve("more", tiny), "another event": reserve("count", tiny),
		"its line twice":   reserve("count", own),
		"the score's line": reserve("score", tiny),
	} {
		p := search(t, compose.Trials{Mean: 3}, &toy{noise: noise, quirk: quirk})
		_, err := p.Fit(t.Context(), some(t, 9))
		if !errors.Is(err, compose.ErrFailed) || drawn > 0 {
			t.Errorf("%s: got error %v and %d reservations", what, err, drawn)
		}
	}
}

// TestSteadySearches: a steady search runs as many trials as its limit, whatever the number drawn.
func TestSteadySearches(t *testing.T) {
	w := &toy{noise: 4}
	p := search(t, compose.Trials{Mean: 3, Limit: 7, Steady: true}, w)
	for range 5 {
		w.log.number = 0
		if _, err := p.Fit(t.Context(), some(t, 9)); err != nil || w.log.number != 7 {
			t.Errorf("got %d trials and error %v, want 7 trials", w.log.number, err)
		}
	}
}

// TestCancelledSearches: a cancelled search releases nothing and gets no refund.
func TestCancelledSearches(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w := &toy{noise: 4, quirk: func(*toy, *synth.Run) error { cancel(); return nil }}
	p := search(t, compose.Trials{Mean: 10}, w)
	ledger := accountant.NewLedger(accountant.Budget{Epsilon: p.Total().Upper * 1.01, Delta: 1e-5})
	gen, err := p.FitOn(ctx, ledger, some(t, 9))
	if !errors.Is(err, context.Canceled) || gen != nil || w.log.number != 1 {
		t.Errorf("got error %v after %d trials, want a cancelled search after 1", err, w.log.number)
	}
	_, err = p.FitOn(t.Context(), ledger, some(t, 9))
	if !errors.Is(err, accountant.ErrBudgetExceeded) {
		t.Errorf("a second search: got error %v, want ErrBudgetExceeded", err)
	}
}

// TestCost: the plan of a search uses the budget without exceeding it, and more trials leave less
// for each.
func TestCost(t *testing.T) {
	last, b := math.Inf(1), accountant.Budget{Epsilon: 3, Delta: 1e-5}
	of := design(func(_ records.Schema, b accountant.Budget) (synth.Plan, error) {
		noise, _, err := accountant.CalibrateNoise(b, func(z float64) accountant.Event {
			return accountant.Gaussian{NoiseMultiplier: z}
		})
		return toyPlan(t, &toy{noise: noise}), err
	})
	for _, mean := range []float64{1, 2, 5, 20, 100} {
		p, err := compose.Search{Candidates: []synth.Design{of}, Trials: compose.Trials{Mean: mean},
			Score: largest{}, Noise: 5}.PlanFor(records.Binary(3), b)
		if err != nil || p.Total().Upper > 3 || p.Total().Upper < 2.9 {
			t.Fatalf("got plan %v and error %v, want a price from 2.9 to 3", p, err)
		}
		one := partsOf(p)[0].Total().Upper
		if one > last {
			t.Errorf("%g trials leave ε = %g for one, fewer trials %g", mean, one, last)
		}
		last = one
	}
	limited := compose.Search{Candidates: []synth.Design{of}, Score: largest{}, Noise: 5,
		Trials: compose.Trials{Mean: 5, Poisson: true, Limit: 9}}
	if _, err := limited.PlanFor(records.Binary(3), b); err == nil {
		t.Error("a limited Poisson number has a price")
	}
}

// TestDroppedTrialsDoNotCompete runs a steady search that draws one trial and runs forty. It
// releases one number, which is above its mean with probability 1/2. The best of forty would be
// above the mean with probability 1 − 2^-40. The test fails with probability 2^-30 if no dropped
// trial competes.
func TestDroppedTrialsDoNotCompete(t *testing.T) {
	p := search(t, compose.Trials{Mean: 1, Limit: 40, Steady: true}, &toy{noise: 100})
	for range 30 {
		gen, err := p.Fit(t.Context(), some(t, 1))
		if err != nil {
			t.Fatal(err)
		}
		if _, score := bestOf(t, gen); score < 1 {
			return
		}
	}
	t.Error("all of thirty winners are above the mean")
}

// steep is a score that adds a long vector for every record. It panics if it is given the record's
// number.
type steep struct{ largest }

func (steep) Statistic(context.Context, *synth.Generator) (compose.Statistic, error) {
	return far{}, nil
}

type far struct{ value }

func (far) Of(record records.Data, dst []float64) {
	var b device.Batch
	record.Range(0, 1, &b)
	dst[0] = -1e6
	if b.Dense.Row(0)[0] == 1 {
		dst[0] = 1e6
	}
	if len(b.Index) > 0 && b.Index[0] != 0 {
		panic("the record's number is revealed")
	}
}

// TestScoresAreClipped checks that a record adds a vector of norm at most 1 to a score, whatever
// the record's position. The noise must be scaled to the effect of a replaced record.
func TestScoresAreClipped(t *testing.T) {
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		noise, w := 5.0, &toy{noise: 4, relation: r}
		p, err := compose.Search{Trials: compose.Trials{Mean: 2}, Score: steep{}, Noise: noise,
			Candidates: []synth.Design{compose.Fixed(toyPlan(t, w))}}.PlanFor(records.Binary(3),
			accountant.Budget{Epsilon: 100, Delta: 1e-5, Relation: r})
		if err != nil {
			t.Fatal(err)
		}
		flat := make([]float32, 3*9)
		data := func() records.Data {
			d, err := records.FromFlat(records.Binary(3), flat)
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		first := data()
		flat = append([]float32(nil), flat...)
		flat[3*4] = 1 // another record in the fifth place
		second := data()
		if r == accountant.AddOrRemoveOne {
			second = first.(*records.Table).Slice(0, 8)
		}
		privacytest.Replay[records.Data]{Budget: p.Budget(), Data: first, Neighbour: second, Seeds: 1,
			Run: func(ctx context.Context, l *accountant.Ledger, d records.Data) (any, error) {
				_, err := p.FitOn(ctx, l, d)
				if err != nil {
					t.Error(err)
				}
				return nil, err
			}}.Check(t)
	}
}

// TestCandidatesAreJudged checks that a search refuses a candidate that would fail before it
// reserves anything.
func TestCandidatesAreJudged(t *testing.T) {
	p := search(t, compose.Trials{Mean: 3, Limit: 6}, &toy{noise: 3}, &toy{noise: 4, refuses: errToy})
	ledger := accountant.NewLedger(p.Budget())
	_, err := p.FitOn(t.Context(), ledger, some(t, 9))
	if !errors.Is(err, errToy) || len(ledger.Entries()) != 0 {
		t.Errorf("error %v and %d ledger entries, want the candidate's error and none", err,
			len(ledger.Entries()))
	}
}

// bestOf returns the winner of a search and its score.
func bestOf(t testing.TB, g *synth.Generator) (candidate int, score float64) {
	t.Helper()
	candidate, score, err := compose.Best(g)
	if err != nil {
		t.Fatal(err)
	}
	return candidate, score
}
