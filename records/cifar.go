package records

import (
	"fmt"
	"io"

	"github.com/seed7ba64551/privgen/internal/param"
)

// The sizes of a CIFAR record.
const (
	cifarSide   = 32
	cifarPixels = cifarSide * cifarSide
	cifarRecord = 1 + colours*cifarPixels // the label and three planes
	cifarMost   = 10                      // classes
)

// CIFAR10Schema returns the schema of CIFAR-10's images, with the names of its classes.
func CIFAR10Schema() Schema {
	return RGBImage(cifarSide, cifarSide).WithLabels("airplane", "automobile", "bird", "cat", "deer",
		"dog", "frog", "horse", "ship", "truck")
}

func checkCIFAR(path string, s Schema) error {
	if err := s.Validate(); err != nil {
		return err
	}
	var c param.Checker
	c.OK(s.kind == ColourImage && s.height == cifarSide && s.width == cifarSide, path+" schema",
		s.String(), "RGBImage(32, 32)")
	c.OK(s.Classes() <= cifarMost, path+" classes", s.Classes(), fmt.Sprintf("at most %d", cifarMost))
	return c.Err()
}

// ReadCIFAR reads records in CIFAR-10's binary format, plain or gzip-compressed: a label of one
// byte, then 1,024 bytes each of red, green and blue. Labels are ignored if the
// schema has no classes. A label outside the schema becomes the schema's class for unknown labels.
//
// Errors: [ErrFormat] for a file that ends within a record; *[LimitError]; *[param.Error] for a
// schema of other images.
func ReadCIFAR(r io.Reader, s Schema, limits ...Limits) (*Table, error) {
	return readCIFAR([]io.Reader{r}, s, limits)
}

// OpenCIFAR is [ReadCIFAR] on several files in order, such as the five training files of CIFAR-10.
//
// Errors: see [ReadCIFAR]; also errors of the file system.
func OpenCIFAR(s Schema, paths []string, limits ...Limits) (*Table, error) {
	return withFiles(paths, nil, func(files []io.Reader) (*Table, error) {
		return readCIFAR(files, s, limits)
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

func readCIFAR(files []io.Reader, s Schema, limits []Limits) (*Table, error) {
	if err := checkCIFAR("records.ReadCIFAR", s); err != nil {
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
		if levels, labels, err = appendCIFAR(in, levels, labels); err != nil {
			return nil, err
		}
	}
	if s.Classes() == 0 {
		labels = nil
	}
	return FromBytes(s, levels, labels...)
}

// appendCIFAR appends the records of one file.
func appendCIFAR(in *input, levels []uint8, labels []int32) ([]uint8, []int32,
	error) {
	record := make([]byte, cifarRecord)
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
		labels = push(labels, int32(record[0]))
		planes := record[1:]
		for p := range cifarPixels {
			levels = push(push(push(levels, planes[p]), planes[cifarPixels+p]), planes[2*cifarPixels+p])
		}
	}
}

// WriteCIFAR writes images in CIFAR-10's binary format, each value as the nearest of 256 levels. A
// table without classes is written with labels of 0.
//
// Errors: the writer's; *[param.Error] for other images.
func WriteCIFAR(w io.Writer, t *Table) error {
	if t == nil {
		return param.New("records.WriteCIFAR", nil, "records")
	}
	if err := checkCIFAR("records.WriteCIFAR", t.schema); err != nil {
		return err
	}
	var row []float32
	var pixels []uint8
	return writeRows(w, nil, t.n, func(dst []byte, i int) []byte {
		row = t.Row(row, i)
		pixels = t.schema.appendLevels(pixels[:0], row)
		dst = append(dst, byte(max(t.Label(i), 0)))
		for c := range colours {
			for p := range cifarPixels {
				dst = append(dst, pixels[colours*p+c])
			}
		}
		return dst
	})
}
