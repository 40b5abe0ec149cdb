package kmeans

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// TestMergeIsWards compares merge with the definition of Ward's method: each step merges the pair
// whose union increases the sum of squared distances least. The weight of a centre is its count.
func TestMergeIsWards(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 200 {
		n, dim := 2+rng.IntN(7), 1+rng.IntN(4)
		k := 1 + rng.IntN(n)
		centers, counts := zeros(n, dim), make([]float64, n)
		for i := range centers {
			counts[i] = 1 + 50*rng.Float64()
			for j := range dim {
				centers[i][j] = rng.NormFloat64()
			}
		}
		want := make([]int, n)
		for i := range want {
			want[i] = i
		}
		for left := n; left > k; left-- {
			best, from, to := math.Inf(1), 0, 0
			for a := range n {
				for b := a + 1; b < n; b++ {
					if !slices.Contains(want, a) || !slices.Contains(want, b) {
						continue
					}
					union := slices.Clone(want)
					for i := range union {
						if union[i] == b {
							union[i] = a
						}
					}
					if s := scatterWithin(centers, counts, union); s < best {
						best, from, to = s, b, a
					}
				}
			}
			for i := range want {
				if want[i] == from {
					want[i] = to
				}
			}
		}
		if got := merge(centers, counts, k); !slices.Equal(got, renumbered(want)) {
			t.Fatalf("%d centres into %d groups: got %v, want %v", n, k, got, renumbered(want))
		}
	}
}

// scatterWithin returns the weighted sum of squared distances of centres to the means of their
// groups.
func scatterWithin(centers [][]float64, counts []float64, group []int) (sum float64) {
	for g := range centers {
		mean, total := make([]float64, len(centers[0])), 0.0
		for i, c := range centers {
			if group[i] == g {
				floats.AddScaled(mean, counts[i], c)
				total += counts[i]
			}
		}
		if total == 0 {
			continue
		}
		floats.Scale(1/total, mean)
		for i, c := range centers {
			if group[i] == g {
				sum += counts[i] * distance(c, [][]float64{mean})
			}
		}
	}
	return sum
}

// TestCentresOfNothingJoinTheirNeighbours checks that a centre with a negative noisy count is
// merged with its nearest neighbour.
func TestCentresOfNothingJoinTheirNeighbours(t *testing.T) {
	centers := [][]float64{{0, 0}, {10, 0}, {10, 1}, {0, 30}}
	group := merge(centers, []float64{500, 900, -40, 600}, 3)
	if want := []int{0, 1, 1, 2}; !slices.Equal(group, want) {
		t.Errorf("got groups %v, want %v", group, want)
	}
	if n := grouped([]float64{500, 900, -40, 600}, group, 3); !slices.Equal(n,
		[]float64{500, 860, 600}) {
		t.Errorf("got counts %v, want 500, 860 and 600", n)
	}
}
