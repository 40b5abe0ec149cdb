package synthtest

import (
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

// sample returns n random records of a schema. It decodes random numbers in the same way as a
// generator decodes its output.
func sample(t testing.TB, s records.Schema, n int, seed uint64) records.Data {
	t.Helper()
	s = s.WithConstraints() // removes all constraints, which real records need not obey
	rng := rand.New(rand.NewPCG(seed, 0x73796e7468))
	var labels []int32
	if s.Classes() > 0 {
		labels = make([]int32, n)
		for i := range labels {
			labels[i] = int32(min(rng.IntN(s.Classes()), rng.IntN(s.Classes()))) // of unequal sizes
		}
	}
	data := must(decode(s, rng, n, labels))(t)
	if err := records.Check(data); err != nil {
		t.Fatal(err)
	}
	return data
}

func decode(s records.Schema, rng *rand.Rand, n int, labels []int32) (records.Data, error) {
	if s.Sparse() {
		sets := make([][]uint32, n)
		for i := range sets {
			for item := range uint32(s.Dim()) {
				if len(sets[i]) < s.MaxItems() && rng.IntN(4) == 0 {
					sets[i] = append(sets[i], item)
				}
			}
		}
		return records.FromItems(s, sets, labels...)
	}
	flat := make([]float32, n*s.Dim())
	lo, hi := s.Bounds()
	for i := range flat {
		switch flat[i] = rng.Float32(); {
		case s.IsBinary():
			flat[i] = float32(int(flat[i] + 0.4))
		case s.Kind() != records.MixedTable:
			flat[i] = float32(lo) + flat[i]*float32(hi-lo)
		}
	}
	if s.Kind() == records.MixedTable {
		return records.DecodeFlat(s, flat, labels...)
	}
	return records.FromFlat(s, flat, labels...)
}
