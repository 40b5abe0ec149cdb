package compose_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

func ramp(t *testing.T, s records.Schema) *records.Table {
	t.Helper()
	flat := make([]float32, 3*s.Dim())
	for i := range flat {
		flat[i] = float32(i%11) / 10
	}
	return must(records.FromFlat(s, flat, 2, 0, 1))(t)
}

func levels(d *records.Table) []float32 {
	v, _ := d.Flat()
	return v
}

func TestContrast(t *testing.T) {
	in := ramp(t, records.Image(5, 4).WithLabels("a", "b", "c"))
	before := slices.Clone(levels(in))
	out := must(compose.Contrast{Black: 0.2, White: 0.6}.Apply(in))(t)
	for i, v := range levels(out) {
		if want := min(max((before[i]-0.2)/0.4, 0), 1); math.Abs(float64(v-want)) > 1e-6 {
			t.Errorf("%v becomes %v, want %v", before[i], v, want)
		}
	}
	if !slices.Equal(out.Labels(), in.Labels()) || !slices.Equal(levels(in), before) {
		t.Error("Apply changes the labels or its input")
	}
}

func TestDistortion(t *testing.T) {
	in := ramp(t, records.Image(5, 4).WithLabels("a", "b", "c"))
	before := slices.Clone(levels(in))
	apply := func(d compose.Distortion) *records.Table {
		return must(d.Apply(in))(t)
	}
	if same := apply(compose.Distortion{Seed: 1}); !slices.Equal(levels(same), before) {
		t.Error("strength 0 changes images")
	}
	one, again := apply(compose.Distortion{Strength: 1, Seed: 1}),
		apply(compose.Distortion{Strength: 1, Seed: 1})
	if slices.Equal(levels(one), before) || !slices.Equal(levels(one), levels(again)) {
		t.Error("images do not change, or differ for the same seed")
	}
	if !slices.Equal(one.Labels(), in.Labels()) || !slices.Equal(levels(in), before) {
		t.Error("Apply changes the labels or its input")
	}
}

// TestDistortionOfColours checks that every colour moves as a grey image of its levels does.
func TestDistortionOfColours(t *testing.T) {
	in := ramp(t, records.RGBImage(5, 4).WithLabels("a", "b", "c"))
	d := compose.Distortion{Strength: 1, Seed: 1}
	moved := must(d.Apply(in))(t)
	if !slices.Equal(moved.Labels(), in.Labels()) {
		t.Error("Apply changes labels")
	}
	for c := range 3 {
		grey := must(records.FromFlat(records.Image(5, 4), colour(in, c)))(t)
		want := must(d.Apply(grey))(t)
		if !slices.Equal(colour(moved, c), levels(want)) {
			t.Errorf("colour %d moves otherwise than a grey image of its levels", c)
		}
	}
}

// colour returns the levels of one colour.
func colour(d *records.Table, c int) (out []float32) {
	for i, v := range levels(d) {
		if i%3 == c {
			out = append(out, v)
		}
	}
	return out
}

func TestMistakes(t *testing.T) {
	grey := ramp(t, records.Image(5, 4).WithLabels("a", "b", "c"))
	other := must(records.FromFlat(records.Interval(2, 0, 1), []float32{0, 1}))(t)
	colours := ramp(t, records.RGBImage(5, 4).WithLabels("a", "b", "c"))
	one := compose.Distortion{Strength: 1}
	for name, f := range map[string]func() (*records.Table, error){
		"strength":       apply(compose.Distortion{Strength: -1}.Apply, grey),
		"no number":      apply(compose.Distortion{Strength: math.NaN()}.Apply, grey),
		"no images":      apply(one.Apply, other),
		"colours":        apply(compose.Distortion{Normalize: true}.Apply, colours),
		"no contrast":    apply(compose.Contrast{}.Apply, grey),
		"grey numbers":   apply(compose.Contrast{White: 1}.Apply, other),
		"black is white": apply(compose.Contrast{Black: 1}.Apply, grey),
	} {
		var wrong *param.Error
		if _, err := f(); !errors.As(err, &wrong) {
			t.Errorf("%s: got error %v, want *param.Error", name, err)
		}
	}
}

// apply returns a function that applies f to t.
func apply(f func(*records.Table) (*records.Table, error),
	t *records.Table) func() (*records.Table, error) {
	return func() (*records.Table, error) { return f(t) }
}
