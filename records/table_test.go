package records_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

var (
	nan    = float32(math.NaN())
	inf    = float32(math.Inf(1))
	minus0 = float32(math.Copysign(0, -1))
)

func must[T any](v T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func everyValue() []float32 {
	return []float32{nan, inf, -inf, minus0, 0, 1, 0.5, 0.49999, -1, 2, 1e38, -1e38, 1e-40}
}

func TestGatherClampsIntoTheSchema(t *testing.T) {
	values := everyValue()
	for _, s := range []records.Schema{
		records.Interval(len(values), -0.25, 0.75), records.Interval(len(values), 0.1, 0.3),
		records.Interval(len(values), -5, -3),
		records.Binary(len(values)), records.Image(1, len(values)), records.BinaryImage(1, len(values)),
	} {
		table := must(records.FromFlat(s, values))(t)
		var b device.Batch
		table.Gather([]int32{0, 0}, &b)
		lo, hi := s.Bounds()
		for j, v := range b.Dense.Row(1) {
			if !(float64(v) >= lo && float64(v) <= hi) || math.Signbit(float64(v)) && v == 0 {
				t.Errorf("%v: value %d, %v, is returned as %v", s, j, values[j], v)
			}
			if s.IsBinary() && v != 0 && v != 1 {
				t.Errorf("%v: %v is returned as %v", s, values[j], v)
			}
		}
		if got := b.Dense.Row(0)[0]; math.Abs(float64(got)-lo) > 1e-7 {
			t.Errorf("%v: NaN is returned as %v, want the lower bound", s, got)
		}
		if records.Check(table) == nil {
			t.Errorf("%v: Check accepts %v", s, values)
		}
	}
}

func TestNormsNeverExceedTheSchema(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		lo := rng.NormFloat64()
		s := records.Interval(1+rng.IntN(300), lo, lo+rng.ExpFloat64()+1e-3)
		flat := make([]float32, s.Dim())
		for i := range flat {
			flat[i] = []float32{inf, -inf}[rng.IntN(2)]
			if math.Abs(lo) > math.Abs(lo+1) {
				flat[i] = -inf
			}
		}
		var b device.Batch
		must(records.FromFlat(s, flat))(t).Range(0, 1, &b)
		sum := 0.0
		for _, v := range b.Dense.Row(0) {
			sum += float64(v) * float64(v)
		}
		if math.Sqrt(sum) > s.MaxNorm() {
			t.Fatalf("%v: norm %v exceeds %v", s, math.Sqrt(sum), s.MaxNorm())
		}
	}
}

func TestUnknownLabels(t *testing.T) {
	s := records.Binary(1).WithLabels("a", "b", "c")
	flat := []float32{0, 1, 0, 1}
	labels := []int32{2, -1, 3, math.MaxInt32}
	table := must(records.FromFlat(s, flat, labels...))(t)
	if got := table.Labels(); !slices.Equal(got, []int32{2, 0, 0, 0}) {
		t.Errorf("got labels %v, want [2 0 0 0]", got)
	}
	other := must(records.FromFlat(s.WithUnknown("b"), flat, labels...))(t)
	var b device.Batch
	other.Range(0, 4, &b)
	if !slices.Equal(b.Labels, []int32{2, 1, 1, 1}) {
		t.Errorf("got labels %v, want [2 1 1 1]", b.Labels)
	}
	other.Gather([]int32{3, 0}, &b)
	if !slices.Equal(b.Labels, []int32{1, 2}) {
		t.Errorf("got labels %v, want [1 2]", b.Labels)
	}
	if records.Check(table) == nil {
		t.Error("Check accepts unknown labels")
	}
}

func TestShapesAreChecked(t *testing.T) {
	s := records.Binary(3)
	labelled := s.WithLabels("a", "b")
	for name, err := range map[string]error{
		"not a multiple":  second(records.FromFlat(s, make([]float32, 7))),
		"ragged rows":     second(records.FromRows(s, [][]float32{{0, 0, 0}, {0, 0}})),
		"missing labels":  second(records.FromFlat(labelled, make([]float32, 6))),
		"too few labels":  second(records.FromFlat(labelled, make([]float32, 6), 1)),
		"unwanted labels": second(records.FromFlat(s, make([]float32, 6), 1, 1)),
		"sets":            second(records.FromFlat(records.Sets(3, 3), make([]float32, 6))),
		"zero schema":     second(records.FromFlat(records.Schema{}, nil)),
		"bytes":           second(records.FromBytes(s, make([]byte, 4))),
	} {
		var shape *param.Error
		if !errors.As(err, &shape) {
			t.Errorf("%s: error %v, want a param.Error", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestEveryConstructorHoldsTheSameRecords(t *testing.T) {
	s := records.Interval(3, -1, 1).WithLabels("a", "b")
	rows := [][]float32{{-1, 0.5, 1}, {0, 0.25, -0.75}}
	for name, table := range map[string]*records.Table{
		"rows": must(records.FromRows(s, rows, 1, 0))(t),
		"flat": must(records.FromFlat(s, slices.Concat(rows...), 1, 0))(t),
	} {
		if err := records.Check(table); err != nil {
			t.Errorf("%s: Check returns %v", name, err)
		}
		for i, row := range rows {
			if !slices.Equal(table.Row(nil, i), row) || table.Label(i) != 1-i {
				t.Errorf("%s: row %d is %v of class %d", name, i, table.Row(nil, i), table.Label(i))
			}
		}
	}
}

func TestBytesAreLevels(t *testing.T) {
	levels := []byte{0, 127, 128, 255}
	grey := must(records.FromBytes(records.Image(2, 2), levels))(t)
	if got := grey.Row(nil, 0); got[0] != 0 || got[3] != 1 || got[1] != float32(127.0/255) {
		t.Errorf("got wrong grey levels %v", got)
	}
	binary := must(records.FromBytes(records.Binary(4), levels))(t)
	if got := binary.Row(nil, 0); !slices.Equal(got, []float32{0, 0, 1, 1}) {
		t.Errorf("got binary levels %v, want [0 0 1 1]", got)
	}
	wide := must(records.FromBytes(records.Interval(4, -1, 1), levels))(t)
	if got := wide.Row(nil, 0); got[0] != -1 || got[3] != 1 {
		t.Errorf("got wrong interval levels %v", got)
	}
}

func TestBinarize(t *testing.T) {
	s := records.Image(1, 4).WithLabels("a")
	grey := must(records.FromFlat(s, []float32{0.2, 0.3, nan, 7}, 0))(t)
	bytes := must(records.FromBytes(s, []byte{51, 77, 0, 255}, 0))(t)
	for name, table := range map[string]*records.Table{"floats": grey, "bytes": bytes} {
		b := records.Binarize(table, 0.3)
		if got := b.Row(nil, 0); !slices.Equal(got, []float32{0, 1, 0, 1}) {
			t.Errorf("%s: got %v, want [0 1 0 1]", name, got)
		}
		if b.Schema().Kind() != records.BlackWhiteImage || b.Schema().Height() != 1 || b.Label(0) != 0 ||
			records.Check(b) != nil {
			t.Errorf("%s: got a wrong schema %v, or a wrong label", name, b.Schema())
		}
		if table.Schema().Kind() != records.GreyImage {
			t.Errorf("%s: the original changed", name)
		}
	}
	v := records.Binarize(must(records.FromFlat(records.Interval(2, -1, 1), []float32{-0.5, 0}))(t), 0)
	if v.Schema().Kind() != records.BinaryVector || !slices.Equal(v.Row(nil, 0), []float32{0, 1}) {
		t.Errorf("vectors become %v of the schema %v", v.Row(nil, 0), v.Schema())
	}
}

func TestBatchesReuseTheirBuffers(t *testing.T) {
	dense := must(records.FromBytes(records.Image(4, 4).WithLabels("a", "b"), make([]byte, 16*50),
		make([]int32, 50)...))(t)
	sets := must(records.FromItems(records.Sets(9, 4),
		slices.Repeat([][]uint32{{1, 2}, {}, {3}}, 20)))(t)
	rows := []int32{4, 4, 9, 30}
	for name, d := range map[string]records.Data{"dense": dense, "sets": sets} {
		var b device.Batch
		d.Range(0, 20, &b)
		allocs := testing.AllocsPerRun(20, func() {
			d.Gather(rows, &b)
			d.Range(3, 20, &b)
			d.Gather(nil, &b)
		})
		if allocs != 0 {
			t.Errorf("%s: got %v allocations per batch, want 0", name, allocs)
		}
	}
}

func TestBatchFields(t *testing.T) {
	flat := []float32{0, 1, 2, 3, 4, 5, 6, 7}
	table := must(records.FromFlat(records.Interval(2, 0, 9).WithLabels("a", "b"), flat, 0,
		1, 0, 1))(t)
	b := device.Batch{Keys: []uint64{42}, Sparse: &device.Sparse{}}
	table.Gather([]int32{3, 1}, &b)
	if b.Rows != 2 || b.Sparse != nil || b.Dense.Rows != 2 || b.Dense.Cols != 2 ||
		b.Dense.Stride != 2 || !slices.Equal(b.Dense.Data, []float32{6, 7, 2, 3}) {
		t.Errorf("Gather returns wrong rows: %+v", b)
	}
	if !slices.Equal(b.Index, []int32{3, 1}) || !slices.Equal(b.Labels, []int32{1, 1}) ||
		len(b.Keys) != 1 {
		t.Errorf("Gather returns a wrong index or labels: %+v", b)
	}
	table.Gather(b.Index, &b) // the row numbers may be the batch's own
	if !slices.Equal(b.Index, []int32{3, 1}) || !slices.Equal(b.Dense.Data, []float32{6, 7, 2, 3}) {
		t.Errorf("a second Gather returns wrong rows: %+v", b)
	}
	table.Range(1, 3, &b)
	if !slices.Equal(b.Index, []int32{1, 2}) || !slices.Equal(b.Dense.Data, []float32{2, 3, 4, 5}) ||
		!slices.Equal(b.Labels, []int32{1, 0}) {
		t.Errorf("Range returns wrong rows: %+v", b)
	}
	table.WithoutLabels().Range(0, 1, &b)
	if b.Labels != nil {
		t.Errorf("got labels %v without classes, want none", b.Labels)
	}
	table.Gather(nil, &b)
	if b.Rows != 0 || b.Dense.Rows != 0 || len(b.Index) != 0 {
		t.Errorf("an empty batch is %+v", b)
	}
}

// near reports whether the values are the wanted ones, up to rounding.
func near(got []float32, want ...float32) bool {
	return slices.EqualFunc(got, want,
		func(a, b float32) bool { return math.Abs(float64(a-b)) < 1e-6 })
}

func TestSubsets(t *testing.T) {
	s := records.Interval(1, 0, 9).WithLabels("a", "b", "c")
	floats := must(records.FromFlat(s, []float32{0, 3, 6, 9}, 0, 1, 1, 0))(t)
	bytes := must(records.FromBytes(s, []byte{0, 85, 170, 255}, 0, 1, 1, 0))(t)
	for name, table := range map[string]*records.Table{"floats": floats, "bytes": bytes} {
		part := table.Take([]int32{3, 1, 1})
		if v, _ := part.Flat(); !near(v, 9, 3, 3) || !slices.Equal(part.Labels(), []int32{0, 1, 1}) {
			t.Errorf("%s: Take returns %v of classes %v", name, v, part.Labels())
		}
		cut := table.Slice(1, 3)
		if v, _ := cut.Flat(); !near(v, 3, 6) || !slices.Equal(cut.Labels(), []int32{1, 1}) {
			t.Errorf("%s: Slice returns %v of classes %v", name, v, cut.Labels())
		}
		by := table.RowsByLabel()
		if len(by) != 3 || !slices.Equal(by[0], []int32{0, 3}) || !slices.Equal(by[1], []int32{1, 2}) ||
			len(by[2]) != 0 {
			t.Errorf("%s: RowsByLabel returns %v, want [0 3], [1 2] and no rows", name, by)
		}
		bare := table.WithoutLabels()
		if bare.Labels() != nil || bare.Label(0) != -1 || bare.Schema().Classes() != 0 ||
			table.Label(1) != 1 {
			t.Errorf("%s: WithoutLabels keeps labels", name)
		}
		if empty := table.Take(nil); empty.Len() != 0 || records.Check(empty) != nil {
			t.Errorf("%s: Take(nil) has %d rows", name, empty.Len())
		}
	}
}

func BenchmarkGather(b *testing.B) {
	const n, dim, batch = 4096, 784, 600
	rng := rand.New(rand.NewPCG(1, 1))
	levels := make([]byte, n*dim)
	flat := make([]float32, n*dim)
	for i := range levels {
		levels[i] = byte(rng.Uint32())
		flat[i] = rng.Float32()
	}
	rows := make([]int32, batch)
	for i := range rows {
		rows[i] = rng.Int32N(n)
	}
	for name, table := range map[string]*records.Table{
		"bytes":  must(records.FromBytes(records.Image(28, 28), levels))(b),
		"floats": must(records.FromFlat(records.Image(28, 28), flat))(b),
		"binary": must(records.FromFlat(records.BinaryImage(28, 28), flat))(b),
	} {
		b.Run(name, func(b *testing.B) {
			var out device.Batch
			b.SetBytes(4 * batch * dim)
			for b.Loop() {
				table.Gather(rows, &out)
			}
		})
	}
}
