package records

import (
	"bufio"
	"fmt"
	"io"

	"github.com/seed7ba64551/privgen/param"
)

// CIFARForm is which of the CIFAR data sets a file belongs to, and which labels are read.
type CIFARForm int

// The forms.
const (
	CIFAR10        CIFARForm = iota // one label: 10 classes
	CIFAR100Fine                    // two labels, of which the second is read: 100 classes
	CIFAR100Coarse                  // two labels, of which the first is read: 20 classes
)

// The sizes of a CIFAR record.
const (
	cifarSide   = 32
	cifarPixels = cifarSide * cifarSide
)

// labels is how many labels a record begins with, and which of them is read.
func (f CIFARForm) labels() (count, read int) {
	switch f {
	case CIFAR100Fine:
		return 2, 1
	case CIFAR100Coarse:
		return 2, 0
	}
	return 1, 0
}

// classes is the largest number of classes that the labels tell apart.
func (f CIFARForm) classes() int {
	switch f {
	case CIFAR100Fine:
		return 100
	case CIFAR100Coarse:
		return 20
	}
	return 10
}

// CIFAR10Schema is the schema of CIFAR-10's images, with the names of its classes.
func CIFAR10Schema() Schema {
	return RGBImage(cifarSide, cifarSide).WithLabels("airplane", "automobile", "bird", "cat", "deer",
		"dog", "frog", "horse", "ship", "truck")
}

func (f CIFARForm) check(path string, s Schema) error {
	if err := s.Validate(); err != nil {
		return err
	}
	var c param.Checker
	c.OK(f >= CIFAR10 && f <= CIFAR100Coarse, path+" form", int(f), "one of the forms")
	c.OK(s.kind == ColourImage && s.height == cifarSide && s.width == cifarSide, path+" schema",
		s.String(), "RGBImage(32, 32)")
	c.OK(s.Classes() <= f.classes(), path+" classes", s.Classes(),
		fmt.Sprintf("at most %d", f.classes()))
	return c.Err()
}

// ReadCIFAR reads records in CIFAR's binary format, plain or gzip-compressed: a label of one byte
// (two in CIFAR-100), then 1,024 bytes each of red, green and blue. Labels are left out where the
// schema has no classes; a label that is none of the schema's becomes its class for unknown ones.
//
// Errors: [ErrFormat] for a file that does not end with a record; *[LimitError]; *[param.Error] for
// a schema of other images.
func ReadCIFAR(r io.Reader, form CIFARForm, s Schema, limits ...Limits) (*Table, error) {
	return readCIFAR([]io.Reader{r}, form, s, limits)
}

// OpenCIFAR is [ReadCIFAR] on files, such as the five that CIFAR-10 is trained on, one after
// another.
//
// Errors: those of [ReadCIFAR] and of the file system.
func OpenCIFAR(form CIFARForm, s Schema, paths []string, limits ...Limits) (*Table, error) {
	return withFiles(paths, nil, func(files []io.Reader) (*Table, error) {
		return readCIFAR(files, form, s, limits)
	})
}

// withFiles opens files for one reader.
func withFiles[T any](paths []string, open []io.Reader, read func([]io.Reader) (T, error)) (T,
	error) {
	if len(paths) == 0 {
		return read(open)
	}
	return withFile(paths[0], func(r io.Reader) (T, error) {
		return withFiles(paths[1:], append(open, r), read)
	})
}

func readCIFAR(files []io.Reader, form CIFARForm, s Schema, limits []Limits) (*Table, error) {
	if err := form.check("records.ReadCIFAR", s); err != nil {
		return nil, err
	}
	var levels []uint8
	var labels []int32
	for i, r := range files {
		if r == nil {
			return nil, param.New(fmt.Sprintf("records.ReadCIFAR file %d", i), nil, "a reader")
		}
		in, err := openInput(r, lastOf(limits))
		if err != nil {
			return nil, err
		}
		if levels, labels, err = appendCIFAR(in, form, levels, labels); err != nil {
			return nil, err
		}
	}
	if s.Classes() == 0 {
		labels = nil
	}
	return FromBytes(s, levels, labels...)
}

// appendCIFAR appends the records of one file.
func appendCIFAR(in *input, form CIFARForm, levels []uint8, labels []int32) ([]uint8, []int32,
	error) {
	count, read := form.labels()
	record := make([]byte, count+colours*cifarPixels)
	for {
		switch _, err := io.ReadFull(in, record); {
		case err == io.EOF:
			return levels, labels, nil
		case err != nil:
			return nil, nil, truncated("the last record", err)
		}
		if err := in.spend(colours * cifarPixels / 4); err != nil { // four bytes take a value's room
			return nil, nil, err
		}
		labels = push(labels, int32(record[read]))
		planes := record[count:]
		for p := range cifarPixels {
			levels = push(push(push(levels, planes[p]), planes[cifarPixels+p]), planes[2*cifarPixels+p])
		}
	}
}

// WriteCIFAR writes images in CIFAR's binary format: the nearest of 256 levels. Of two labels, that
// which is not the table's is written as 0; so are labels of a table without classes.
//
// Errors: the writer's; *[param.Error] for other images.
func WriteCIFAR(w io.Writer, form CIFARForm, t *Table) error {
	if t == nil {
		return param.New("records.WriteCIFAR", nil, "records")
	}
	if err := form.check("records.WriteCIFAR", t.schema); err != nil {
		return err
	}
	count, read := form.labels()
	out, row := bufio.NewWriter(w), []float32(nil)
	record := make([]byte, count+colours*cifarPixels)
	var pixels []uint8
	for i := range t.n {
		row = t.Row(row, i)
		pixels = t.schema.appendLevels(pixels[:0], row)
		if t.schema.Classes() > 0 {
			record[read] = byte(t.Label(i))
		}
		for p := range cifarPixels {
			for c := range colours {
				record[count+c*cifarPixels+p] = pixels[colours*p+c]
			}
		}
		if _, err := out.Write(record); err != nil {
			return fmt.Errorf("records: writing: %w", err)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("records: writing: %w", err)
	}
	return nil
}
