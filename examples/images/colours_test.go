package images_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	cifar "github.com/seed7ba64551/privgen/connect/images"
	"github.com/seed7ba64551/privgen/examples/images"
	"github.com/seed7ba64551/privgen/examples/images/shapes"
)

func colours(t *testing.T, args ...string) (c images.Colours) {
	t.Helper()
	f := flag.NewFlagSet("test", flag.ContinueOnError)
	c.Flags(f)
	if err := f.Parse(args); err != nil {
		t.Fatal(err)
	}
	return c
}

// cifarFile writes n drawn shapes in CIFAR-10's format.
func cifarFile(t *testing.T, n int, seed uint64) string {
	t.Helper()
	drawn, err := shapes.DrawColour(n, seed)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.bin")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := cifar.WriteCIFAR(f, drawn); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestColoursAreReadOrDrawn checks the numbers of images, and that mistakes are errors.
func TestColoursAreReadOrDrawn(t *testing.T) {
	one, two := cifarFile(t, 12, 1), cifarFile(t, 8, 2)
	both := one + "," + two
	for _, c := range []struct {
		args        []string
		train, test int
	}{
		{[]string{"-shapes"}, 6, 3},
		{[]string{"-cifar", both}, 18, 2},
		{[]string{"-cifar", one, "-cifar-test", two}, 12, 8},
	} {
		from := colours(t, c.args...)
		train, test, err := from.Load(images.Drawing{Train: 6, Test: 3})
		if err != nil {
			t.Fatal(c.args, err)
		}
		if train.Len() != c.train || test.Len() != c.test || !from.Wanted() {
			t.Errorf("%v: %d images for training, %d held out, want %d and %d", c.args, train.Len(),
				test.Len(), c.train, c.test)
		}
		if s := from.Schema(); !train.Schema().Equal(s) || s.Dim() != 32*32*3 || s.Classes() != 10 {
			t.Errorf("%v: images of %v, want %v", c.args, train.Schema(), s)
		}
	}
	for _, args := range [][]string{{"-shapes", "-cifar", one}, {"-cifar-test", one},
		{"-cifar", "none.bin"}} {
		if _, _, err := colours(t, args...).Load(images.Drawing{Train: 1}); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
	if colours(t).Wanted() {
		t.Error("images in colour are wanted without a flag")
	}
}
