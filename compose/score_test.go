package compose_test

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// copies is a model that draws from given records.
type copies struct{ of records.Data }

func (c copies) Schema() records.Schema { return c.of.Schema() }
func (c copies) Sampler(d synth.Draw) (synth.Sampler, error) {
	rng := rand.New(rand.NewPCG(d.Seed, 1))
	return synth.Sampler{Schema: c.of.Schema(), Next: func(n int) (records.Data, error) {
		rows := make([]int32, n)
		for i := range rows {
			rows[i] = rng.Int32N(int32(c.of.Len()))
		}
		switch of := c.of.(type) {
		case *records.Table:
			return of.Take(rows), nil
		case *records.SetTable:
			return of.Take(rows), nil
		}
		return nil, param.New("copies", nil, "a table")
	}}, nil
}
func (c copies) Encode() (*synth.File, error) { return &synth.File{Header: []byte("{}")}, nil }

// correlated returns records of four bits and a class. Bits depend on the class with probability
// tell.
func correlated(t testing.TB, n int, tell float64, seed uint64) *records.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 5))
	flat, labels := make([]float32, 4*n), make([]int32, n)
	for i := range labels {
		labels[i] = rng.Int32N(3)
		for j := range 4 {
			bit := rng.IntN(2)
			if rng.Float64() < tell {
				bit = int(labels[i]) >> (j % 2) & 1
			}
			flat[4*i+j] = float32(bit)
		}
	}
	data, err := records.FromFlat(records.Binary(4).WithLabels("a", "b", "c"), flat, labels...)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// exactly returns the score of a generator without noise. It checks that vectors have norm at most
// 1.
func exactly(t *testing.T, s compose.Score, of, data records.Data) float64 {
	t.Helper()
	if err := s.Validate(data.Schema()); err != nil {
		t.Fatal(err)
	}
	st, err := s.Statistic(t.Context(),
		synth.NewGenerator("copies", copies{of}, accountant.Guarantee{}))
	if err != nil {
		t.Fatal(err)
	}
	sum := make([]float64, st.Dim())
	for i := range data.Len() {
		row, norm := make([]float64, st.Dim()), 0.0
		st.Of(data.(*records.Table).Slice(i, i+1), row)
		for j, x := range row {
			sum[j] += x
			norm += x * x
		}
		if norm > 1+1e-9 || norm == 0 {
			t.Fatalf("%T: a record's vector has norm %g", s, math.Sqrt(norm))
		}
	}
	return st.Score(sum)
}

// TestScores: records like the private records score better than others, and scores are in range.
func TestScores(t *testing.T) {
	data, like, unlike := correlated(t, 1500, 0.9, 1), correlated(t, 1500, 0.9, 2),
		correlated(t, 1500, 0, 3)
	for _, s := range []compose.Score{compose.Accuracy{},
		compose.Accuracy{Balanced: true, Records: 500}, compose.Queries{},
		compose.Queries{Count: 20, Seed: 7}, compose.Likelihood{}} {
		good, bad := exactly(t, s, like, data), exactly(t, s, unlike, data)
		if !(good > bad) {
			t.Errorf("%T: got score %g for records like the private ones, and %g for others", s, good, bad)
		}
		if a, ok := s.(compose.Accuracy); ok && good < 0.85 {
			t.Errorf("%+v: got accuracies %g and %g, want the first to be at least 0.85", a, good, bad)
		}
		if same := exactly(t, s, data, data); same < good-0.03 || !(math.Abs(same) < 3) {
			t.Errorf("%T: got %g for the private records themselves", s, same)
		}
	}
	if (compose.Accuracy{}).Validate(records.Binary(3)) == nil {
		t.Error("Accuracy accepts records without classes")
	}
}

// searchOf returns a search among embeddings of labelled records.
func searchOf(t testing.TB, score compose.Score, r accountant.Relation) synth.Plan {
	t.Helper()
	schema := correlated(t, 1, 0, 1).Schema()
	c := compose.Search{
		Trials: compose.Trials{Mean: 3, Limit: 5}, Noise: 4, Score: score}
	for _, b := range []merf.Batches{{}, {Probability: 0.4, Steps: 3}} {
		p, err := merf.Config{Kernel: rff.RBF{Dim: 8, Bandwidth: 1}, Batches: b,
			Generator: merf.GeneratorConfig{Architecture: models.MLP{Hidden: []int{6}}, Latent: 2, Steps: 3,
				Batch: 12}}.PlanFor(schema, accountant.Budget{Epsilon: 5, Delta: 1e-5, Relation: r})
		if err != nil {
			t.Fatal(err)
		}
		c.Candidates = append(c.Candidates, compose.Fixed(p))
	}
	p, err := c.PlanFor(schema, accountant.Budget{Epsilon: 60, Delta: 1e-5, Relation: r})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestReplayOfScores replays whole searches, with every score, on neighbours. The runs may differ
// only within the declared sensitivities.
func TestReplayOfScores(t *testing.T) {
	full := correlated(t, 24, 0.8, 4)
	for _, score := range []compose.Score{compose.Accuracy{Records: 30},
		compose.Queries{Count: 5, Records: 30},
		compose.Likelihood{Count: 5, Records: 30}} {
		for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
			if _, ok := score.(compose.Accuracy); !ok && r == accountant.ReplaceOne {
				continue // pricing is slow, and the code is the same
			}
			p := searchOf(t, score, r)
			neighbour := full.Slice(1, 24) // the first record is missing
			if r == accountant.ReplaceOne {
				rows := []int32{7}
				for i := int32(1); i < 24; i++ {
					rows = append(rows, i)
				}
				neighbour = full.Take(rows)
			}
			privacytest.Replay[records.Data]{Budget: p.Budget(), Data: full, Neighbour: neighbour, Seeds: 1,
				Run: func(ctx context.Context, l *accountant.Ledger, data records.Data) (any, error) {
					var seen []synth.Progress
					gen, err := p.FitOn(ctx, l, data, synth.OnProgress(func(at synth.Progress) {
						at.Elapsed = 0
						seen = append(seen, at)
					}))
					if err != nil {
						return nil, err
					}
					drawn, err := gen.Sample(ctx, 20, synth.Seed(1))
					candidate, score := bestOf(t, gen)
					return []any{seen, drawn, score, candidate}, err
				}}.Check(t)
		}
	}
}

// TestReplayHasPower: two missing records exceed the declared sensitivity, and the replay finds
// this.
func TestReplayHasPower(t *testing.T) {
	p := search(t, compose.Trials{Mean: 2, Limit: 3}, &toy{noise: 4})
	found := privacytest.Replay[int]{Budget: p.Budget(), Data: 9, Neighbour: 7, Seeds: 1,
		Run: func(ctx context.Context, l *accountant.Ledger, n int) (any, error) {
			_, err := p.FitOn(ctx, l, some(t, n))
			return nil, err
		}}.Findings(t)
	if len(found) == 0 {
		t.Error("a run that changes by two records is not found")
	}
}

// TestPlansInFiles: a search is read back from a file with its candidates and its score.
func TestPlansInFiles(t *testing.T) {
	for _, score := range []compose.Score{compose.Accuracy{Balanced: true},
		compose.Queries{Count: 3}, compose.Likelihood{Seed: 4}} {
		p := searchOf(t, score, accountant.AddOrRemoveOne)
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		again, err := compose.Systems(systems).ReadPlan(text)
		if err != nil || again.String() != p.String() {
			t.Errorf("got back %v and error %v", again, err)
		}
	}
	if _, err := json.Marshal(search(t, compose.Trials{Mean: 2}, &toy{noise: 3})); err == nil {
		t.Error("a user-defined score is written")
	}
}
