package compose

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// counting is a model whose records are start, start+1 and so on.
type counting struct {
	schema records.Schema
	start  int
	short  bool // it returns one record less than it should
	seen   *[]synth.Draw
}

func (m counting) Schema() records.Schema       { return m.schema }
func (m counting) Encode() (*synth.File, error) { return nil, errors.New("not encoded") }

func (m counting) Sampler(d synth.Draw) (synth.Sampler, error) {
	*m.seen = append(*m.seen, d)
	at, unaccepted := m.start, 0
	next := func(n int) (records.Data, error) {
		if m.short {
			n--
		}
		var flat []float32
		for range n {
			flat = append(flat, float32(at))
			at++
		}
		unaccepted += n
		return records.FromFlat(m.schema, flat)
	}
	return synth.Sampler{Schema: m.schema, Next: next,
		Unaccepted: func() int { return unaccepted }}, nil
}

// drawnFrom returns n records of a pool in two chunks, and the number that were not accepted.
func drawnFrom(t *testing.T, m *model, d synth.Draw, n int) (list []float32, unaccepted int) {
	t.Helper()
	s := must(m.Sampler(d))(t)
	for _, part := range []int{n / 3, n - n/3} {
		rows := must(s.Next(part))(t)
		if rows.Len() != part {
			t.Fatalf("got %d records, want %d", rows.Len(), part)
		}
		table := rows.(*records.Table)
		for i := range part {
			list = append(list, table.Row(nil, i)[0])
		}
	}
	return list, s.Unaccepted()
}

// TestShares checks that each system draws its share, that the records of the systems are mixed,
// and that none is lost or drawn twice. The draw is seeded, so the test has no false alarms.
func TestShares(t *testing.T) {
	const n, second = 30_000, 1 << 20
	s := records.Interval(1, 0, 1<<22)
	var seen []synth.Draw
	m := &model{systems: []string{"one", "two"}, released: pooled{[]float64{0.3, 0.7}},
		of: []synth.Model{counting{schema: s, seen: &seen},
			counting{schema: s, start: second, seen: &seen}}}
	draw := synth.Draw{Class: -1, Cluster: -1, Seed: 5}
	list, unaccepted := drawnFrom(t, m, draw, n)
	if unaccepted != n {
		t.Errorf("%d records are not accepted, want %d", unaccepted, n)
	}
	next, runs := [2]float32{0, second}, 0
	for i, x := range list {
		system := 0
		if x >= second {
			system = 1
		}
		if x != next[system] {
			t.Fatalf("record %d is %v, want %v", i, x, next[system])
		}
		next[system]++
		if i > 0 && (list[i-1] >= second) != (x >= second) {
			runs++
		}
	}
	std := math.Sqrt(n * 0.3 * 0.7)
	if got := float64(next[0]); math.Abs(got-0.3*n) > 5*std {
		t.Errorf("the first system drew %v of %d records, want about %v", got, n, 0.3*n)
	}
	if want := 2 * 0.3 * 0.7 * n; math.Abs(float64(runs)-want) > 0.05*want {
		t.Errorf("the system changes %d times, want about %v", runs, want)
	}
	if again, _ := drawnFrom(t, m, draw, n); !slices.Equal(again, list) {
		t.Error("a second draw of the same seed differs")
	}
	if seen[0].Seed == seen[1].Seed || seen[0].Seed == draw.Seed || !seen[0].Unconstrained {
		t.Errorf("the systems drew with %+v", seen[:2])
	}
}

// lacking is a model that has no records of single classes.
type lacking struct{ counting }

func (m lacking) Sampler(d synth.Draw) (synth.Sampler, error) {
	if d.Class >= 0 {
		return synth.Sampler{}, param.New("synth.OfClass", d.Class, "a class with records")
	}
	return m.counting.Sampler(d)
}

// TestClassOfSomeSystems: a system without records of a class leaves them to the others, by their
// shares. If none has any, the draw is refused.
func TestClassOfSomeSystems(t *testing.T) {
	const n, second = 3000, 1 << 20
	var seen []synth.Draw
	s := records.Interval(1, 0, 1<<22)
	with, without := counting{schema: s, seen: &seen}, lacking{counting{schema: s, seen: &seen}}
	other := with
	other.start = second
	for lost, of := range [][]synth.Model{{without, with, other}, {with, without, other},
		{with, other, without}} {
		shares := slices.Insert([]float64{0.2, 0.3}, lost, 0.5)
		m := &model{systems: []string{"one", "two", "three"}, released: pooled{shares}, of: of}
		list, _ := drawnFrom(t, m, synth.Draw{Class: 1, Cluster: -1, Seed: 5}, n)
		slices.Sort(list)
		if first, _ := slices.BinarySearch(list, second); math.Abs(float64(first)-0.4*n) > 150 {
			t.Errorf("without system %d: the first of the others draws %d of %d", lost, first, n)
		}
	}
	m := &model{systems: []string{"one", "two"}, released: pooled{[]float64{0.5, 0.5}},
		of: []synth.Model{without, without}}
	var wrong *param.Error
	if _, err := m.Sampler(synth.Draw{Class: 1, Cluster: -1}); !errors.As(err, &wrong) {
		t.Errorf("a class that no system has: got %v", err)
	}
}

// TestShortDraws checks that a model that returns too few records is an error.
func TestShortDraws(t *testing.T) {
	s := records.Interval(1, 0, 1<<22)
	var seen []synth.Draw
	m := &model{systems: []string{"one", "two"}, released: pooled{[]float64{0.5, 0.5}},
		of: []synth.Model{counting{schema: s, seen: &seen},
			counting{schema: s, short: true, seen: &seen}}}
	of := must(m.Sampler(synth.Draw{Class: -1, Cluster: -1}))(t)
	if _, err := of.Next(100); err == nil {
		t.Error("a draw with missing records is no error")
	}
	m.of[1] = counting{schema: records.Interval(2, 0, 1), seen: &seen}
	var wrong *param.Error
	if _, err := m.Sampler(synth.Draw{}); !errors.As(err, &wrong) {
		t.Errorf("models of different records: got %v, want a *param.Error", err)
	}
}

// TestParts checks the generators of single systems.
func TestParts(t *testing.T) {
	s := records.Interval(1, 0, 1<<22)
	var seen []synth.Draw
	m := &model{systems: []string{"one", "two"}, released: pooled{[]float64{0.5, 0.5}},
		of: []synth.Model{counting{schema: s, seen: &seen},
			counting{schema: s, start: 100, seen: &seen}}}
	g := synth.NewGenerator("pool", m, ledger.Guarantee{})
	second, err := Part(g, 1)
	if err != nil || second.System() != "two" {
		t.Fatalf("got %v, error %v, want the second system", second, err)
	}
	rows, err := second.Sample(t.Context(), 2)
	if err != nil || rows.(*records.Table).Row(nil, 0)[0] != 100 {
		t.Errorf("got %v, error %v, want records from 100", rows, err)
	}
	for i, of := range []*synth.Generator{g, g, second} {
		if _, err := Part(of, []int{-1, 2, 0}[i]); err == nil {
			t.Errorf("case %d: no error", i)
		}
	}
}

// TestAPoolIsOneCluster checks that a draw from cluster 0 of a pool does not select a component of
// its systems.
func TestAPoolIsOneCluster(t *testing.T) {
	s := records.Interval(1, 0, 1<<22)
	var seen []synth.Draw
	m := &model{systems: []string{"one", "two"}, released: pooled{[]float64{0.5, 0.5}},
		of: []synth.Model{
			counting{schema: s, seen: &seen}, counting{schema: s, start: 100, seen: &seen}}}
	g := synth.NewGenerator("pool", m, ledger.Guarantee{})
	if _, err := g.Sample(t.Context(), 5, synth.FromCluster(0)); err != nil {
		t.Fatal(err)
	}
	for i, d := range seen {
		if d.Cluster != -1 {
			t.Errorf("system %d draws from cluster %d", i, d.Cluster)
		}
	}
}
