package dpgm_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/dpgm"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// bars returns black-and-white images, alternately of vertical and horizontal bars.
func bars(t *testing.T, n int) *records.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 5))
	flat := make([]float32, n*100)
	for i := range n {
		at := 1 + rng.IntN(7)
		for j := range 8 {
			for w := range 2 {
				pixel := (at+w)*10 + 1 + j
				if i%2 == 0 {
					pixel = (1+j)*10 + at + w
				}
				flat[i*100+pixel] = 1
			}
		}
	}
	return must(records.FromFlat(records.BinaryImage(10, 10), flat))(t)
}

// TestImagesAreClusteredByStrokes checks that images are clustered by strokes by default. Vertical
// and horizontal bars must be in different clusters, whatever their position. The plan and the
// model must keep this when they are written and read.
func TestImagesAreClusteredByStrokes(t *testing.T) {
	data := bars(t, 2000)
	c := dpgm.Config{Schema: data.Schema(), Nominal: 2000,
		Budget: accountant.Budget{Epsilon: 10, Delta: 1e-5}}
	c.Cluster.K = 2
	plan := must(c.Plan())(t)
	if plan.Config.Features != rff.FeatureKernel(rff.StrokesFor(10, 10)) ||
		plan.Config.Cluster.Centers <= 2 {
		t.Errorf("got features %v and %d centres, want strokes and more than 2 centres",
			plan.Config.Features, plan.Config.Cluster.Centers)
	}
	text := must(json.Marshal(plan))(t)
	read, err := systems.ReadPlan(text)
	if err != nil || read.String() != plan.String() {
		t.Fatalf("the plan read from JSON: error %v\n%v", err, read)
	}
	gen := must(plan.Fit(t.Context(), data))(t)
	f := encoded(t, gen)
	back := must(systemModel(f))(t)
	var b device.Batch
	data.Range(0, data.Len(), &b)
	got, want := make([]int32, data.Len()), make([]int32, data.Len())
	gen.Assign(b, want)
	back.Assign(b, got)
	if !slices.Equal(got, want) {
		t.Error("the loaded model assigns records to other clusters than the saved one")
	}
	for i, cluster := range got {
		if (cluster == got[0]) != (i%2 == 0) {
			t.Fatalf("bar %d is in cluster %d, which is not the cluster of its kind", i, cluster)
		}
	}
	lie := *f
	lie.Header = bytes.Replace(f.Header, []byte(`"cells":5`), []byte(`"cells":500`), 1)
	if _, err := systemModel(&lie); !errors.Is(err, synth.ErrFormat) {
		t.Errorf("a file with more cells than the centres have: got %v, want ErrFormat", err)
	}
}

func systemModel(f *synth.File) (*dpgm.Model, error) {
	m, err := read(f)
	if err != nil {
		return nil, err
	}
	return m.(*dpgm.Model), nil
}
