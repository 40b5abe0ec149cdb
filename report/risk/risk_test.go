package risk_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/risk"
)

func cube(t *testing.T, n, dim int, seed uint64) *records.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	flat := make([]float32, n*dim)
	for i := range flat {
		flat[i] = 10 * rng.Float32()
	}
	d, err := records.FromFlat(records.Interval(dim, 0, 10), flat)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestMembership attacks two generators. One returns its training records with a little noise, and
// the attacks must recognise its members. The other is independent of its training records, and the
// attacks must fail. With 200 members and 200 others, the area of random guesses has a standard
// deviation of 0.029. The bound of 0.18 is six standard deviations, which gives fewer false alarms
// than one in 10⁸ seeds; the seeds are fixed.
func TestMembership(t *testing.T) {
	members, others := cube(t, 200, 4, 1), cube(t, 400, 4, 2)
	rng := rand.New(rand.NewPCG(3, 1))
	var copies []float32
	for i := range members.Len() {
		for _, v := range members.Row(nil, i) {
			copies = append(copies, v+0.05*float32(rng.NormFloat64()))
		}
	}
	thief, err := records.FromFlat(members.Schema(), copies)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		fake   records.Data
		lo, hi float64
	}{"copies": {thief, 0.9, 1}, "unrelated": {cube(t, 300, 4, 9), 0.32, 0.68}} {
		attacks, err := risk.Membership{Rows: 300, Seed: 4}.Attack(c.fake, members, others)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range attacks {
			if !(a.AUC >= c.lo && a.AUC <= c.hi) {
				t.Errorf("%s: %s has area %v", name, a.Name, a.AUC)
			}
			if a.Best < 0.5 || a.Best > 1 || a.Members != 200 || a.Others != 200 {
				t.Errorf("%s: %+v", name, a)
			}
			if name == "copies" && (a.Best < 0.9 || a.AtLow < 0.3) {
				t.Errorf("%s: best accuracy %v, at 1 %% %v", a.Name, a.Best, a.AtLow)
			}
		}
	}
}

// TestDistancesByHand compares the distances of records with numbers, levels and a class with
// distances computed by hand.
func TestDistancesByHand(t *testing.T) {
	s, err := records.NewSchema(records.Numeric("n", 0, 10), records.Categorical("c", "x", "y", "z"),
		records.Flag("f", "no", "yes"), records.Label("l", "p", "q"))
	if err != nil {
		t.Fatal(err)
	}
	frame := func(rows ...[]any) *records.Frame {
		f, err := records.FromValues(s, rows...)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	fake := frame([]any{5, "x", "no", "p"}, []any{0, "z", "yes", "q"})
	members := frame([]any{6, "x", "no", "p"}, []any{0, "y", "yes", "p"})
	others := frame([]any{5, "y", "no", "p"}, []any{0, "z", "yes", "q"})
	d, err := risk.Distances(fake, members, others, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	// 5 from 6: a tenth of a column of four. z from y and q from p: two columns of four.
	want := []float64{0.1 / 4, 2.0 / 4}
	for i := range want {
		if math.Abs(d.Members[i]-want[i]) > 1e-6 {
			t.Errorf("members %v, want %v", d.Members, want)
		}
	}
	if math.Abs(d.Others[0]) > 1e-6 || math.Abs(d.Others[1]-0.25) > 1e-6 || d.CloserToMembers != 0.5 {
		t.Errorf("others %v, closer %v", d.Others, d.CloserToMembers)
	}
	if tied, err := risk.Distances(fake, others, others, 0, 0); err != nil ||
		tied.CloserToMembers != 0.5 {
		t.Errorf("of two equal distances, %v are closer (%v)", tied.CloserToMembers, err)
	}
	if n, err := risk.Matches(fake, others); err != nil || n != 1 {
		t.Errorf("%d matches (%v)", n, err)
	}
	for _, other := range []*records.Frame{members, frame([]any{5, "x", "no", "q"}, // another class
		[]any{0, "z", "no", "q"}, []any{0, "y", "yes", "q"}, []any{1, "z", "yes", "q"})} {
		if n, err := risk.Matches(fake, other); err != nil || n != 0 {
			t.Errorf("%d matches (%v)", n, err)
		}
	}
}

func TestSetsByHand(t *testing.T) {
	made := func(rows ...[]uint32) *records.SetTable {
		d, err := records.FromItems(records.Sets(10, 10), rows)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	fake := made([]uint32{1, 2, 3}, nil)
	d, err := risk.Distances(fake, made([]uint32{2, 3, 4, 5}, []uint32{9}), made([]uint32{1, 2, 3},
		nil), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(d.Members, []float64{1 - 2.0/5, 1}) || !slices.Equal(d.Others, []float64{0, 0}) ||
		d.CloserToMembers != 0 {
		t.Errorf("%+v", d)
	}
	if n, err := risk.Matches(fake, made([]uint32{3, 2, 1}, []uint32{4})); err != nil || n != 1 {
		t.Errorf("%d matches (%v)", n, err)
	}
}

func TestWhatIsRefused(t *testing.T) {
	a, b := cube(t, 20, 2, 1), cube(t, 20, 3, 1)
	if _, err := (risk.Membership{}).Attack(a, a, b); err == nil {
		t.Error("Attack accepts records of different schemas")
	}
	if _, err := (risk.Membership{Rows: -1}).Attack(a, a, a); err == nil {
		t.Error("Attack accepts a negative number of rows")
	}
	if _, err := (risk.Membership{}).Attack(a, a, a.Slice(0, 3)); err == nil {
		t.Error("Attack accepts three records")
	}
	if _, err := risk.Distances(a, nil, a, 0, 0); err == nil {
		t.Error("Distances accepts nil records")
	}
	if _, err := risk.Distances(a, a, a.Slice(0, 0), 0, 0); err == nil {
		t.Error("Distances accepts an empty table")
	}
	if _, err := risk.Matches(a, b); err == nil {
		t.Error("Matches accepts records of different schemas")
	}
}
