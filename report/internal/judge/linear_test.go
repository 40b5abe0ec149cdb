package judge_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/internal/judge"
)

// TestDivisionFindsTheSameMinimum trains on sets, by steps without second derivatives, and on the
// same records as vectors, by steps with them. One coordinate is constant, one repeats another, and
// there are two classes or three.
func TestDivisionFindsTheSameMinimum(t *testing.T) {
	const n, dim = 600, 9
	for _, classes := range [][]string{{"a", "b"}, {"a", "b", "c"}} {
		rng := rand.New(rand.NewPCG(5, uint64(len(classes))))
		var flat []float32
		var sets [][]uint32
		var labels []int32
		for range n {
			row, items, score := make([]float32, dim), []uint32{}, rng.NormFloat64()
			for j := range dim {
				if j == 0 || j > 1 && rng.IntN(3) == 0 || j == dim-1 && row[2] == 1 {
					row[j], items = 1, append(items, uint32(j))
					score += float64(j) - 4
				}
			}
			flat, sets = append(flat, row...), append(sets, items)
			labels = append(labels, int32(min(max(int(score/2)+1, 0), len(classes)-1)))
		}
		vectors, first := records.FromFlat(records.Binary(dim).WithLabels(classes...), flat, labels...)
		items, second := records.FromItems(records.Sets(dim, dim).WithLabels(classes...), sets, labels...)
		if first != nil || second != nil {
			t.Fatal(first, second)
		}
		var p [2][]float64
		for i, d := range []records.Data{vectors, items} {
			by, err := judge.LogisticRegression{}.Fit(d)
			if err != nil {
				t.Fatal(err)
			}
			if p[i], err = by.Probabilities(d); err != nil {
				t.Fatal(err)
			}
		}
		for i := range p[0] {
			if math.Abs(p[0][i]-p[1][i]) > 1e-3 {
				t.Fatalf("%d classes, record %d: probability %v with division, %v without", len(classes),
					i/len(classes), p[0][i], p[1][i])
			}
		}
	}
}
