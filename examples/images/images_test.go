package images_test

import (
	"flag"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/examples/images"
)

func TestLoadDraws(t *testing.T) {
	var s images.Files
	f := flag.NewFlagSet("test", flag.ContinueOnError)
	s.Flags(f, "0 to 9")
	if err := f.Parse(nil); err != nil {
		t.Fatal(err)
	}
	train, test, err := s.Load(images.Drawing{Train: 30, TrainSeed: 1, TestSeed: 2})
	if err != nil {
		t.Fatal(err)
	}
	if train.Len() != 30 || test.Len() != 1 {
		t.Errorf("%d digits for training, %d held out; want 30 and at least one", train.Len(), test.Len())
	}
	if got := images.First(train, 40); len(got) != 30 || len(got[0]) != 28*28 {
		t.Errorf("%d images of %d pixels, want 30 of 784", len(got), len(got[0]))
	}
}

func TestLoadWantsLabels(t *testing.T) {
	_, _, err := images.Files{Images: "images.gz"}.Load(images.Drawing{})
	if err == nil || !strings.Contains(err.Error(), "-labels") {
		t.Errorf("err = %v, want one that names the missing flag", err)
	}
}

func TestAccuracy(t *testing.T) {
	// 1203 records are three batches
	_, data, err := images.Files{}.Load(images.Drawing{Train: 1, Test: 1203, TestSeed: 3})
	if err != nil {
		t.Fatal(err)
	}
	zeros := 0
	for _, label := range data.Labels() {
		if label == 0 {
			zeros++
		}
	}
	got := images.Accuracy(data, func(b device.Batch, named []int32) { clear(named) })
	if want := float64(zeros) / 1203; got != want {
		t.Errorf("the accuracy of always answering 0 is %v, want %v", got, want)
	}
}

func TestFinish(t *testing.T) {
	data, _, err := images.Files{}.Load(images.Drawing{Train: 40, TrainSeed: 1, TestSeed: 2})
	if err != nil {
		t.Fatal(err)
	}
	f := images.Finish{Contrast: true, Distort: 1}
	set := flag.NewFlagSet("test", flag.ContinueOnError)
	f.Flags(set)
	levels := func() []float32 {
		out, err := f.Apply(data, 3)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(out.Labels(), data.Labels()) {
			t.Error("Apply changes labels")
		}
		flat, _ := out.Flat()
		return flat
	}
	drawn, _ := data.Flat()
	both := levels()
	if !slices.Equal(both, levels()) || slices.Equal(both, drawn) {
		t.Error("the same seed gives other images, or images do not change")
	}
	if err := set.Parse([]string{"-distort", "0"}); err != nil {
		t.Fatal(err)
	}
	if one := levels(); slices.Equal(one, both) || slices.Equal(one, drawn) {
		t.Error("-distort 0 changes nothing, or also removes the contrast step")
	}
	if err := set.Parse([]string{"-contrast=false"}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(levels(), drawn) {
		t.Error("images change although both steps are off")
	}
	f.Distort = -1
	if _, err := f.Apply(data, 3); err == nil {
		t.Error("Apply accepts a negative strength")
	}
}
