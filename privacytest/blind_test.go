package privacytest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// The tests in this file contain faults that a replay must find. An earlier version of Replay
// missed each of them.

type inner struct{ n int }

// hidden has a field of every kind.
type hidden struct {
	flag    bool
	whole   int32
	count   uint16
	address uintptr
	real    float32
	pair    complex64
	text    string
	rows    []int32
	buffer  []float32 // its length is zero
	bytes   []byte
	fixed   [3]int8
	table   map[string]int
	nested  map[inner]*inner
	any     any
	next    *hidden
	call    func() int
	queue   chan int
	raw     unsafe.Pointer
	err     error
}

// hide lists functions that put the number of records into one field, by the name of the field.
var hide = map[string]func(h *hidden, n int){
	"":           func(h *hidden, n int) {},
	"a bool":     func(h *hidden, n int) { h.flag = n > 3 },
	"an int":     func(h *hidden, n int) { h.whole = int32(n) },
	"a uint":     func(h *hidden, n int) { h.count = uint16(n) },
	"an address": func(h *hidden, n int) { h.address = uintptr(n) },
	"a float":    func(h *hidden, n int) { h.real = float32(n) },
	"the sign of zero": func(h *hidden, n int) {
		h.real = float32(math.Copysign(0, float64(n)-3.5))
	},
	"a complex number":        func(h *hidden, n int) { h.pair = complex(1, float32(n)) },
	"a string":                func(h *hidden, n int) { h.text = fmt.Sprint(n) },
	"a slice":                 func(h *hidden, n int) { h.rows = []int32{int32(n)} },
	"a slice's length":        func(h *hidden, n int) { h.rows = make([]int32, n) },
	"a nil slice":             func(h *hidden, n int) { h.rows = emptyOrNil(n) },
	"what a slice had before": func(h *hidden, n int) { h.buffer = []float32{float32(n)}[:0] },
	"bytes":                   func(h *hidden, n int) { h.bytes = []byte{byte(n)} },
	"an array":                func(h *hidden, n int) { h.fixed[2] = int8(n) },
	"a map's value":           func(h *hidden, n int) { h.table = map[string]int{"n": n} },
	"a map's key": func(h *hidden, n int) {
		h.table = map[string]int{fmt.Sprint(n): 1}
	},
	"a map's size": func(h *hidden, n int) {
		h.table = map[string]int{"a": 1}
		h.table[[2]string{"a", "b"}[n%2]] = 1
	},
	"a pointer in a map":       func(h *hidden, n int) { h.nested = map[inner]*inner{{1}: {n}} },
	"an interface":             func(h *hidden, n int) { h.any = n },
	"an interface's type":      func(h *hidden, n int) { h.any = []any{int8(1), int16(1)}[n%2] },
	"what a pointer points at": func(h *hidden, n int) { h.next = &hidden{whole: int32(n)} },
	"a nil pointer":            func(h *hidden, n int) { h.next = []*hidden{nil, {}}[n%2] },
	"whether two pointers are equal": func(h *hidden, n int) {
		h.next = &hidden{}
		h.any = []*hidden{h.next, {}}[n%2]
	},
	"a closure":                  func(h *hidden, n int) { h.call = func() int { return n } },
	"a channel":                  func(h *hidden, n int) { h.queue = make(chan int, 1); h.queue <- n },
	"an unsafe pointer":          func(h *hidden, n int) { h.raw = unsafe.Pointer(&n) },
	"an error inside":            func(h *hidden, n int) { h.err = fmt.Errorf("%d", n) },
	"a nil function":             func(h *hidden, n int) { h.call = []func() int{nil, zero}[n%2] },
	"a function of an interface": func(h *hidden, n int) { h.any = func() int { return n } },
}

func emptyOrNil(n int) []int32 { return [][]int32{nil, {}}[n%2] }
func zero() int                { return 0 }

func replayed[D any](t *testing.T, r accountant.Relation, a, b D,
	run func(context.Context, *ledger.Ledger, D) (any, error)) []string {
	t.Helper()
	budget := accountant.Budget{Epsilon: 1000, Delta: 1e-5, Relation: r}
	return Replay[D]{Run: run, Budget: budget, Data: a, Neighbour: b}.Findings(t)
}

// TestNothingVisibleIsOverlooked: every kind of field is compared, or reported as not comparable.
func TestNothingVisibleIsOverlooked(t *testing.T) {
	a, b := make([]float64, 3), make([]float64, 4)
	for name, into := range hide {
		for _, wrap := range []func(h *hidden) any{
			func(h *hidden) any { return h },
			func(h *hidden) any { return *h },
			func(h *hidden) any { return map[string][]any{"x": {1, *h}} },
		} {
			f := replayed(t, accountant.AddOrRemoveOne, a, b,
				func(_ context.Context, _ *ledger.Ledger, d []float64) (any, error) {
					h := &hidden{any: 1, rows: []int32{1}, buffer: make([]float32, 2), err: context.Canceled}
					h.table = map[string]int{"a": 1, "b": 2}
					into(h, len(d))
					return wrap(h), nil
				})
			if (len(f) > 0) != (name != "") {
				t.Errorf("%q: got findings %v, want findings for every fault and no others", name, f)
			}
		}
		f := replayed(t, accountant.AddOrRemoveOne, a, b,
			func(_ context.Context, _ *ledger.Ledger, d []float64) (any, error) {
				h := &hidden{}
				into(h, len(d))
				return nil, quiet{h}
			})
		// Without a difference, the finding is that every run ended in an error.
		same := len(f) == 1 && strings.HasPrefix(f[0], "every run ended")
		if len(f) == 0 || same != (name == "") {
			t.Errorf("%q inside an error: got findings %v", name, f)
		}
	}
}

// quiet is an error that does not print its content.
type quiet struct{ *hidden }

func (quiet) Error() string { return "failed" }

// TestSharedObjectsAreNoFindings: an unreadable value is no finding if it is the same object in
// both runs. Values may also contain pointers to themselves.
func TestSharedObjectsAreNoFindings(t *testing.T) {
	call, queue, raw := func() int { return len(t.Name()) }, make(chan int), unsafe.Pointer(t)
	f := replayed(t, accountant.AddOrRemoveOne, make([]float64, 3), make([]float64, 4),
		func(context.Context, *ledger.Ledger, []float64) (any, error) {
			h := &hidden{call: call, queue: queue, raw: raw}
			h.next = h
			loop := []any{1, nil}
			loop[1] = loop
			h.any = loop
			return []any{h, zero, math.NaN()}, nil
		})
	if len(f) > 0 {
		t.Errorf("got findings %v, want none", f)
	}
}

// TestValuesAreComparedAsTheyWere: a value that both runs share is compared as it was at the end of
// each run.
func TestValuesAreComparedAsTheyWere(t *testing.T) {
	shared := make([]int, 1)
	f := replayed(t, accountant.AddOrRemoveOne, make([]float64, 3), make([]float64, 4),
		func(_ context.Context, _ *ledger.Ledger, d []float64) (any, error) {
			shared[0] = len(d)
			return shared, nil
		})
	if len(f) == 0 {
		t.Error("the number of records in a shared slice is not caught")
	}
}

// sampling returns steps on samples of the records, with a fault unless fault is empty.
func sampling(event accountant.Event, subset bool, fault string) func(context.Context,
	*ledger.Ledger, []float64) (any, error) {
	return func(ctx context.Context, l *ledger.Ledger, d []float64) (any, error) {
		a, err := mechanism.Begin(ctx, l).Reserve("steps", event, 4)
		if err != nil {
			return nil, err
		}
		out := make([]float64, 1)
		for a.Remaining() > 0 {
			g, err := a.Next()
			if err != nil {
				return nil, err
			}
			var rows []int32
			if subset {
				rows, _ = g.SampleWithoutReplacement(nil, nil)
			} else {
				rows, _ = g.PoissonSample(len(d), nil, nil)
			}
			switch fault {
			case "the sample is ignored":
				rows = all(len(d))
			case "the last record is always there":
				rows = append(rows, int32(len(d)-1))
			case "the first record is always there":
				rows = append(rows, 0)
			case "the record after each sampled one":
				for i, row := range rows {
					rows[i] = (row + 1) % int32(len(d))
				}
			}
			std := 2.0
			s := mechanism.NewFixedSum(1, mechanism.GridFor(std))
			for _, row := range rows {
				s.AddRow64([]float64{min(max(d[row], -1), 1)}, 1)
			}
			if err := g.Release(mechanism.SumSensitivity(l.Relation(), 1)/std,
				mechanism.Part{Sum: s, Std: std, Out: out}); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
}

func all(n int) (rows []int32) {
	for i := range n {
		rows = append(rows, int32(i))
	}
	return rows
}

// TestStepsLookAtTheirSampleOnly: a step that reads more than its sample is caught. The test covers
// both relations, Poisson samples and subsets, and a differing row at the front, in the middle and
// at the end.
func TestStepsLookAtTheirSampleOnly(t *testing.T) {
	gaussian := accountant.Gaussian{NoiseMultiplier: 1}
	for _, c := range []struct {
		name     string
		relation accountant.Relation
		event    accountant.Event
		subset   bool
	}{
		{"Poisson", accountant.AddOrRemoveOne,
			accountant.PoissonSampled{Probability: 0.5, Event: gaussian}, false},
		{"Poisson", accountant.ReplaceOne,
			accountant.PoissonSampled{Probability: 0.5, Event: gaussian}, false},
		{"rare Poisson", accountant.ReplaceOne,
			accountant.PoissonSampled{Probability: 0.01, Event: gaussian}, false},
		{"frequent Poisson", accountant.ReplaceOne,
			accountant.PoissonSampled{Probability: 0.9, Event: gaussian}, false},
		{"subset", accountant.ReplaceOne,
			accountant.SampledWithoutReplacement{Population: 20, Sample: 10, Event: gaussian}, true},
	} {
		for _, at := range []int{0, 9, 19} {
			a := make([]float64, 20)
			for i := range a {
				a[i] = math.Sin(float64(i))
			}
			b := slices.Clone(a)
			switch {
			case c.relation == accountant.ReplaceOne:
				a[at], b[at] = 1, -1
			case at == 19:
				b = append(b, 1)
			default:
				b = slices.Insert(b, at, 1)
			}
			if f := replayed(t, c.relation, a, b, sampling(c.event, c.subset, "")); len(f) > 0 {
				t.Errorf("%s under %v: the correct step has findings: %v", c.name, c.relation, f)
			}
			faults := []string{"the sample is ignored"}
			if c.name == "Poisson" || c.name == "subset" {
				faults = append(faults, "the record after each sampled one")
				if at == 0 {
					faults = append(faults, "the first record is always there")
				} else if at == 19 {
					faults = append(faults, "the last record is always there")
				}
			}
			for _, fault := range faults {
				if f := replayed(t, c.relation, a, b, sampling(c.event, c.subset, fault)); len(f) == 0 {
					t.Errorf("%s under %v, row %d: %s: not caught", c.name, c.relation, at, fault)
				}
			}
		}
	}
}

// TestReplaysInBothOrders: a run that compares a noisy sum with the true one on one side only is
// found whichever data set is given first. Its error shows in one order: the sum of the larger data
// set is never far below the one that the smaller data set drew, and the other way round.
func TestReplaysInBothOrders(t *testing.T) {
	const far = 20 // the effect of a row
	for _, side := range []float64{-1, 1} {
		run := func(ctx context.Context, l *ledger.Ledger, rows []float64) (any, error) {
			g, err := mechanism.Begin(ctx, l).Spend("sum", accountant.Gaussian{NoiseMultiplier: 1. / far})
			if err != nil {
				return nil, err
			}
			s, out := mechanism.NewFixedSum(1, 0x1p-20), make([]float64, 1)
			for range rows {
				s.AddRowAt(0, []float32{far}, 1)
			}
			if err := g.Release(far, mechanism.Part{Sum: s, Std: 1, Out: out}); err != nil {
				return nil, err
			}
			if side*(out[0]-float64(far*len(rows))) > far/2 {
				return nil, errors.New("the noise is too large")
			}
			return out, nil
		}
		small, large := make([]float64, 3), make([]float64, 4)
		for _, pair := range [][2][]float64{{small, large}, {large, small}} {
			if f := replayed(t, accountant.AddOrRemoveOne, pair[0], pair[1], run); len(f) == 0 {
				t.Errorf("side %v, %d rows first: no finding", side, len(pair[0]))
			}
		}
	}
}

// TestRowsThatCannotBeTold: under replace-one a sample is a finding if the differing rows are
// unknown. It is no finding if Changed lists these rows.
func TestRowsThatCannotBeTold(t *testing.T) {
	e := accountant.PoissonSampled{Probability: 0.5, Event: accountant.Gaussian{NoiseMultiplier: 1}}
	run := func(ctx context.Context, l *ledger.Ledger, last float64) (any, error) {
		return sampling(e, false, "")(ctx, l, []float64{0.5, 0.25, last})
	}
	r := Replay[float64]{Run: run,
		Budget: accountant.Budget{Epsilon: 1000, Delta: 1e-5, Relation: accountant.ReplaceOne}, Data: 1,
		Neighbour: -1}
	if f := r.Findings(t); len(f) == 0 || !strings.Contains(f[0], "set Changed") {
		t.Errorf("a sample without known differing rows: got %v, want the hint to set Changed", f)
	}
	r.Changed = []int{2}
	r.Check(t)
}

// TestLedgersAreComparedWhole: children, notes and the text of a guarantee are compared.
func TestLedgersAreComparedWhole(t *testing.T) {
	for name, run := range map[string]func(l *ledger.Ledger, n int) error{
		"the number of parts": func(l *ledger.Ledger, n int) error {
			_, err := l.Disjoint(ledger.Parts{Purpose: "clusters", N: n})
			return err
		},
		"a part's event": func(l *ledger.Ledger, n int) error {
			parts, err := l.Disjoint(ledger.Parts{Purpose: "clusters", N: 2})
			if err != nil {
				return err
			}
			return parts[0].Spend("x", accountant.Gaussian{NoiseMultiplier: float64(10 + n)})
		},
		"a part's purpose": func(l *ledger.Ledger, n int) error {
			parts, err := l.Disjoint(ledger.Parts{Purpose: "clusters", N: 2})
			if err != nil {
				return err
			}
			return parts[1].Spend(fmt.Sprint(n), accountant.Gaussian{NoiseMultiplier: 10})
		},
		"a class of noise": func(l *ledger.Ledger, n int) error {
			r, err := l.Reserve("x", accountant.Gaussian{NoiseMultiplier: 10}, 1)
			if err == nil && n > 3 {
				r.Note(ledger.RealNoise)
			}
			return err
		},
		"the name of a transaction": func(l *ledger.Ledger, n int) error {
			_, err := l.ReserveAll(ledger.Transaction{ID: fmt.Sprint(n), Lines: []ledger.Line{
				{Purpose: "x", Event: accountant.Gaussian{NoiseMultiplier: 10}, Count: 1}}})
			return err
		},
		"the order of a line": func(l *ledger.Ledger, n int) error {
			a, _ := l.Reserve("x", accountant.Gaussian{NoiseMultiplier: 10}, 1)
			if n > 3 {
				if err := a.Spend(); err != nil {
					return err
				}
			}
			_, err := l.Reserve("y", accountant.Gaussian{NoiseMultiplier: 11}, 1)
			if n <= 3 {
				return a.Spend()
			}
			return err
		},
	} {
		f := replayed(t, accountant.AddOrRemoveOne, make([]float64, 3), make([]float64, 4),
			func(_ context.Context, l *ledger.Ledger, d []float64) (any, error) {
				return nil, run(l, len(d))
			})
		if len(f) == 0 {
			t.Errorf("%s depends on the records: not caught", name)
		}
	}
}

// atEdges returns a run that sums records and counts some of them twice.
func atEdges(twice func(row, n int) bool) func(context.Context, *ledger.Ledger,
	records.Data) (any, error) {
	return func(ctx context.Context, l *ledger.Ledger, d records.Data) (any, error) {
		g, err := mechanism.Begin(ctx, l).Spend("sums", accountant.Gaussian{NoiseMultiplier: 1})
		if err != nil {
			return nil, err
		}
		norm := d.Schema().MaxNorm()
		std := mechanism.SumSensitivity(l.Relation(), norm)
		s := mechanism.NewFixedSum(d.Schema().Dim(), mechanism.GridFor(std))
		var b device.Batch
		d.Range(0, d.Len(), &b)
		for i := range b.Rows {
			s.AddRow(b.Dense.Row(i), 1)
			if twice(i, b.Rows) {
				s.AddRow(b.Dense.Row(i), 1)
			}
		}
		out := make([]float64, s.Dim())
		return out, g.Release(1, mechanism.Part{Sum: s, Std: std, Out: out})
	}
}

// TestRecordsCountOnceEverywhere: a record that counts twice is found at every position.
func TestRecordsCountOnceEverywhere(t *testing.T) {
	s := records.Interval(2, -1, 1)
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		find := func(pairs []Pair, twice func(row, n int) bool) bool {
			for _, p := range pairs {
				if len(Replay[records.Data]{Run: atEdges(twice), Budget: toyBudget(r), Data: p.Data,
					Neighbour: p.Neighbour, Seeds: 1}.Findings(t)) > 0 {
					return true // no samples are drawn, so other seeds show nothing more
				}
			}
			return false
		}
		few, many := Neighbours(t, s, r, 6, 1), Edges(t, s, r, 1)
		if find(few, func(int, int) bool {
			return false
		}) || find(many, func(int, int) bool { return false }) {
			t.Errorf("%v: a correct sum has findings", r)
		}
		for name, twice := range map[string]func(row, n int) bool{
			"the first record":  func(row, n int) bool { return n > 2 && row == 0 },
			"the middle record": func(row, n int) bool { return n > 2 && row == n/2 },
			"the last record":   func(row, n int) bool { return row == n-1 },
		} {
			if !find(few, twice) {
				t.Errorf("%v: %s counts twice: not caught", r, name)
			}
		}
		for _, edge := range chunkEdges() {
			for _, row := range []int{edge - 1, edge} {
				if !find(many, func(i, n int) bool { return i == row }) {
					t.Errorf("%v: record %d counts twice: not caught", r, row)
				}
			}
		}
	}
}

// TestNeighboursAreToldApart: the differing row is found in all pairs. Samples can then be coupled.
func TestNeighboursAreToldApart(t *testing.T) {
	for _, s := range []records.Schema{records.Interval(3, -1, 2), records.Sets(12, 4),
		records.Binary(2).WithLabels("a", "b")} {
		for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
			for _, p := range append(Neighbours(t, s, r, 6, 1), Edges(t, s, r, 1)...) {
				c := changeOf(p.Data, p.Neighbour)
				if !c.known || (c.extra >= 0) != (r == accountant.AddOrRemoveOne) || len(c.replaced) > 1 {
					t.Errorf("%v, %v, %s: got the change %+v, want one differing row", s, r, p.Name, c)
				}
			}
		}
	}
}

// TestLowBitsAreExplained: a finding about the lowest bit explains the fault and the remedy.
func TestLowBitsAreExplained(t *testing.T) {
	c := Claim[int]{Run: func(n int) []float64 {
		return one(float64(n-3) + laplaceDraw(1))
	}, D0: 3, D1: 4, Epsilon: 1, FalseAlarm: 1e-8}
	for range 5 {
		e := c.contradiction(t)
		if e.P > c.FalseAlarm {
			t.Fatalf("floating-point noise is not refuted: %v", e)
		}
		if strings.HasPrefix(e.Event, "the lowest bit") {
			if !strings.Contains(e.String(), "ReleaseGradient") {
				t.Errorf("the finding has no explanation: %v", e)
			}
			return
		}
	}
	t.Error("no finding is about the lowest bit")
}

// TestNormsOfMechanisms: the distance of two inputs is measured in the norm that each mechanism's
// noise protects.
func TestNormsOfMechanisms(t *testing.T) {
	release := func(mechanism string, inexact bool, in ...float64) *entropy.Release {
		return &entropy.Release{Mechanism: mechanism, Effect: 1, Std: []float64{2},
			Inputs: [][]float64{in}, Inexact: inexact}
	}
	for mechanism, want := range map[string]float64{
		"Gaussian": math.Sqrt2, "Gaussian gradient": math.Sqrt2, "noisy argmax": math.Sqrt2,
		"discrete Gaussian": math.Sqrt2,
		"Laplace":           2, "discrete Laplace": 2, "exponential mechanism": 1,
		"randomized response": 0,
	} {
		if got := distance(release(mechanism, false, 1, 5), release(mechanism, false, 3, 3)); got !=
			want {
			t.Errorf("%s: got distance %v, want %v", mechanism, got, want)
		}
	}
	if d := distance(release("Gaussian", false, 1),
		release("Gaussian", false, 1, 2)); !math.IsInf(d, 1) {
		t.Errorf("sums of different shapes: got distance %v, want infinity", d)
	}
	big := release("Gaussian gradient", true, 1000)
	if got := tolerance(big, big); got < 1e-4 || got > 1e-2 {
		t.Errorf("sums of size 500 in float32: got tolerance %v, want 1e-4 to 1e-2", got)
	}
	if got := tolerance(release("Gaussian", false, 1000), release("Gaussian", false, 1000)); got >
		1e-8 {
		t.Errorf("exact sums: got tolerance %v, want at most 1e-8", got)
	}
}

// TestGridsAreChecked: the check finds values off the grid, and lowest bits that are not fair
// coins.
func TestGridsAreChecked(t *testing.T) {
	rng := newRand(1)
	fair, even, odd, off := make([]float64, 4000), make([]float64, 4000), make([]float64, 4000),
		make([]float64, 4000)
	for i := range fair {
		k := float64(rng.IntN(1000))
		fair[i], even[i], odd[i], off[i] = k/8, k/4, (2*k+1)/8, k/8
	}
	off[7] += 0x1p-10
	for name, c := range map[string]struct {
		values []float64
		found  bool
	}{"fair": {fair, false}, "even": {even, true}, "odd": {odd, true}, "off the grid": {off, true}} {
		if f := gridFinding(c.values, 1.0/8, 1e-9); (f != "") != c.found {
			t.Errorf("%s: got the finding %q", name, f)
		}
	}
}
