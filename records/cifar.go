package records

import (
	"bufio"
	"fmt"
	"io"

	"github.com/seed7ba64551/privgen/param"
)

// CIFARForm names the CIFAR data set of a file and the labels to read.
type CIFARForm int

// The forms.
const (
	CIFAR10        CIFARForm = iota // one label: 10 classes
	CIFAR100Fine                    // two labels; the second is read: 100 classes
	CIFAR100Coarse                  // two labels; the first is read: 20 classes
)

// The sizes of a CIFAR record.
const (
	cifarSide   = 32
	cifarPixels = cifarSide * cifarSide
)

// labels returns the number of labels at the start of a record, and the index of the label to read.
func (f CIFARForm) labels() (count, read int) {
	switch f {
	case CIFAR100Fine:
		return 2, 1
	case CIFAR100Coarse:
		return 2, 0
	}
	return 1, 0
}

// classes returns the number of classes that the labels distinguish.
func (f CIFARForm) classes() int {
	switch f {
	case CIFAR100Fine:
		return 100
	case CIFAR100Coarse:
		return 20
	}
	return 10
}

// CIFAR10Schema returns the schema of CIFAR-10's images, with the names of its classes.
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
// (two in CIFAR-100), then 1,024 bytes each of red, green and blue. Labels are ignored if the
// schema has no classes. A label outside the schema becomes the schema's class for unknown labels.
//
// Errors: [ErrFormat] for a file that ends within a record; *[LimitError]; *[param.Error] for a
// schema of other images.
func ReadCIFAR(r io.Reader, form CIFARForm, s Schema, limits ...Limits) (*Table, error) {
	return readCIFAR([]io.Reader{r}, form, s, limits)
}

// OpenCIFAR is [ReadCIFAR] on several files in order, such as the five training files of CIFAR-10.
//
// Errors: see [ReadCIFAR]; also errors of the file system.
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
		if err := in.spend(colours * cifarPixels / 4); err != nil { // four bytes count as one value
			return nil, nil, err
		}
		labels = push(labels, int32(record[read]))
		planes := record[count:]
		for p := range cifarPixels {
			levels = push(push(push(levels, planes[p]), planes[cifarPixels+p]), planes[2*cifarPixels+p])
		}
	}
}

// WriteCIFAR writes images in CIFAR's binary format, each value as the nearest of 256 levels. If
// the format has two labels, the label that the table lacks is written as 0. A table without
// classes is written with labels of 0.
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
