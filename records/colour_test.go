package records_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

// TestColourImages: colour images can be written to and read from every format.
func TestColourImages(t *testing.T) {
	s := records.RGBImage(2, 3).WithLabels("a", "b")
	if s.Dim() != 18 || s.Channels() != 3 || !s.IsImage() || s.Height() != 2 || s.Width() != 3 {
		t.Errorf("got schema %v of dimension %d, want colour images of 2 × 3 pixels", s, s.Dim())
	}
	text := must(s.MarshalJSON())(t)
	var back records.Schema
	if err := back.UnmarshalJSON(text); err != nil || !back.Equal(s) ||
		back.Equal(records.Image(2, 9)) {
		t.Errorf("%s does not give the schema back: error %v", text, err)
	}
	for _, bad := range []records.Schema{records.RGBImage(0, 3), records.RGBImage(1<<15, 1<<15)} {
		if bad.Validate() == nil {
			t.Errorf("%v is valid, want an error", bad)
		}
	}
	levels := []uint8{0, 255, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	want := must(records.FromBytes(s, slices.Repeat(levels, 2), 1, 0))(t)
	flat, _ := want.Flat()
	var images, labels, array bytes.Buffer
	if err := errors.Join(records.WriteIDX(&images, &labels, want),
		records.WriteNPY(&array, want)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(array.Bytes(), []byte("(2, 2, 3, 3)")) {
		t.Error("the array does not have the axes (2, 2, 3, 3)")
	}
	for name, got := range map[string]*records.Table{
		"idx": must(records.ReadIDX(&images, &labels, s))(t),
		"npy": must(records.ReadNPY(&array, s.WithoutLabels()))(t),
		"npy of bytes": must(records.ReadNPY(bytes.NewReader(npy("|u1", "(2, 2, 3, 3)",
			slices.Repeat(levels, 2)...)), s.WithoutLabels()))(t),
	} {
		if back, _ := got.Flat(); !slices.Equal(back, flat) {
			t.Errorf("%s: got wrong values %v", name, back)
		}
	}
	if b := records.Binarize(want, 0.5); b.Schema().Kind() != records.BinaryVector ||
		b.Row(nil, 0)[1] != 1 || b.Row(nil, 0)[0] != 0 {
		t.Errorf("binarised images: got schema %v, or wrong values", b.Schema())
	}
}
