package grid_test

import (
	"bytes"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed7ba64551/privgen/examples/grid"
)

func sheet() grid.Sheet {
	nan := float32(math.NaN())
	return grid.Sheet{Height: 2, Width: 3, Zoom: 4, Rows: []grid.Row{
		{Caption: "real", Images: [][]float32{{0, 1, 0, 1, 0, 1}, {0, 0, 0, 1, 1, 1}}},
		{Caption: "k = 1", Images: [][]float32{{nan, 2, -1, 0.5, 0, 1}}},
	}}
}

func TestEncodeWritesAPicture(t *testing.T) {
	var out bytes.Buffer
	if err := sheet().Encode(&out); err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(&out)
	if err != nil {
		t.Fatal(err)
	}
	if b := picture.Bounds(); b.Dy() != 2*(2*4+2)+2 || b.Dx() < 2*(3*4+2) {
		t.Errorf("a picture of %d×%d pixels, want 22 pixels high and at least 28 wide", b.Dy(), b.Dx())
	}
}

func TestSaveWritesAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.png")
	if err := sheet().Save(path); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		t.Errorf("no file was written, or an empty one: %v", err)
	}
	if err := sheet().Save(filepath.Join(t.TempDir(), "none", "a.png")); err == nil {
		t.Error("Save into a folder that does not exist returns no error")
	}
}

func TestWrongSizesAreErrors(t *testing.T) {
	s := sheet()
	s.Rows[1].Images[0] = make([]float32, 5)
	if _, err := s.Render(); err == nil {
		t.Error("an image of another size is drawn")
	}
	if _, err := (grid.Sheet{}).Render(); err == nil {
		t.Error("images without size are drawn")
	}
}

func TestAnEmptySheet(t *testing.T) {
	if _, err := (grid.Sheet{Height: 1, Width: 1}).Render(); err != nil {
		t.Error(err)
	}
}

// TestColours checks the levels of a pixel in colour.
func TestColours(t *testing.T) {
	s := grid.Sheet{Height: 1, Width: 1, Colours: 3, Zoom: 1,
		Rows: []grid.Row{{Images: [][]float32{{1, 0, 0.2}}}}}
	picture, err := s.Render()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := picture.At(2, 2), (color.RGBA{255, 0, 51, 255}); got != want {
		t.Errorf("the pixel is %v, want %v", got, want)
	}
	s.Colours = 2
	if _, err := s.Render(); err == nil {
		t.Error("images of two colours are drawn")
	}
}
