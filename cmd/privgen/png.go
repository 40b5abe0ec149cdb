package main

import (
	"io"
	"iter"

	"github.com/seed7ba64551/privgen/connect/images"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

// acrossPicture is the number of images in a row of the picture.
const acrossPicture = 16

// writePNG writes images as one picture, ordered by class. It keeps the images in memory.
func writePNG(w io.Writer, s records.Schema, parts iter.Seq2[records.Data, error]) error {
	var flat []float32
	var labels []int32
	var batch device.Batch
	for part, err := range parts {
		if err != nil {
			return err
		}
		part.Range(0, part.Len(), &batch)
		for i := range batch.Rows {
			flat = append(flat, batch.Dense.Row(i)...)
		}
		labels = append(labels, batch.Labels...)
	}
	t, err := records.FromFlat(s, flat, labels...)
	if err != nil {
		return err
	}
	return images.WritePNG(w, t, acrossPicture)
}
