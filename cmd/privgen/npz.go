package main

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"math"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/npy"
	"github.com/seed7ba64551/privgen/records"
)

// writeNPZ writes n encoded records in pieces, in the format of records.WriteNPZ: array x and, if
// there are classes, array y. It keeps only the classes in memory.
func writeNPZ(w io.Writer, s records.Schema, n int, parts iter.Seq2[records.Data, error]) error {
	z := zip.NewWriter(w)
	x, err := z.Create("x.npy")
	if err != nil {
		return err
	}
	shape := fmt.Sprintf("(%d, %d)", n, s.Dim())
	if s.IsImage() {
		shape = fmt.Sprintf("(%d, %d, %d)", n, s.Height(), s.Width())
	}
	if s.Channels() > 1 {
		shape = fmt.Sprintf("(%d, %d, %d, %d)", n, s.Height(), s.Width(), s.Channels())
	}
	if _, err := x.Write(npy.Preamble("<f4", shape)); err != nil {
		return err
	}
	var labels, row []byte
	var batch device.Batch
	for part, err := range parts {
		if err != nil {
			return err
		}
		part.Range(0, part.Len(), &batch)
		row = row[:0]
		for i := range batch.Rows {
			for _, v := range batch.Dense.Row(i) {
				row = binary.LittleEndian.AppendUint32(row, math.Float32bits(v))
			}
		}
		if _, err := x.Write(row); err != nil {
			return err
		}
		for _, label := range batch.Labels {
			labels = binary.LittleEndian.AppendUint32(labels, uint32(label))
		}
	}
	if s.Classes() > 0 {
		y, err := z.Create("y.npy")
		if err != nil {
			return err
		}
		head := npy.Preamble("<i4", fmt.Sprintf("(%d,)", n))
		if _, err := y.Write(append(head, labels...)); err != nil {
			return err
		}
	}
	return z.Close()
}
