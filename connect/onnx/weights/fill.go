package weights

import (
	"io"
	"slices"

	"github.com/seed7ba64551/privgen/device"
)

// place says where the bytes of a block are in a file.
type place struct {
	block      int
	start, end int64
	decode     func([]byte) []float32
}

// widest is the width in bytes of the widest type of number that is read.
const widest = 8

// fill reads the arrays of all blocks, in the order in which they lie in the file, and then sets
// the parameters. Its memory depends on the parameters, and not on sizes declared in the file.
func fill(b device.Backend, p device.Params,
	find func(device.Shape) ([]int, int64, int64, func([]byte) []float32, error), r io.Reader) error {
	places := make([]place, len(p.Shapes))
	for i, s := range p.Shapes {
		shape, start, end, decode, err := find(s)
		if err != nil {
			return err
		}
		if !fits(shape, s) {
			return malformed("array %q has the shape %v instead of %v", s.Name, shape, axes(s))
		}
		if start < 0 || end < start || end-start > widest*int64(s.Rows)*int64(s.Cols) {
			return malformed("array %q has invalid offsets, %d to %d", s.Name, start, end)
		}
		places[i] = place{i, start, end, decode}
	}
	slices.SortFunc(places, func(a, b place) int { return int(min(max(a.start-b.start, -1), 1)) })
	values, at := make([][]float32, len(places)), int64(0)
	for _, l := range places {
		s := p.Shapes[l.block]
		if l.start < at {
			return malformed("array %q overlaps another", s.Name)
		}
		if _, err := io.CopyN(io.Discard, r, l.start-at); err != nil {
			return truncated(err)
		}
		data := make([]byte, l.end-l.start)
		if _, err := io.ReadFull(r, data); err != nil {
			return truncated(err)
		}
		at = l.end
		if values[l.block] = l.decode(data); len(values[l.block]) != s.Rows*s.Cols {
			return malformed("array %q does not hold the finite floating-point numbers of its shape",
				s.Name)
		}
	}
	set(b, p, values)
	return nil
}

// set sets every block of the parameters.
func set(b device.Backend, p device.Params, values [][]float32) {
	for i, v := range values {
		b.Upload(p.Block(i), v)
	}
}
