package evaluate

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/internal/param"
)

// cheapest returns the smallest cost of all matchings of rows to columns.
func cheapest(cost [][]float64, row int, used uint, skips int) float64 {
	if row == len(cost) {
		return 0
	}
	best := math.Inf(1)
	if skips > 0 {
		best = cheapest(cost, row+1, used, skips-1)
	}
	for j, c := range cost[row] {
		if used>>j&1 == 0 {
			best = min(best, c+cheapest(cost, row+1, used|1<<j, skips))
		}
	}
	return best
}

func TestMatchIsTheCheapest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for trial := range 2000 {
		n, m := 1+rng.IntN(6), 1+rng.IntN(6)
		cost := make([][]float64, n)
		for i := range cost {
			cost[i] = make([]float64, m)
			for j := range cost[i] {
				cost[i][j] = float64(rng.IntN(7) - 3) // many ties, either sign
				if trial%2 == 0 {
					cost[i][j] = 100 * rng.NormFloat64()
				}
			}
		}
		match, total, err := assign(cost)
		if err != nil {
			t.Fatal(err)
		}
		seen, matched, sum := map[int]bool{}, 0, 0.0
		for i, j := range match {
			if j < 0 {
				continue
			}
			if seen[j] || j >= m {
				t.Fatalf("match %v of %d×%d", match, n, m)
			}
			seen[j] = true
			matched++
			sum += cost[i][j]
		}
		if matched != min(n, m) || math.Abs(sum-total) > 1e-9 {
			t.Fatalf("match %v of %d×%d costs %v, but Match returned %v", match, n, m, sum, total)
		}
		if want := cheapest(cost, 0, 0, max(n-m, 0)); math.Abs(total-want) > 1e-9 {
			t.Fatalf("%v: match %v costs %v, the cheapest %v", cost, match, total, want)
		}
	}
}

func TestMatchOfManyRows(t *testing.T) {
	const n = 300
	rng := rand.New(rand.NewPCG(3, 4))
	hidden := rng.Perm(n)
	cost := make([][]float64, n)
	for i := range cost {
		cost[i] = make([]float64, n)
		for j := range cost[i] {
			cost[i][j] = 1 + rng.Float64()
		}
		cost[i][hidden[i]] = rng.Float64() / n
	}
	match, _, err := assign(cost)
	if err != nil {
		t.Fatal(err)
	}
	for i, j := range match {
		if j != hidden[i] {
			t.Fatalf("row %d matched to %d, want %d", i, j, hidden[i])
		}
	}
}

func TestMatchRefuses(t *testing.T) {
	for _, cost := range [][][]float64{{{1, 2}, {1}}, {{math.NaN()}}, {{math.Inf(1)}}} {
		var config *param.Error
		if _, _, err := assign(cost); !errors.As(err, &config) {
			t.Errorf("%v: %v", cost, err)
		}
	}
	if match, total, err := assign(nil); len(match) != 0 || total != 0 || err != nil {
		t.Error("an empty matrix is refused")
	}
	if match, _, err := assign([][]float64{{}, {}}); err != nil || match[0] != -1 ||
		match[1] != -1 {
		t.Errorf("rows without columns are matched: %v, %v", match, err)
	}
}
