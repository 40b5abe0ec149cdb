package images

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"os"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// The sizes of a CIFAR record.
const (
	cifarSide   = 32
	cifarPixels = cifarSide * cifarSide
	cifarColour = 3
	cifarRecord = 1 + cifarColour*cifarPixels // the label and three planes
	cifarMost   = 10                          // classes
)

// CIFAR10Schema returns the schema of CIFAR-10's images, with the names of its classes.
func CIFAR10Schema() records.Schema {
	return records.RGBImage(cifarSide, cifarSide).WithLabels("airplane", "automobile", "bird", "cat",
		"deer", "dog", "frog", "horse", "ship", "truck")
}

func checkCIFAR(path string, s records.Schema) error {
	if err := s.Validate(); err != nil {
		return err
	}
	var c param.Checker
	c.OK(s.Kind() == records.ColourImage && s.Height() == cifarSide && s.Width() == cifarSide,
		path+" schema", s.String(), "RGBImage(32, 32)")
	c.OK(s.Classes() <= cifarMost, path+" classes", s.Classes(), fmt.Sprintf("at most %d", cifarMost))
	return c.Err()
}

// ReadCIFAR reads records in CIFAR-10's binary format, plain or gzip-compressed: a label of one
// byte, then 1,024 bytes each of red, green and blue. Labels are ignored if the schema has no
// classes. A label outside the schema becomes the schema's class for unknown labels.
//
// Errors: [records.ErrFormat] for a file that ends within a record; *[records.LimitError];
// *[param.Error] for a schema of other images.
func ReadCIFAR(r io.Reader, s records.Schema, limits ...records.Limits) (*records.Table, error) {
	if err := checkCIFAR("images.ReadCIFAR", s); err != nil {
		return nil, err
	}
	in := cifarInput{limits: lastOf(limits)}
	if err := in.append(r); err != nil {
		return nil, err
	}
	return in.table(s)
}

// OpenCIFAR is [ReadCIFAR] on several files in order, such as the five training files of CIFAR-10.
//
// Errors: see [ReadCIFAR]; also errors of the file system.
func OpenCIFAR(s records.Schema, paths []string, limits ...records.Limits) (*records.Table, error) {
	if err := checkCIFAR("images.OpenCIFAR", s); err != nil {
		return nil, err
	}
	in := cifarInput{limits: lastOf(limits)}
	for _, path := range paths {
		if err := in.open(path); err != nil {
			return nil, err
		}
	}
	return in.table(s)
}

// cifarInput holds the records that were read so far.
type cifarInput struct {
	limits records.Limits
	bytes  int64 // of all files, before unpacking
	values int64
	levels []uint8
	labels []int32
}

func (in *cifarInput) open(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return in.append(f)
}

// countedBytes counts the bytes that are read from a file.
type countedBytes struct {
	r io.Reader
	n *int64
}

func (c countedBytes) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	*c.n += int64(n)
	return n, err
}

// append reads the records of one file.
func (in *cifarInput) append(r io.Reader) error {
	if r == nil {
		return param.New("images.ReadCIFAR.r", nil, "a reader")
	}
	if err := in.limits.Validate(); err != nil {
		return err
	}
	file := bufio.NewReader(countedBytes{r, &in.bytes})
	var plain io.Reader = file
	if head, err := file.Peek(param.GzipHead); err == nil && param.PackedByGzip(head) {
		if plain, err = gzip.NewReader(file); err != nil {
			return malformed("the gzip header is damaged")
		}
	}
	record := make([]byte, cifarRecord)
	for {
		switch _, err := io.ReadFull(plain, record); {
		case err == io.EOF:
			return nil
		case err == io.ErrUnexpectedEOF:
			return malformed("the file ends within a record")
		case err != nil:
			return malformed("reading a record: %v", err)
		}
		in.values += cifarColour * cifarPixels / 4 // four bytes count as one value
		if in.values > in.limits.ValuesFor(in.bytes) {
			return &records.LimitError{Limit: "Values",
				What: "the files hold more values than their size allows"}
		}
		in.labels = append(in.labels, int32(record[0]))
		planes := record[1:]
		for p := range cifarPixels {
			in.levels = append(in.levels, planes[p], planes[cifarPixels+p], planes[2*cifarPixels+p])
		}
	}
}

func (in *cifarInput) table(s records.Schema) (*records.Table, error) {
	if s.Classes() == 0 {
		in.labels = nil
	}
	return records.FromBytes(s, in.levels, in.labels...)
}

// WriteCIFAR writes images in CIFAR-10's binary format, each value as the nearest of 256 levels. A
// table without classes is written with labels of 0.
//
// Errors: the writer's; *[param.Error] for other images.
func WriteCIFAR(w io.Writer, t *records.Table) error {
	if t == nil {
		return param.New("images.WriteCIFAR", nil, "records")
	}
	if err := checkCIFAR("images.WriteCIFAR", t.Schema()); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	var row []float32
	for i := range t.Len() {
		row = t.Row(row, i)
		out.WriteByte(byte(max(t.Label(i), 0)))
		for c := range cifarColour {
			for p := range cifarPixels {
				v := min(max(row[cifarColour*p+c], 0), 1)
				out.WriteByte(byte(v*255 + 0.5))
			}
		}
	}
	return out.Flush() // keeps the first error
}
