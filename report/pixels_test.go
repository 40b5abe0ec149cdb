package report_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"testing"
)

func decode(t testing.TB, text []byte) image.Image {
	t.Helper()
	picture, err := png.Decode(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return picture
}

func grey(picture image.Image, x, y int) uint8 {
	return color.GrayModel.Convert(picture.At(x, y)).(color.Gray).Y
}

// newNormal returns a function that draws standard normal numbers.
func newNormal(seed uint64) func() float64 {
	return rand.New(rand.NewPCG(seed, 5)).NormFloat64
}
