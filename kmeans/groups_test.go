package kmeans_test

import (
	"encoding/json"
	"errors"
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
	m, err := kmeans.Fit(t.Context(), kmeans.Config{K: 2, Centers: 6, Iterations: 8,
		NoiseMultiplier: 1, ClipNorm: 8, Small: kmeans.SplitLargest}, kmeans.Raw(square), data,
		ledger(accountant.AddOrRemoveOne))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var back kmeans.Model
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if m.K() != 2 || back.K() != 2 || len(m.Weights()) != 2 || len(m.Centers) != 6 {
		t.Fatalf("got %d clusters of %d centres with weights %v, want 2 clusters of 6 centres", m.K(),
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
	for _, centers := range []int{1, -1, 1 << 20} {
		c := kmeans.Config{K: 2, Centers: centers, Iterations: 1, NoiseMultiplier: 1}
		if c.Validate() == nil {
			t.Errorf("Validate accepts 2 clusters of %d centres, want an error", centers)
		}
	}
}
