package records

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/seed7ba64551/privgen/internal/param"
)

// writeFrames writes the records of all parts. It calls write for each record, and passes it a
// buffered writer. write need not return an error: the buffered writer keeps its first error, and
// writeFrames returns this error when it flushes the writer.
func writeFrames(to io.Writer, path string, s Schema, parts iter.Seq2[Data, error],
	write func(to io.Writer, f *Frame, row int)) error {
	w := bufio.NewWriterSize(to, 1<<16)
	for part, err := range parts {
		if err != nil {
			return err
		}
		if err := given(path, part); err != nil {
			return err
		}
		if !part.Schema().Equal(s) {
			got, want, _ := strings.Cut(Difference(part.Schema(), s), ": want ")
			return param.New(path, got, want)
		}
		f, err := frameOf(s, part)
		if err != nil {
			return err
		}
		for i := range f.n {
			write(w, f, i)
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("records: writing: %w", err)
	}
	return nil
}
