package images_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/connect/images"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// TestTooLargePictureHidesTheNumberOfImages writes one long row of a class and many short ones. The
// error states neither the number of images nor the size of the picture, which follows from it.
func TestTooLargePictureHidesTheNumberOfImages(t *testing.T) {
	const classes, row = 6000, 6001
	names, labels := make([]string, classes), make([]int32, row)
	for i := range names {
		names[i] = fmt.Sprint("c", i)
		labels = append(labels, int32(i))
	}
	s := records.Image(1, 1).WithLabels(names...)
	pictures, err := records.FromFlat(s, make([]float32, len(labels)), labels...)
	if err != nil {
		t.Fatal(err)
	}
	err = images.WritePNG(io.Discard, pictures, row+1)
	if wrong := new(param.Error); !errors.As(err, &wrong) || wrong.Path != "images.WritePNG.t" {
		t.Fatalf("got error %v, want a *param.Error about the picture", err)
	}
	if text := strings.ReplaceAll(err.Error(), "2^28", ""); strings.ContainsAny(text, "0123456789") {
		t.Errorf("the error has a number: %v", err)
	}
}
