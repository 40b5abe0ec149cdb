package images_test

import (
	"bytes"
	"errors"
	"image/color"
	"image/png"
	"testing"

	"github.com/seed7ba64551/privgen/connect/images"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// TestWritePNG: every class begins a new row, and every pixel is in its place.
func TestWritePNG(t *testing.T) {
	const side = 4
	s := records.Image(side, side).WithLabels("a", "b")
	labels := []int32{1, 0, 1, 1}
	flat := make([]float32, len(labels)*side*side)
	for i := range labels {
		for at := range side * side {
			flat[i*side*side+at] = float32(i*side*side+at) / 255
		}
	}
	table, err := records.FromFlat(s, flat, labels...)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := images.WritePNG(&b, table, 2); err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	const step = side + 2
	if got := picture.Bounds().Size(); got.X != 2*step+2 || got.Y != 3*step+2 {
		t.Fatalf("got a picture of %v pixels, want (14,20)", got)
	}
	for i, place := range [][2]int{{1, 0}, {0, 0}, {1, 1}, {2, 0}} { // row and column
		for at := range side * side {
			x, y := 2+place[1]*step+at%side, 2+place[0]*step+at/side
			want := uint8(i*side*side + at)
			if got := color.GrayModel.Convert(picture.At(x, y)).(color.Gray).Y; got != want {
				t.Fatalf("image %d, pixel %d: %d, want %d", i, at, got, want)
			}
		}
	}
}

// TestWritePNGOfColours: the channels of a pixel give its colour.
func TestWritePNGOfColours(t *testing.T) {
	table, err := records.FromFlat(records.RGBImage(1, 2), []float32{1, 0, 0, 0, 0.2, 1})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := images.WritePNG(&b, table, 1); err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	for x, want := range []color.RGBA{{255, 0, 0, 255}, {0, 51, 255, 255}} {
		if got := color.RGBAModel.Convert(picture.At(2+x, 2)); got != want {
			t.Errorf("pixel %d: %v, want %v", x, got, want)
		}
	}
}

// TestWritePNGRefuses: WritePNG rejects records that are not images, rows of zero images, and a nil
// table.
func TestWritePNGRefuses(t *testing.T) {
	vector, err := records.FromFlat(records.Binary(4), make([]float32, 4))
	if err != nil {
		t.Fatal(err)
	}
	small, err := records.FromFlat(records.Image(2, 2), make([]float32, 4))
	if err != nil {
		t.Fatal(err)
	}
	var mistake *param.Error
	for name, err := range map[string]error{
		"vectors":     images.WritePNG(new(bytes.Buffer), vector, 1),
		"zero a row":  images.WritePNG(new(bytes.Buffer), small, 0),
		"a nil table": images.WritePNG(new(bytes.Buffer), nil, 1),
	} {
		if !errors.As(err, &mistake) {
			t.Errorf("%s: got error %v, want *param.Error", name, err)
		}
	}
}
