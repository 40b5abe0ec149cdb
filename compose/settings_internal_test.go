package compose

import (
	"errors"
	"fmt"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// TestSettingsAtTheirLimits: every setting is accepted at its limits, and refused just beyond, with
// its path.
func TestSettingsAtTheirLimits(t *testing.T) {
	bit := records.BinaryImage(1, 1).WithLabels("a", "b")
	grey := records.Image(8, 8).WithLabels("a", "b")
	two := []Change{{}, {Distortion: 1}}
	many := func(classes int) records.Schema { // of one number
		names := make([]string, classes)
		for i := range names {
			names[i] = fmt.Sprint(i)
		}
		return records.Interval(1, 0, 1).WithLabels(names...)
	}
	changes := func(c Changes, s records.Schema) func(*param.Checker) {
		return func(k *param.Checker) { c.check(k, s) }
	}
	train := sgd.Config{ClipNorm: 1, SamplingProbability: 0.5, Steps: 2, NominalBatch: 5,
		Optimizer: sgd.Momentum(1, 0)}
	labels := func(c Labels) func(*param.Checker) {
		c.Train = train
		return c.check
	}
	with := func(edit func(c *sgd.Config)) func(*param.Checker) {
		c := Labels{Share: 0.5, Tries: 1, Train: train}
		edit(&c.Train)
		return c.check
	}
	ranks := func(c Ranks) func(*param.Checker) {
		return func(k *param.Checker) { c.check(k) }
	}
	accept := func(c Labels, s records.Schema) func(*param.Checker) {
		return func(k *param.Checker) { c.checkAcceptance(k, "compose.Labels.", s) }
	}
	shares := func(n int, list ...float64) func(*param.Checker) {
		return func(k *param.Checker) { Pool{Shares: list}.checkShares(k, n) }
	}
	for i, c := range []struct {
		check func(*param.Checker)
		path  string // of the mistake, "" for none
	}{
		{changes(Changes{Share: 0.03, Records: 1, Candidates: two}, grey), ""},
		{changes(Changes{Share: 0, Records: 1, Candidates: two}, grey), "compose.Changes.Share"},
		{changes(Changes{Share: 1, Records: 1, Candidates: two}, grey), "compose.Changes.Share"},
		{changes(Changes{Share: 0.5, Candidates: two}, grey), "compose.Changes.Records"},
		{changes(Changes{Share: 0.5, Records: 1 << 22, Candidates: two}, grey), ""},
		{changes(Changes{Share: 0.5, Records: 1<<22 + 1, Candidates: two}, grey),
			"compose.Changes.Records"},
		{changes(Changes{Share: 0.5, Records: 1 << 24, Candidates: []Change{{}, {}}}, bit), ""},
		{changes(Changes{Share: 0.5, Records: 1<<24 + 1, Candidates: []Change{{}, {}}}, bit),
			"compose.Changes.Records"},
		{changes(Changes{Share: 0.5, Records: 1 << 17, Candidates: two[:1:1]}, many(2048)),
			"compose.Changes.Candidates"},
		{changes(Changes{Share: 0.5, Records: 1<<17 + 1, Candidates: []Change{{}, {}}}, many(2048)),
			"compose.Changes.Records"},
		{changes(Changes{Share: 0.5, Records: 1, Candidates: two[:1]}, grey),
			"compose.Changes.Candidates"},
		{changes(Changes{Share: 0.5, Records: 1, Candidates: make([]Change, 1000)}, grey), ""},
		{changes(Changes{Share: 0.5, Records: 1, Candidates: make([]Change, 1001)}, grey),
			"compose.Changes.Candidates"},
		{changes(Changes{Share: 0.5, Records: 1, Candidates: two}, records.Image(8, 8)),
			"compose.Changes.PlanFor.s"},

		{labels(Labels{Share: 0.5, Tries: 1}), ""}, {labels(Labels{Share: 0.5, Tries: 1000}), ""},
		{labels(Labels{Share: 0.5, Tries: 1001}), "compose.Labels.Tries"},
		{labels(Labels{Share: 0.5}), "compose.Labels.Tries"},
		{labels(Labels{Tries: 1}), "compose.Labels.Share"},
		{labels(Labels{Share: 1, Tries: 1}), "compose.Labels.Share"},
		{labels(Labels{Share: 0.5, Tries: 1, Nominal: -1}), "compose.Labels.Nominal"},
		{with(func(c *sgd.Config) { c.NominalBatch = 0 }), "compose.Labels.Nominal"},
		{with(func(c *sgd.Config) { c.Bands = 1 }), ""},
		{with(func(c *sgd.Config) { c.Bands = 2 }), "sgd.Config.Bands"},
		{with(func(c *sgd.Config) { c.RandomAllocation = true }), "sgd.Config.RandomAllocation"},
		{with(func(c *sgd.Config) { c.Shuffled = true }), "sgd.Config.RandomAllocation"},
		{with(func(c *sgd.Config) { c.ClipNorm = -1 }), "sgd.Config.ClipNorm"},

		{accept(Labels{Margin: 0.999, Contrast: Contrast{White: 0.01}}, grey), ""},
		{accept(Labels{Margin: 1}, grey), "compose.Labels.Margin"},
		{accept(Labels{Margin: -0.1}, grey), "compose.Labels.Margin"},
		{accept(Labels{Contrast: Contrast{White: 0.5}}, bit), "compose.Labels.Contrast"},
		{accept(Labels{Contrast: Contrast{White: 0.009}}, grey), "compose.Contrast"},
		{accept(Labels{Contrast: Contrast{Black: 0.5, White: 1.01}}, grey), "compose.Contrast"},
		{accept(Labels{Contrast: Contrast{Black: -0.1, White: 1}}, grey), "compose.Contrast"},

		{ranks(Ranks{Share: 0.5, Cells: 2}), ""}, {ranks(Ranks{Share: 0.5, Cells: 4094}), ""},
		{ranks(Ranks{Share: 0.5, Cells: 1}), "compose.Ranks.Cells"},
		{ranks(Ranks{Share: 0.5, Cells: 4095}), "compose.Ranks.Cells"},
		{ranks(Ranks{Cells: 2}), "compose.Ranks.Share"},
		{ranks(Ranks{Share: 1, Cells: 2}), "compose.Ranks.Share"},
		{ranks(Ranks{Share: 0.5, Cells: 2, NoiseMultiplier: -1}), "compose.Ranks.NoiseMultiplier"},

		{shares(2, 1, 3), ""}, {shares(3, 1, 3), "compose.Pool.Shares"},
		{shares(2, 0, 3), "compose.Pool.Shares[0]"}, {shares(2, 3, -1), "compose.Pool.Shares[1]"},
		{shares(2, 1e308, 1e308), "compose.Pool.Shares"},
		{shares(2, 1e-308, 1e308), "compose.Pool.Shares[0]"}, {shares(2, 1e-10, 1e10), ""},
	} {
		var k param.Checker
		c.check(&k)
		err := k.Err()
		var p *param.Error
		if (err == nil) != (c.path == "") || err != nil && (!errors.As(err, &p) || p.Path != c.path) {
			t.Errorf("case %d: got %v, want a mistake at %q", i, err, c.path)
		}
	}
}

// TestDefaultsOfSettings: what the settings mean that say nothing, and that others stay.
func TestDefaultsOfSettings(t *testing.T) {
	c := Labels{Nominal: 1000}.withDefaults()
	if c.Share != 0.7 || c.Tries != 20 || c.Features == nil || c.Train.Steps != 200 ||
		c.Train.ClipNorm != 0.1 || c.Train.SamplingProbability != 0.25 || c.Train.NominalBatch != 250 ||
		fmt.Sprint(c.Train.Optimizer) != fmt.Sprint(sgd.Momentum(200, 0.9)) ||
		c.contrast() != DefaultContrast {
		t.Errorf("the defaults of labels are %+v", c)
	}
	own := Labels{Nominal: 1000, Share: 0.5, Tries: 3, Contrast: Contrast{Black: 0.2, White: 0.4},
		Train: sgd.Config{Steps: 7, ClipNorm: 2, SamplingProbability: 0.5, NominalBatch: 9,
			Optimizer: sgd.Adam(0.1)}}
	c = own.withDefaults()
	if c.Share != 0.5 || c.Tries != 3 || c.Train.Steps != 7 || c.Train.ClipNorm != 2 ||
		c.Train.SamplingProbability != 0.5 || c.Train.NominalBatch != 9 ||
		fmt.Sprint(c.Train.Optimizer) != fmt.Sprint(sgd.Adam(0.1)) || c.contrast() != own.Contrast {
		t.Errorf("own settings become %+v", c)
	}
}

// TestRanksOfManyCounts: the counts of all columns together are limited, and the stage of the
// counts states its noise.
func TestRanksOfManyCounts(t *testing.T) {
	budget := accountant.Budget{Epsilon: 3, Delta: 1e-5}
	for n, good := range map[int]bool{4: true, 256: true, 257: false} {
		columns := make([]records.Column, n)
		for j := range columns {
			columns[j] = records.Numeric(fmt.Sprint("x", j), 0, 1)
		}
		s := must(records.NewSchema(columns...))(t)
		ranks := must(RankSchema(s))(t)
		r := ranking{Ranks: Ranks{Share: 0.3, Cells: mostCells}, schema: s, ranks: ranks,
			relation: budget.Relation}
		codes := 0
		for _, a := range r.halves().Attributes {
			codes += a.Codes
		}
		var p *param.Error
		if err := r.calibrate(budget); (err == nil) != (codes <= mostCodes) || err != nil &&
			(!errors.As(err, &p) || p.Path != "compose.Ranks.PlanFor.s") {
			t.Errorf("%d columns with %d counts: %v", n, codes, err)
		}
		if (codes <= mostCodes) != good {
			t.Errorf("%d columns have %d counts", n, codes)
		}
		before, after := r.stages()
		if len(before) != 1 || len(after) != 0 || before[0].NoiseMultiplier != r.NoiseMultiplier ||
			before[0].Event != accountant.Event(accountant.Gaussian{NoiseMultiplier: r.NoiseMultiplier}) ||
			!before[0].Once || before[0].Count != 1 || good && !(r.NoiseMultiplier > 0) {
			t.Errorf("the stages are %+v and %+v", before, after)
		}
	}
}

// TestLevelsOfOtherColumns: levels are of the open columns, and no more than these can have.
func TestLevelsOfOtherColumns(t *testing.T) {
	s := must(records.NewSchema(records.Hashed("a", 4).WithOther("x"), records.Hashed("b", 8),
		records.Flag("c", "n", "y"), records.Hashed("d", 3).WithOther("y")))(t)
	if open := openColumns(s); fmt.Sprint(open) != "[0 3]" {
		t.Errorf("the open columns are %v", open)
	}
	for _, c := range []struct {
		levels [][]string
		good   bool
	}{
		{[][]string{{"p", "q", "r"}, {"s", "t"}}, true}, {[][]string{nil, {"s"}}, true},
		{[][]string{{"p", "q", "r", "s"}, {"s", "t"}}, false},
		{[][]string{{"p"}, {"s", "t", "u"}}, false},
		{[][]string{{"p"}}, false}, {[][]string{{"p"}, {"s"}, nil}, false}, {nil, false},
	} {
		var p *param.Error
		if _, err := foundIn(s, c.levels); (err == nil) != c.good || err != nil && !errors.As(err, &p) {
			t.Errorf("%q: %v", c.levels, err)
		}
	}
}
