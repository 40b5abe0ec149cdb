package merf_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// TestNothingButNoisedSumsDependsOnARecord replays whole runs on neighbouring data sets with the
// mechanism's answers fixed. The ledger, the progress, the embedding and the generator must be
// bit-identical. The sums given to the mechanism must differ by no more than declared.
func TestNothingButNoisedSumsDependsOnARecord(t *testing.T) {
	turn := 0
	for _, s := range schemas(t) {
		for _, r := range relations {
			pairs := privacytest.Neighbours(t, s, r, 12, 3)
			for name, k := range kernels() {
				c := small(s, r, k)
				if turn%7 == 2 {
					c.Batches = merf.Batches{Probability: 0.4, Steps: 3}
				}
				plan := mustPlan(t, c)
				for i := range 2 { // each configuration is tested on a few pairs, and every pair is tested
					pair := pairs[(turn*2+i)%len(pairs)]
					t.Run(fmt.Sprint(s, "/", r, "/", name, "/", pair.Name), func(t *testing.T) {
						privacytest.Replay[records.Data]{Run: everythingVisible(plan), Budget: c.Budget,
							Data: pair.Data, Neighbour: pair.Neighbour, Seeds: 1}.Check(t)
					})
				}
				turn++
			}
		}
	}
}

// run is the type of function that privacytest replays.
type run = func(context.Context, *ledger.Ledger, records.Data) (any, error)

// everythingVisible returns a function for replays. It runs the plan and returns all released and
// reported values.
func everythingVisible(p *merf.Plan) run {
	return func(ctx context.Context, l *ledger.Ledger, data records.Data) (any, error) {
		var told []synth.Progress
		watch := synth.OnProgress(func(s synth.Progress) {
			s.Elapsed = 0
			told = append(told, s)
		})
		e, err := p.Embed(ctx, l, data, watch)
		if err != nil {
			return told, err
		}
		g, err := merf.Train(ctx, e, quick, watch)
		if err != nil {
			return told, err
		}
		file, err := g.Model().Encode()
		var sums [][]float64
		for c := range e.Classes() {
			sums = append(sums, e.Sum(c))
		}
		return []any{told, file, sums, e.Counts(), e.String()}, err
	}
}

// everyRow returns rows with every level of a small table, and rows with values that its schema
// does not have.
func everyRow(t *testing.T) (records.Schema, []records.Data) {
	t.Helper()
	s := must(records.NewSchema(records.Numeric("x", 0, 1).WithMissing(),
		records.Categorical("c", "p", "q", "r"), records.Flag("f", "no", "yes"),
		records.Label("y", "a", "b")))(t)
	var rows []records.Data
	for _, x := range []any{nil, 0.0, 0.37, 1.0, math.Inf(-1)} {
		for _, c := range []any{"p", "q", "r", "none of them"} {
			for _, y := range []any{"a", "b"} {
				f := must(records.FromValues(s, []any{x, c, []any{"no", "yes"}[len(rows)%2], y}))(t)
				rows = append(rows, f)
			}
		}
	}
	return s, rows
}

// TestSensitivityByBruteForce replays pairs of neighbouring small tables. Under add/remove, each
// record is added to an empty table and to a table with another record. Under replace-one, each
// kernel is tested on a part of all pairs of records.
func TestSensitivityByBruteForce(t *testing.T) {
	s, rows := everyRow(t)
	for _, r := range relations {
		for name, k := range kernels() {
			c := small(s, r, k)
			p := mustPlan(t, c)
			check := func(data, neighbour records.Data) {
				privacytest.Replay[records.Data]{Run: released(p), Budget: c.Budget, Data: data,
					Neighbour: neighbour, Seeds: 1}.Check(t)
			}
			for i, a := range rows {
				if r == accountant.AddOrRemoveOne {
					check(join(t, s), join(t, s, a))
					beside := rows[(7*i+1)%len(rows)]
					check(join(t, s, beside), join(t, s, beside, a))
					continue
				}
				for j, b := range rows {
					if (i+j)%14 == len(name)%14 { // all kernels together test most pairs
						check(join(t, s, a), join(t, s, b))
					}
				}
			}
			if t.Failed() {
				t.Fatalf("%v, %s", r, name)
			}
		}
	}
}

func released(p *merf.Plan) run {
	return func(ctx context.Context, l *ledger.Ledger, data records.Data) (any, error) {
		e, err := p.Embed(ctx, l, data)
		if err != nil {
			return nil, err
		}
		return []any{e.Sum(0), e.Counts()}, nil
	}
}

func join(t *testing.T, s records.Schema, parts ...records.Data) records.Data {
	t.Helper()
	return must(records.Concat(s, parts...))(t)
}

// TestTheStatedEffectIsAttained checks that a record of norm B changes the release by exactly the
// declared effect, so no noise is wasted.
func TestTheStatedEffectIsAttained(t *testing.T) {
	s, _ := everyRow(t)
	p := mustPlan(t, small(s, accountant.AddOrRemoveOne, kernels()["rbf"]))
	e := mustEmbed(t, p, join(t, s))
	want := math.Hypot(1/e.SumStd(), 1/e.CountStd()) * p.Config.NoiseMultiplier
	if math.Abs(want-1) > 1e-9 {
		t.Errorf("a record of norm 1 changes the release by %v of the declared effect, want 1", want)
	}
}

// TestLedgerHoldsThePlan checks that the ledger's entry and price are the plan's.
func TestLedgerHoldsThePlan(t *testing.T) {
	for _, r := range relations {
		for _, b := range []merf.Batches{{}, {Probability: 0.1, Steps: 7}} {
			c := small(table(t, records.Label("class", "a", "b", "c")), r, kernels()["rbf"])
			c.Batches = b
			p := mustPlan(t, c)
			l := ledger.New(c.Budget)
			e := must(p.Embed(context.Background(), l, drawTable(t, 100, 1)))(t)
			entries, stage := l.Entries(), p.Stages()[0]
			if len(entries) != 1 || !accountant.EqualEvents(entries[0].Event, stage.Event) ||
				entries[0].Reserved != stage.Count || entries[0].Spent != stage.Count {
				t.Errorf("ledger entries %+v, want %d × %v", entries, stage.Count, stage.Event)
			}
			if got := l.Epsilon().Upper; got != p.Total().Upper || got > c.Budget.Epsilon {
				t.Errorf("ε is %v by the ledger, %v by the plan; the budget is %v", got, p.Total().Upper,
					c.Budget.Epsilon)
			}
			if g := e.Guarantee(); len(g.NoiseClass) != 1 || g.NoiseClass[0] != ledger.ExactNoise {
				t.Errorf("the noise has class %v, want exact", g.NoiseClass)
			}
		}
	}
}

// TestNoiseHasThePlannedSize checks the standard deviation of a release of no records, over 2 ×
// 12,000 sums. The false-alarm rate of ±6 standard errors is 4e-9. Noise that is wrong by 30 % is
// about 60 standard errors away.
func TestNoiseHasThePlannedSize(t *testing.T) {
	for _, r := range relations {
		c := small(records.Binary(6).WithLabels("a", "b"), r, kernels()["rbf"])
		c.Kernel = rff.RBF{Dim: 12000, Bandwidth: 1}
		p := mustPlan(t, c)
		none := must(records.FromFlat(c.Schema, nil))(t)
		e := mustEmbed(t, p, none)
		square, n := 0.0, 0
		for class := range e.Classes() {
			for _, v := range e.Sum(class) {
				square += v * v
				n++
			}
		}
		std := math.Sqrt(square / float64(n))
		if f := std / p.SumStd; math.Abs(f-1) > 6/math.Sqrt(2*float64(n)) {
			t.Errorf("%v: noise ±%v, want ±%v", r, std, p.SumStd)
		}
	}
}

// TestCancelledRunsKeepTheirSpend checks that a cancelled run gets no refund.
func TestCancelledRunsKeepTheirSpend(t *testing.T) {
	s := table(t, records.Label("class", "a", "b", "c"))
	c := small(s, accountant.AddOrRemoveOne, kernels()["rbf"])
	p := mustPlan(t, c)
	ctx, cancel := context.WithCancel(context.Background())
	l := ledger.New(c.Budget)
	stream := func(yield func(records.Data, error) bool) {
		if yield(drawTable(t, 10, 1), nil) {
			cancel()
			yield(drawTable(t, 10, 2), nil)
		}
	}
	if _, err := p.EmbedStream(ctx, l, stream); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled stream: got %v, want context.Canceled", err)
	}
	if l.Epsilon().Upper != p.Total().Upper {
		t.Errorf("after a cancelled run the ledger has ε = %v, want %v", l.Epsilon().Upper,
			p.Total().Upper)
	}
	data := drawTable(t, 10, 1)
	_, err := p.Embed(context.Background(), l, data)
	if !errors.Is(err, accountant.ErrBudgetExceeded) {
		t.Errorf("a run on a spent budget: got %v, want ErrBudgetExceeded", err)
	}
	_, err = p.Embed(ctx, ledger.New(c.Budget), data)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled context: got %v, want context.Canceled", err)
	}
}

// TestHostileRecordsAreEmbedded checks that hostile records and an empty data set do not make a run
// fail. Generated records must fit the schema.
func TestHostileRecordsAreEmbedded(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	s := records.Interval(4, -0.3, 0.1).WithLabels("a",
		"b") // float32 represents neither bound exactly
	wild := must(records.FromRows(s, [][]float32{{nan, nan, nan, nan}, {inf, -inf, 1e38, -0},
		{5, 5, 5, 5}, {0, 0, 0, 0}}, 0, -7, 99, 1))(t)
	none := must(records.FromFlat(s, nil))(t)
	p := mustPlan(t, small(s, accountant.AddOrRemoveOne, kernels()["phase"]))
	for name, data := range map[string]records.Data{"hostile": wild, "empty": none} {
		gen, err := merf.Train(context.Background(), mustEmbed(t, p, data), quick)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		drawn := must(gen.Sample(context.Background(), 100))(t)
		if err := records.Check(drawn); err != nil {
			t.Errorf("%s: synthetic records outside the schema: %v", name, err)
		}
	}
}

// TestEpsilonIsTheBudgets checks for random configurations that a plan costs at most the budget's ε
// and at least 99 % of it.
func TestEpsilonIsTheBudgets(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		r := relations[rng.IntN(2)]
		c := small(records.Binary(4).WithLabels("a", "b"), r, kernels()["rbf"])
		c.Budget.Epsilon = math.Exp(4*rng.Float64() - 2)
		c.CountShare = rng.Float64()
		p := mustPlan(t, c)
		if e := p.Total().Upper; e > c.Budget.Epsilon || e < 0.99*c.Budget.Epsilon {
			t.Errorf("%v, share %.3f: the plan has ε = %v of %v", r, c.CountShare, e, c.Budget.Epsilon)
		}
	}
}
