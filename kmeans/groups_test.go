package kmeans_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/kmeans"
)

// TestMoreCentresThanClusters checks that six centres find two clusters. Each cluster consists of
// two blobs, so it is not a ball. Counts and assignments must be per cluster, also after the model
// has been written and read.
func TestMoreCentresThanClusters(t *testing.T) {
	long := [][]float64{{-6, -3}, {6, -3}, {-6, 3}, {6, 3}}
	rows := blobs(rand.New(rand.NewPCG(1, 1)), 300, 0.3, long...)
	for i := range rows { // the two blobs of one cluster are close together
		rows[i][1] /= 3
	}
	data := table(t, square, rows)
	m := must(kmeans.Fit(t.Context(), kmeans.Config{K: 2, Centers: 6, Iterations: 8,
		NoiseMultiplier: 1, ClipNorm: 8, Small: kmeans.SplitLargest}, kmeans.Raw(square), data,
		ledgerOf(accountant.AddOrRemoveOne)))(t)
	text := must(json.Marshal(m))(t)
	var back kmeans.Model
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if len(m.Counts) != 2 || len(back.Counts) != 2 || len(m.Weights()) != 2 || len(m.Centers) != 6 {
		t.Fatalf("got %d clusters of %d centres with weights %v, want 2 clusters of 6 centres", len(m.Counts),
			len(m.Centers), m.Weights())
	}
	for _, w := range m.Weights() {
		if w < 0.45 || w > 0.55 { // the noise on a count is about 10 at most, of 600 records
			t.Errorf("weights %v, want about 0.5 each", m.Weights())
		}
	}
	assigned := make([]int32, len(rows))
	var b device.Batch
	data.Range(0, len(rows), &b)
	back.Assign(device.CPU(), kmeans.Raw(square), b, assigned)
	first := assigned[0]
	for i, c := range assigned {
		if same := (rows[i][0] < 0) == (rows[0][0] < 0); (c == first) != same || c > 1 {
			t.Fatalf("record %v is in cluster %d, the first record in %d", rows[i], c, first)
		}
	}
}

// TestMergedCentresLeaveLocalOptima checks that centres that are merged before the last iteration
// find every blob, from any first centres. Without Merge, some first centres end in a local
// optimum.
func TestMergedCentresLeaveLocalOptima(t *testing.T) {
	var places [][]float64
	for i := range 9 {
		places = append(places, []float64{float64(i%3*7 - 7), float64(i/3*7 - 7)})
	}
	data := table(t, square, blobs(rand.New(rand.NewPCG(3, 3)), 100, 0.7, places...))
	plain := kmeans.Config{K: 9, Iterations: 10, NoiseMultiplier: 0.5, Small: kmeans.SplitLargest}
	merged := plain
	merged.Centers, merged.Merge = 18, 5
	stuck := 0
	for seed := range uint64(20) {
		m := fitSeeded(t, merged, kmeans.Raw(square), data, kmeans.WithSeed(seed))
		if n := found(m, places, 1); n != 9 || m.Groups != nil || len(m.Centers) != 9 {
			t.Errorf("seed %d: found %d of 9 blobs with %d centres, want all", seed, n, len(m.Centers))
		}
		for _, c := range m.Counts {
			if math.Abs(c-100) > 30 {
				t.Errorf("seed %d: counts %.0f, want about 100 each", seed, m.Counts)
				break
			}
		}
		if found(fitSeeded(t, plain, kmeans.Raw(square), data, kmeans.WithSeed(seed)), places, 1) != 9 {
			stuck++
		}
	}
	if stuck == 0 {
		t.Error("no fit without Merge ends in a local optimum, so this test shows nothing")
	}
}

func TestGroupsOfNoModel(t *testing.T) {
	for _, text := range []string{
		`{"centers":[[1],[2]],"counts":[3],"clip_norm":1}`,
		`{"centers":[[1],[2]],"counts":[3],"clip_norm":1,"groups":[0]}`,
		`{"centers":[[1],[2]],"counts":[3],"clip_norm":1,"groups":[0,1]}`,
		`{"centers":[[1],[2]],"counts":[3],"clip_norm":1,"groups":[0,-1]}`,
		`{"centers":[[1],[2]],"counts":[],"clip_norm":1,"groups":[0,0]}`,
	} {
		var m kmeans.Model
		if err := json.Unmarshal([]byte(text), &m); !errors.Is(err, kmeans.ErrModel) {
			t.Errorf("%s: got %v, want ErrModel", text, err)
		}
	}
	for _, merge := range []int{-1, 3, 4} {
		c := kmeans.Config{K: 2, Centers: 4, Merge: merge, Iterations: 3, NoiseMultiplier: 1}
		if c.Validate() == nil {
			t.Errorf("Validate accepts a merge after %d of 3 iterations, want an error", merge)
		}
	}
	if (kmeans.Config{K: 2, Merge: 1, Iterations: 3, NoiseMultiplier: 1}).Validate() == nil {
		t.Error("Validate accepts a merge of as many centres as clusters, want an error")
	}
	for _, centers := range []int{1, -1, 1 << 20} {
		c := kmeans.Config{K: 2, Centers: centers, Iterations: 1, NoiseMultiplier: 1}
		if c.Validate() == nil {
			t.Errorf("Validate accepts 2 clusters of %d centres, want an error", centers)
		}
	}
}
