package records

import (
	"io"
	"iter"

	"github.com/seed7ba64551/privgen/internal/param"
)

// rowReader reads the rows of a table from a file in parts.
type rowReader interface {
	// read appends at most n rows to the builder; io.EOF means that there are no more.
	read(n int) error
	builder() *FrameBuilder
}

// readFrame reads all rows.
func readFrame(in rowReader) (*Frame, error) {
	if err := in.read(maxRows); err != nil && err != io.EOF {
		return nil, err
	}
	return in.builder().Frame(), nil
}

// streamFrames reads rows in frames of the given number of rows; the last frame may have fewer. It
// ends after the first error.
func streamFrames(path string, rows int, open func() (rowReader, error)) iter.Seq2[*Frame, error] {
	return func(yield func(*Frame, error) bool) {
		if rows < 1 {
			yield(nil, param.New(path, rows, "a positive number"))
			return
		}
		in, err := open()
		if err != nil {
			yield(nil, err)
			return
		}
		for {
			err := in.read(rows)
			if err != nil && err != io.EOF {
				yield(nil, err)
				return
			}
			b := in.builder()
			if b.Len() > 0 && !yield(b.next(), nil) || err == io.EOF {
				return
			}
		}
	}
}
