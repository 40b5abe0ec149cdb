package shapes_test

import (
	"bytes"
	"hash/fnv"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/examples/images/shapes"
	"github.com/seed7ba64551/privgen/records"
)

// TestGreyShapesStayTheSame checks that a seed draws the images that docs/studies has measured.
func TestGreyShapesStayTheSame(t *testing.T) {
	drawn, err := shapes.Draw(20, 7)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := records.WriteNPZ(&file, drawn); err != nil {
		t.Fatal(err)
	}
	levels, _ := drawn.Flat()
	h := fnv.New64a()
	for _, v := range levels {
		h.Write([]byte{byte(255*v + 0.5)})
	}
	if got, want := h.Sum64(), uint64(0xaf95573831206b3e); got != want {
		t.Errorf("the levels have the hash %#x, want %#x", got, want)
	}
}

// TestColourShapes checks that all classes are drawn in colour, and that image i depends on the
// seed and i alone.
func TestColourShapes(t *testing.T) {
	few, err := shapes.DrawColour(30, 7)
	if err != nil {
		t.Fatal(err)
	}
	many, err := shapes.DrawColour(200, 7)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := few.Flat()
	b, _ := many.Flat()
	if !slices.Equal(a, b[:len(a)]) {
		t.Error("a longer table does not begin with the images of a shorter one")
	}
	seen := map[int32]bool{}
	for _, label := range many.Labels() {
		seen[label] = true
	}
	if len(seen) != 10 {
		t.Errorf("200 images have %d classes, want 10", len(seen))
	}
	grey := 0
	for i := 0; i < len(b); i += 3 {
		if b[i] == b[i+1] && b[i] == b[i+2] {
			grey++
		}
	}
	if grey > len(b)/30 {
		t.Errorf("%d of %d pixels are grey", grey, len(b)/3)
	}
}
