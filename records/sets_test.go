package records_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

func TestSetsAreEncoded(t *testing.T) {
	s := records.Sets(10, 3)
	table := must(records.FromItems(s, [][]uint32{{7, 1, 7}, {}, {10, 4, 1 << 31}, {9}}))(t)
	want := [][]uint32{{1, 7}, {}, {4}, {9}}
	for i, row := range want {
		if !slices.Equal(table.Items(i), row) {
			t.Errorf("row %d is %v, want %v", i, table.Items(i), row)
		}
	}
	csr := must(records.FromCSR(s, []int{1, 3, 3, 5, 6}, []uint32{0, 7, 1, 99, 4, 9}))(t)
	for i, row := range want {
		if !slices.Equal(csr.Items(i), row) {
			t.Errorf("compressed row %d is %v, want %v", i, csr.Items(i), row)
		}
	}
}

// TestLongSetsAreShortened: the items kept are a subset that depends only on the record, as the
// guarantee requires, and no item is preferred.
func TestLongSetsAreShortened(t *testing.T) {
	const universe, limit, trials = 40, 5, 4000
	s := records.Sets(universe, limit)
	rng := rand.New(rand.NewPCG(3, 4))
	rows := make([][]uint32, trials)
	for i := range rows {
		for _, item := range rng.Perm(universe)[:10] {
			rows[i] = append(rows[i], uint32(item))
		}
	}
	table := must(records.FromItems(s, rows))(t)
	alone := must(records.FromItems(s, [][]uint32{{9, 9}, rows[77]}))(t)
	if !slices.Equal(alone.Items(1), table.Items(77)) {
		t.Error("the encoding of a record depends on the others")
	}
	slices.Reverse(rows[77])
	if again := must(records.FromItems(s, rows[77:78]))(t); !slices.Equal(again.Items(0),
		table.Items(77)) {
		t.Error("the encoding depends on the order of the items")
	}
	var count [universe]int
	for i := range rows {
		kept := table.Items(i)
		if len(kept) != limit || !slices.IsSorted(kept) {
			t.Fatalf("row %d keeps %v", i, kept)
		}
		for _, item := range kept {
			if !slices.Contains(rows[i], item) {
				t.Fatalf("row %d gained item %d", i, item)
			}
			count[item]++
		}
	}
	// Each count is nearly binomial with mean 500 and standard deviation 21.
	if lo, hi := slices.Min(count[:]), slices.Max(count[:]); lo < 375 || hi > 625 {
		t.Errorf("items are kept between %d and %d times, want about 500 each", lo, hi)
	}
}

func TestSetBatches(t *testing.T) {
	s := records.Sets(10, 3).WithLabels("a", "b")
	table := must(records.FromItems(s, [][]uint32{{1}, {}, {2, 3}, {9}}, 0, 1, 7, 1))(t)
	b := device.Batch{Dense: device.Matrix{Rows: 3}}
	table.Gather([]int32{2, 0, 1, 2}, &b)
	if b.Dense.Rows != 0 || b.Rows != 4 || b.Sparse.Cols != 10 || b.Dim() != 10 ||
		!slices.Equal(b.Sparse.Offsets, []int{0, 2, 3, 3, 5}) ||
		!slices.Equal(b.Sparse.Items, []uint32{2, 3, 1, 2, 3}) ||
		!slices.Equal(b.Labels, []int32{0, 0, 1, 0}) || !slices.Equal(b.Index, []int32{2, 0, 1, 2}) {
		t.Errorf("Gather returns wrong sets: %+v %+v", b, *b.Sparse)
	}
	table.Range(1, 4, &b)
	if b.Rows != 3 || !slices.Equal(b.Sparse.Offsets, []int{0, 0, 2, 3}) ||
		!slices.Equal(b.Sparse.Items, []uint32{2, 3, 9}) || !slices.Equal(b.Index, []int32{1, 2, 3}) {
		t.Errorf("Range returns wrong sets: %+v %+v", b, *b.Sparse)
	}
	table.Slice(2, 4).Range(1, 2, &b)
	if !slices.Equal(b.Sparse.Items, []uint32{9}) || !slices.Equal(b.Labels, []int32{1}) {
		t.Errorf("Slice returns wrong sets: %+v %+v", b, *b.Sparse)
	}
	taken := table.Take([]int32{3, 2})
	if taken.Len() != 2 || !slices.Equal(taken.Items(1), []uint32{2, 3}) || taken.Label(0) != 1 {
		t.Errorf("Take returns wrong sets: %+v", taken)
	}
	if bare := table.WithoutLabels(); bare.Label(0) != -1 || bare.Labels() != nil ||
		bare.Schema().Classes() != 0 {
		t.Error("WithoutLabels keeps labels")
	}
}

func TestSetShapesAreChecked(t *testing.T) {
	s := records.Sets(10, 3)
	for name, err := range map[string]error{
		"dense schema":    second(records.FromItems(records.Binary(3), nil)),
		"zero schema":     second(records.FromItems(records.Schema{}, nil)),
		"no offsets":      second(records.FromCSR(s, nil, nil)),
		"negative offset": second(records.FromCSR(s, []int{-1, 0}, nil)),
		"falling offsets": second(records.FromCSR(s, []int{0, 2, 1}, make([]uint32, 2))),
		"beyond items":    second(records.FromCSR(s, []int{0, 3}, make([]uint32, 2))),
		"labels":          second(records.FromItems(s, [][]uint32{{1}}, 1)),
	} {
		var shape *param.Error
		if !errors.As(err, &shape) {
			t.Errorf("%s: error %v, want a param.Error", name, err)
		}
	}
}

func TestCheckNamesThePlaceAndNotTheValue(t *testing.T) {
	s := records.Interval(3, 0, 50).WithLabels("a", "b")
	flat := []float32{1, 2, 3, 4, 71234, 6, nan, 8, 9}
	err := records.Check(must(records.FromFlat(s, flat, 0, 61234, 1))(t))
	if err == nil {
		t.Fatal("defects are accepted")
	}
	text := err.Error()
	for _, want := range []string{"row 1, column 1: outside the bounds",
		"row 2, column 0: not a number", "row 1, label: none of the classes"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q does not say %q", text, want)
		}
	}
	if strings.Contains(text, "1234") {
		t.Errorf("%q contains a value", text)
	}
	var d *records.Defect
	if !errors.As(err, &d) || d.Row != 1 || d.Column != 1 {
		t.Errorf("got first defect %+v, want row 1, column 1", d)
	}

	sets := must(records.FromItems(records.Sets(5, 2), [][]uint32{{1, 2}, {3, 91234}, {0, 1, 2}}))(t)
	text = records.Check(sets).Error()
	for _, want := range []string{"row 1, column 1: item outside the universe",
		"row 2, column 2: more items"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q does not say %q", text, want)
		}
	}
	if strings.Contains(text, "1234") {
		t.Errorf("%q contains a value", text)
	}
}

func TestCheckCountsWhatItDoesNotList(t *testing.T) {
	flat := slices.Repeat([]float32{2}, 50)
	text := records.Check(must(records.FromFlat(records.Binary(1), flat))(t)).Error()
	if n := strings.Count(text, "row"); n != 20 || !strings.Contains(text, "30 more") {
		t.Errorf("got %d of 50 defects, want 20 and the number of the others: %s", n, text)
	}
}

// foreign is data of a type that this package does not know. It changes each batch by spoil.
type foreign struct {
	records.Data
	spoil func(b *device.Batch)
}

func (f foreign) Range(lo, hi int, b *device.Batch) {
	f.Data.Range(lo, hi, b)
	f.spoil(b)
}

func TestCheckReadsForeignData(t *testing.T) {
	dense := must(records.FromFlat(records.Binary(2).WithLabels("a"), make([]float32, 6000),
		make([]int32, 3000)...))(t)
	sets := must(records.FromItems(records.Sets(5, 2), slices.Repeat([][]uint32{{1, 2}}, 3000)))(t)
	for name, d := range map[string]foreign{
		"clean dense": {dense, func(*device.Batch) {}},
		"clean sets":  {sets, func(*device.Batch) {}},
	} {
		if err := records.Check(d); err != nil {
			t.Errorf("%s: Check returns %v", name, err)
		}
	}
	for name, d := range map[string]foreign{
		"row 1, column 0":    {dense, func(b *device.Batch) { b.Dense.Data[2] = nan }},
		"row 2048, label":    {dense, func(b *device.Batch) { b.Labels[0] = int32(b.Index[0] / 1024) }},
		"row 1, column 1":    {sets, func(b *device.Batch) { b.Sparse.Items[3] = 5 }},
		"row 1027, column 2": {sets, func(b *device.Batch) { b.Sparse.Offsets[4]++ }},
	} {
		if err := records.Check(d); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("want a defect in %s, got %v", name, err)
		}
	}
}
