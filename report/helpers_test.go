package report

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
	"github.com/seed7ba64551/privgen/synth"
)

// TestSettingsAtTheirLimits: each setting at its limits and beyond, and what no setting means.
func TestSettingsAtTheirLimits(t *testing.T) {
	for what, c := range map[string]struct {
		field func(*Settings) *int
		most  int
	}{
		"Rows":      {func(s *Settings) *int { return &s.Rows }, 1 << 24},
		"Synthetic": {func(s *Settings) *int { return &s.Synthetic }, 1 << 24},
		"Train":     {func(s *Settings) *int { return &s.Train }, 1 << 24},
		"Near":      {func(s *Settings) *int { return &s.Near }, 1 << 20},
		"Bins":      {func(s *Settings) *int { return &s.Bins }, 1000},
		"Queries":   {func(s *Settings) *int { return &s.Queries }, 1 << 20},
		"Groups":    {func(s *Settings) *int { return &s.Groups }, 1 << 20},
	} {
		for n, good := range map[int]bool{-1: false, 0: true, 1: true, c.most: true, c.most +
			1: false} {
			var s Settings
			*c.field(&s) = n
			var p *param.Error
			if err := s.Validate(); (err == nil) != good || err != nil && (!errors.As(err, &p) ||
				p.Path != "report.Settings."+what) {
				t.Errorf("%s = %d: %v", what, n, err)
			}
			if s = s.withDefaults(5); n > 0 && *c.field(&s) != n {
				t.Errorf("%s = %d becomes %d", what, n, *c.field(&s))
			}
		}
	}
	if err := (Settings{Methods: []classify.Method{nil}}).Validate(); err == nil {
		t.Error("a method that is none")
	}
	for coordinates, near := range map[int]int{0: 2000, 200: 2000, 201: 1496, 800: 750, 5000: 300} {
		s := Settings{Seed: 7}.withDefaults(coordinates)
		names := ""
		for _, m := range s.Methods {
			names += reflect.TypeOf(m).Name() + " "
		}
		last := map[bool]string{true: "NeuralNetwork ", false: "GradientBoosting "}
		if want := "LogisticRegression RandomForest " + last[coordinates > 200]; s.Near != near ||
			s.Rows != 50_000 || s.Synthetic != 50_000 || s.Train != 10_000 || s.Bins != 20 ||
			s.Queries != 1000 || s.Groups != 200 || s.Seed != 7 || names != want {
			t.Errorf("%d coordinates: %+v with %s", coordinates, s, names)
		}
	}
	if s := (Settings{Methods: []classify.Method{}}).withDefaults(300); len(s.Methods) != 0 {
		t.Error("methods though none are wanted")
	}
}

// TestSomeRecords: a selection has as many different records as it says, in order, each record as
// often as any other, and shows their rows.
func TestSomeRecords(t *testing.T) {
	flat := make([]float32, 9)
	for i := range flat {
		flat[i] = float32(i) / 10
	}
	data, err := records.FromFlat(records.Interval(1, 0, 1), flat)
	if err != nil {
		t.Fatal(err)
	}
	often := make([]int, 9)
	for seed := range uint64(9000) {
		rows := some(data, 4, seed)
		if len(rows) != 4 || !slices.IsSorted(rows) || len(slices.Compact(slices.Clone(rows))) != 4 {
			t.Fatal(rows)
		}
		for _, r := range rows {
			often[r]++
		}
	}
	for r, n := range often { // 4000 with a standard deviation of 47
		if n < 4000-300 || n > 4000+300 {
			t.Errorf("record %d is among %d of 9000 selections, want about 4000", r, n)
		}
	}
	if some(data, 9, 1) != nil || some(data, 10, 1) != nil || len(some(data, 8, 1)) != 8 {
		t.Error("a selection of all records, or of all but one")
	}
	if d := atMost(data, 9, 1); d != records.Data(data) {
		t.Error("all records are copied")
	}
	part, rows := atMost(data, 4, 5), some(data, 4, 5)
	var b device.Batch
	part.Range(1, 3, &b)
	if b.Rows != 2 || part.Len() != 4 || b.Dense.Row(0)[0] != flat[rows[1]] ||
		b.Dense.Row(1)[0] != flat[rows[2]] {
		t.Errorf("rows 1 and 2 of %v are %v", rows, b.Dense)
	}
	part.Gather([]int32{3, 0}, &b)
	if b.Dense.Row(0)[0] != flat[rows[3]] || b.Dense.Row(1)[0] != flat[rows[0]] {
		t.Errorf("rows 3 and 0 of %v are %v", rows, b.Dense)
	}
}

// TestWorstOfMany: a heat map of many columns has those with the worst pairs, in the schema's
// order,
// and says so. Tables of the worst have ten lines, without pairs that have no score.
func TestWorstOfMany(t *testing.T) {
	q := &Quality{}
	name := func(i int) string { return fmt.Sprint("c", i) }
	for n, want := range map[int]string{30: "",
		35: " Of 35 columns, the 30 with the worst pairs are drawn."} {
		q.Synthetic = QualityScores{}
		for i := range n {
			q.Synthetic.Shapes = append(q.Synthetic.Shapes, Shape{Column: name(i)})
		}
		for i := range n - 1 {
			score := Number(float64(n-i) / 100)
			q.Synthetic.Pairs = append(q.Synthetic.Pairs, Pair{Columns: [2]string{name(i), name(i + 1)},
				Score: score})
		}
		q.Synthetic.Pairs = append(q.Synthetic.Pairs, Pair{Columns: [2]string{name(0), name(n - 1)},
			Score: none})
		columns, text := heatColumns(q), heatNames(q)
		if len(columns) != 30 || columns[0] != name(n-30) || columns[29] != name(n-1) ||
			text[len(text)-len(want):] != want || want == "" && text[len(text)-1] != '.' {
			t.Errorf("%d columns: %q, %s", n, columns, text)
		}
		pairs := worstPairs(q)
		if len(pairs) != 10 || pairs[0].Score != 0.02 || pairs[9].Score != 0.11 {
			t.Errorf("the worst pairs are %+v", pairs)
		}
	}
	q.Synthetic.Pairs = q.Synthetic.Pairs[:3]
	if n := len(worstPairs(q)); n != 3 {
		t.Errorf("%d worst pairs of three", n)
	}
}

// TestOddsAreNotTooSmall: the stated probability of an exception is not below δ.
func TestOddsAreNotTooSmall(t *testing.T) {
	for delta, want := range map[float64]string{0: "", 1e-5: "1 in 100,000", 1.5e-5: "1 in 66,666",
		3e-1: "1 in 3", 1e-6: "1 in 1,000,000", 0.5: "1 in 2", 1e-3: "1 in 1,000", 0.4: "1 in 2"} {
		want := map[bool]string{true: ", except with a probability of about " + want}[want != ""]
		if got := exception(delta); got != want {
			t.Errorf("δ = %v: %q, want %q", delta, got, want)
		}
	}
}

// TestBillOfAGuarantee: a line for each entry, with the ε of all its uses, or none if it is
// unknown.
func TestBillOfAGuarantee(t *testing.T) {
	g := ledger.Guarantee{Delta: 1e-5, Entries: []ledger.GuaranteeEntry{
		{Purpose: "a", Description: "d", Reserved: 1, Event: []byte(
			`{"kind":"gaussian","noise_multiplier":4}`)},
		{Purpose: "b", Reserved: 4, Event: []byte(`{"kind":"gaussian","noise_multiplier":8}`)},
		{Purpose: "c", Reserved: 0, Event: []byte(`{"kind":"gaussian","noise_multiplier":4}`)},
		{Purpose: "d", Reserved: 2, Event: []byte(`{"kind":"nothing"}`)}}}
	m := &maker{guarantee: &g, out: &Report{}}
	if err := m.bill(); err != nil {
		t.Fatal(err)
	}
	for i, line := range m.out.Bill {
		e := g.Entries[i]
		if line.Purpose != e.Purpose || line.Count != e.Reserved || i >= 2 != line.Epsilon.IsNone() {
			t.Errorf("line %d: %+v", i, line)
		}
	}
	a, b := float64(m.out.Bill[0].Epsilon), float64(m.out.Bill[1].Epsilon)
	if len(m.out.Bill) != 4 || !(a > 0.5 && a < 2) || b < 0.999*a || b > 1.001*a {
		t.Errorf("one use of σ = 4 has ε = %v, four of σ = 8 have %v", a, b)
	}
	m = &maker{out: &Report{}}
	if err := m.bill(); err != nil || m.out.Bill == nil || len(m.out.Bill) != 0 {
		t.Errorf("without a guarantee: %v %v", m.out.Bill, err)
	}
}

// stages is a plan of which a bill reads only the stages.
type stages struct {
	synth.Plan
	list []synth.Stage
}

func (s stages) Stages() []synth.Stage { return s.list }

// TestBillOfAPlan: a line for each stage, with the releases of all parts of the records.
func TestBillOfAPlan(t *testing.T) {
	list := []synth.Stage{{Purpose: "a", Event: accountant.Gaussian{NoiseMultiplier: 2}, Count: 6,
		Parts: 3, Epsilon: accountant.Bound{Lower: 1, Estimate: 2, Upper: 3}}, {Purpose: "b",
		Event: accountant.Laplace{Scale: 2}, Count: 4, Epsilon: accountant.Bound{Upper: 2}}}
	m := &maker{in: Input{Plan: stages{list: list}}, out: &Report{}}
	if err := m.bill(); err != nil || len(m.out.Bill) != 2 {
		t.Fatal(m.out.Bill, err)
	}
	for i, want := range []BillLine{{"a", accountant.Describe(list[0].Event), 18, 3},
		{"b", accountant.Describe(list[1].Event), 4, 2}} {
		if got := m.out.Bill[i]; got != want {
			t.Errorf("line %d is %+v, want %+v", i, got, want)
		}
	}
}
