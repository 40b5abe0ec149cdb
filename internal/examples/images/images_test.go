package images_test

import (
	"flag"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/examples/images"
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
