package evaluate_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

// blobs draws records of three classes around three corners of a box far from [0, 1].
func blobs(t testing.TB, seed uint64, n int, noise float64) *records.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 7))
	corners := [][]float64{{20, 20, 80}, {80, 20, 20}, {20, 80, 20}}
	flat, labels := make([]float32, 0, 3*n), make([]int32, n)
	for i := range labels {
		labels[i] = rng.Int32N(3)
		for _, c := range corners[labels[i]] {
			flat = append(flat, float32(c+noise*rng.NormFloat64()))
		}
	}
	schema := records.Interval(3, 0, 100).WithLabels("a", "b", "c")
	return must(records.FromFlat(schema, flat, labels...))(t)
}

// baskets draws records whose items have different frequencies: an index holds some items as
// bitmaps and some as lists.
func baskets(seed uint64, n, universe int) [][]uint32 {
	rng := rand.New(rand.NewPCG(seed, 1))
	rows := make([][]uint32, n)
	for i := range rows {
		for item := range universe {
			if rng.Float64() < 0.9/float64(1+item*item) {
				rows[i] = append(rows[i], uint32(item))
			}
		}
	}
	return rows
}

// line returns records of one coordinate in [0, 10].
func line(t testing.TB, values []float32, labels ...int32) *records.Table {
	return must(records.FromFlat(records.Interval(1, 0, 10).WithLabels("no", "yes"), values,
		labels...))(t)
}

func second[T any](_ T, err error) error { return err }

func must[T any](v T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func repeat(value int32, n int) []int32 { return slices.Repeat([]int32{value}, n) }

func readOracle(t testing.TB, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

func sets(t testing.TB, rows [][]uint32, universe int) *records.SetTable {
	return must(records.FromItems(records.Sets(universe, universe), rows))(t)
}
