package evaluate_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/internal/judge/made"
	"github.com/seed7ba64551/privgen/records"
)

func blobs(t testing.TB, seed uint64, n int, noise float64) *records.Table {
	return must(made.Blobs(seed, n, noise))(t)
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
