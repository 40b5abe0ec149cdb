package images

import (
	"errors"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

func table(t *testing.T, s records.Schema, flat []float32, labels ...int32) *records.Table {
	t.Helper()
	d, err := records.FromFlat(s, flat, labels...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestSupport(t *testing.T) {
	s := records.Image(2, 2).WithLabels("a", "b", "c")
	before := table(t, s, []float32{
		0.5, 0, 0.1, 0, // a
		0.5, 0, 0, 0, // a
		0.5, 0.2, 0, 0, // a
		0, 0, 0, 1, // b
	}, 0, 0, 0, 1)
	ones := []float32{1, 1, 1, 1}
	in := table(t, s, slices.Concat(ones, ones, ones), 0, 1, 2)
	for rare, want := range map[float64][]float32{
		// one of three images is more than no image, and not more than a third of the images
		0:       {1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1},
		1.0 / 3: {1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1},
	} {
		support, err := supportOf(before, rare)
		if err != nil {
			t.Fatal(err)
		}
		out, err := support.apply(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := levels(out); !slices.Equal(got, want) {
			t.Errorf("rare = %v: got %v, want %v", rare, got, want)
		}
		if !slices.Equal(out.Labels(), in.Labels()) || slices.Contains(levels(in), 0) {
			t.Error("apply changes the labels or its input")
		}
	}
}

func TestSupportWithoutClasses(t *testing.T) {
	support, err := supportOf(table(t, records.Image(1, 2), []float32{0, 1, 0, 0}), 0)
	if err != nil {
		t.Fatal(err)
	}
	out, err := support.apply(table(t, records.Image(1, 2), []float32{0.5, 0.5}))
	if err != nil {
		t.Fatal(err)
	}
	if got := levels(out); !slices.Equal(got, []float32{0, 0.5}) {
		t.Errorf("got %v, want 0 and 0.5", got)
	}
}

func TestSupportMistakes(t *testing.T) {
	grey := ramp(t, records.Image(5, 4).WithLabels("a", "b", "c"))
	support, err := supportOf(grey, 0)
	if err != nil {
		t.Fatal(err)
	}
	var wrong *param.Error
	for _, other := range []records.Schema{records.Image(4, 5).WithLabels("a", "b", "c"),
		records.Image(5, 4).WithLabels("a", "b", "d")} {
		if _, err := support.apply(ramp(t, other)); !errors.As(err, &wrong) {
			t.Errorf("other images: got error %v, want *param.Error", err)
		}
	}
	for _, rare := range []float64{-0.1, 1} {
		if _, err := supportOf(grey, rare); !errors.As(err, &wrong) {
			t.Errorf("rare = %v: got error %v, want *param.Error", rare, err)
		}
	}
	other := table(t, records.Interval(2, 0, 1), []float32{0, 1})
	if _, err := supportOf(other, 0); !errors.As(err, &wrong) {
		t.Errorf("no images: got error %v, want *param.Error", err)
	}
}

// ramp returns an image of each class, of ascending grey levels.
func ramp(t *testing.T, s records.Schema) *records.Table {
	t.Helper()
	flat, labels := make([]float32, 3*s.Dim()), []int32{0, 1, 2}
	for i := range flat {
		flat[i] = float32(i) / float32(len(flat))
	}
	return table(t, s, flat, labels...)
}

// levels returns the grey levels of images.
func levels(t *records.Table) []float32 {
	flat, _ := t.Flat()
	return flat
}
