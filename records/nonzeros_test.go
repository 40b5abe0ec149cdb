package records_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// veiled hides that a table is a frame.
type veiled struct{ records.Data }

// TestNonzerosAreTheRows: nonzeros equal the dense rows and decode in the same way, for every kind
// of column, for Range and Gather, and for frames and other data.
func TestNonzerosAreTheRows(t *testing.T) {
	for _, s := range []records.Schema{visits(t), people(t)} {
		rng := rand.New(rand.NewPCG(11, 1))
		const n = 300
		flat, labels := make([]float32, n*s.Dim()), make([]int32, 0, n)
		for i := range flat {
			flat[i] = float32(rng.Float64()*1.4 - 0.2)
		}
		for range n * min(s.Classes(), 1) {
			labels = append(labels, int32(rng.IntN(s.Classes())))
		}
		f := must(records.DecodeFlat(s, flat, labels...))(t)
		var b device.Batch
		f.Range(0, n, &b)
		rows := []int32{7, 299, 0, 0, 12}
		for _, d := range []records.Data{f, veiled{f}} {
			var z records.Nonzeros
			z.Range(d, 0, n)
			for i := range n {
				if !slices.Equal(spread(&z, i, s.Dim()), b.Dense.Row(i)) || z.Index[i] != int32(i) ||
					b.Labels != nil && z.Label(i) != b.Labels[i] {
					t.Fatalf("%T: row %d differs", d, i)
				}
			}
			if most := n * 2 * (len(s.Columns()) + 8); len(z.Places) > most {
				t.Errorf("got too many coordinates, %d for %d rows", len(z.Places), n)
			}
			back := must(records.DecodeNonzeros(s, &z))(t)
			want := must(records.DecodeFlat(s, b.Dense.Data, b.Labels...))(t)
			for i := range n {
				if string(back.AppendJSON(nil, i)) != string(want.AppendJSON(nil, i)) {
					t.Fatalf("row %d: %s, want %s", i, back.AppendJSON(nil, i), want.AppendJSON(nil, i))
				}
			}
			z.Gather(d, rows)
			for k, i := range rows {
				if !slices.Equal(spread(&z, k, s.Dim()), b.Dense.Row(int(i))) || z.Index[k] != i {
					t.Fatalf("%T: gathered row %d differs", d, i)
				}
			}
		}
	}
}

func spread(z *records.Nonzeros, i, dim int) []float32 {
	row := make([]float32, dim)
	places, values := z.Row(i)
	for k, at := range places {
		row[at] = values[k]
	}
	return row
}

// TestNonzerosOfAnyNumbersDecode: DecodeNonzeros and DecodeFlat agree on any coordinates, including
// negative and infinite ones and NaN.
func TestNonzerosOfAnyNumbersDecode(t *testing.T) {
	s := visits(t)
	rng := rand.New(rand.NewPCG(12, 1))
	odd := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), -1, 0, 0,
		0.5, 1, 2}
	for range 200 {
		flat := make([]float32, s.Dim())
		var z records.Nonzeros
		z.Reset()
		for i := range flat {
			flat[i] = odd[rng.IntN(len(odd))]
			z.Append(i, flat[i])
		}
		z.End()
		z.Labels = []int32{9}
		want := must(records.DecodeFlat(s, flat, 9))(t)
		got := must(records.DecodeNonzeros(s, &z))(t)
		if a, b := want.AppendJSON(nil, 0), got.AppendJSON(nil, 0); string(a) != string(b) {
			t.Fatalf("%v: %s, want %s", flat, b, a)
		}
	}
}

func TestNonzerosRefuse(t *testing.T) {
	s := must(records.NewSchema(records.Numeric("x", 0, 1), records.Flag("y", "n", "y")))(t)
	for name, z := range map[string]*records.Nonzeros{
		"nothing":   nil,
		"no end":    {Rows: 1, Offsets: []int{0}},
		"no values": {Rows: 1, Offsets: []int{0, 1}, Places: []int32{0}},
		"not risen": {Rows: 1, Offsets: []int{0, 2}, Places: []int32{1, 1},
			Values: []float32{1, 1}},
		"too far":      {Rows: 1, Offsets: []int{0, 1}, Places: []int32{2}, Values: []float32{1}},
		"below":        {Rows: 1, Offsets: []int{0, 1}, Places: []int32{-1}, Values: []float32{1}},
		"beyond":       {Rows: 1, Offsets: []int{0, 5}, Places: []int32{1}, Values: []float32{1}},
		"fewer rows":   {Rows: -1},
		"other labels": {Rows: 1, Offsets: []int{0, 0}, Labels: []int32{1}},
	} {
		var wrong *param.Error
		if _, err := records.DecodeNonzeros(s, z); !errors.As(err, &wrong) {
			t.Errorf("%s: got error %v, want *param.Error", name, err)
		}
	}
	if f := must(records.DecodeNonzeros(s, &records.Nonzeros{}))(t); f.Len() != 0 {
		t.Errorf("got %d rows, want 0", f.Len())
	}
}

// TestNonzerosTakeMemoryByRow: the memory does not grow with the number of buckets.
func TestNonzerosTakeMemoryByRow(t *testing.T) {
	taken := func(buckets int) uint64 {
		s := must(records.NewSchema(records.Hashed("h", buckets), records.Numeric("x", 0, 1)))(t)
		const n = 10_000
		codes, dictionary := make([]int32, n), []string{"a", "b", "c"}
		for i := range codes {
			codes[i] = int32(i % 3)
		}
		f := must(records.FromColumns(s, records.Values{Codes: codes, Dictionary: dictionary},
			records.Values{Numbers: make([]float64, n)}))(t)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var z records.Nonzeros
		z.Range(f, 0, n)
		must(records.DecodeNonzeros(s, &z))(t)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	few, many := taken(10), taken(65_534)
	t.Logf("%d bytes for 10 buckets, %d for 65,534", few, many)
	if many > few+few/2+1<<20 { // the memory includes the names in the schema
		t.Errorf("got %d bytes for 10 buckets and %d for 65,534, want almost the same", few, many)
	}
}
