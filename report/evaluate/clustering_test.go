package evaluate_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/report/evaluate"
)

func TestClusteringAccuracy(t *testing.T) {
	for name, c := range map[string]struct {
		assignments, labels []int32
		k                   int
		accuracy, purity    float64
	}{
		"renamed":        {[]int32{2, 2, 0, 0, 1}, []int32{0, 0, 1, 1, 2}, 3, 1, 1},
		"one wrong":      {[]int32{2, 2, 0, 0, 0}, []int32{0, 0, 1, 1, 2}, 3, 0.8, 0.8},
		"more clusters":  {[]int32{0, 1, 2, 3}, []int32{0, 0, 1, 1}, 4, 0.5, 1},
		"fewer clusters": {[]int32{0, 0, 0, 0}, []int32{0, 1, 2, 2}, 1, 0.5, 0.5},
		"not greedy": {[]int32{0, 0, 0, 0, 0, 1, 1, 1, 1}, []int32{0, 0, 0, 1, 1, 0, 0, 0, 0}, 2,
			6.0 / 9, 7.0 / 9},
		"empty cluster":    {[]int32{5, 5, 1}, []int32{1, 1, 0}, 6, 1, 1},
		"no records":       {nil, nil, 3, 0, 0},
		"an unused class":  {[]int32{0, 1}, []int32{7, 3}, 2, 1, 1},
		"everything mixed": {[]int32{0, 1, 0, 1}, []int32{0, 0, 1, 1}, 2, 0.5, 0.5},
	} {
		got, err := evaluate.ClusteringAccuracy(c.assignments, c.labels, c.k)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if math.Abs(got.Accuracy()-c.accuracy) > 1e-12 || math.Abs(got.Purity()-c.purity) > 1e-12 {
			t.Errorf("%s: accuracy %v, purity %v, want %v and %v", name, got.Accuracy(), got.Purity(),
				c.accuracy, c.purity)
		}
		if len(got.Match) != c.k || len(got.Counts) != c.k {
			t.Errorf("%s: %d clusters are matched, want one match and one row of counts for each cluster",
				name, len(got.Match))
		}
	}
}

// TestAccuracyIgnoresNames checks that the accuracy does not depend on the numbers of the clusters.
func TestAccuracyIgnoresNames(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const n, k = 3000, 10
	labels, assignments := make([]int32, n), make([]int32, n)
	for i := range labels {
		labels[i] = rng.Int32N(k)
		assignments[i] = labels[i]
		if rng.Float64() < 0.3 {
			assignments[i] = rng.Int32N(k)
		}
	}
	want, err := evaluate.ClusteringAccuracy(assignments, labels, k)
	if err != nil {
		t.Fatal(err)
	}
	name := rng.Perm(k)
	for i, c := range assignments {
		assignments[i] = int32(name[c])
	}
	got, err := evaluate.ClusteringAccuracy(assignments, labels, k)
	if err != nil || got.Correct != want.Correct {
		t.Errorf("%d right after renaming, %d before, %v", got.Correct, want.Correct, err)
	}
	for c, l := range want.Match {
		if got.Match[name[c]] != l || c != l {
			t.Errorf("cluster %d is matched to %d", c, l)
		}
	}
	if a := want.Accuracy(); a < 0.70 || a > 0.76 {
		t.Errorf("accuracy %v, want about 0.73", a)
	}
}

func TestClusteringAccuracyRefuses(t *testing.T) {
	for name, err := range map[string]error{
		"no clusters":      second(evaluate.ClusteringAccuracy(nil, nil, 0)),
		"lengths":          second(evaluate.ClusteringAccuracy([]int32{0}, nil, 1)),
		"large assignment": second(evaluate.ClusteringAccuracy([]int32{0, 1}, []int32{0, 0}, 1)),
		"negative":         second(evaluate.ClusteringAccuracy([]int32{-1}, []int32{0}, 1)),
		"negative label":   second(evaluate.ClusteringAccuracy([]int32{0}, []int32{-1}, 1)),
		"huge label":       second(evaluate.ClusteringAccuracy([]int32{0}, []int32{math.MaxInt32}, 1)),
	} {
		var config *param.Error
		if !errors.As(err, &config) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
