package mix

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/seed7ba64551/privgen/records"
)

// The arrays of an exported release. x holds the features and y the soft labels; each mixture is
// one row.
const (
	npzFeatures = "x.npy"
	npzLabels   = "y.npy"
)

// WriteNPZ writes the rows in NumPy's format, as float32 arrays x (rows×dim) and, if there are
// labels, y (rows×classes).
//
// Errors: all errors of the writer.
func (r *Rows) WriteNPZ(w io.Writer) error {
	z := zip.NewWriter(w)
	err := writeMember(z, npzFeatures, r.dim, r.features)
	if err == nil && r.classes > 0 {
		err = writeMember(z, npzLabels, r.classes, r.labels)
	}
	return errors.Join(err, z.Close())
}

func writeMember(z *zip.Writer, name string, cols int, flat []float32) error {
	t, err := records.FromFlat(anyNumbers(cols), flat)
	if err != nil {
		return err
	}
	w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store}) // noise does not compress
	if err != nil {
		return err
	}
	return records.WriteNPY(w, t)
}

// anyNumbers returns a schema whose bounds contain every finite float32, so reading and writing
// change no number.
func anyNumbers(cols int) records.Schema {
	return records.Interval(cols, -math.MaxFloat32, math.MaxFloat32)
}

// ReadNPZ reads rows that [Rows.WriteNPZ] wrote. They must have dim features and the given number
// of label coordinates, which may be 0.
//
// Errors: records.ErrFormat for a file of another format, and for missing arrays or arrays of wrong
// shapes.
func ReadNPZ(r io.ReaderAt, size int64, dim, classes int) (*Rows, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("%w: not an npz file", records.ErrFormat)
	}
	features, err := readMember(z, npzFeatures, dim)
	if err != nil {
		return nil, err
	}
	var labels []float32
	if classes > 0 {
		if labels, err = readMember(z, npzLabels, classes); err != nil {
			return nil, err
		}
	}
	rows, err := RowsOf(dim, classes, features, labels)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", records.ErrFormat, err)
	}
	return rows, nil
}

func readMember(z *zip.Reader, name string, cols int) ([]float32, error) {
	f, err := z.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%w: the file has no array %s", records.ErrFormat, name)
	}
	defer f.Close()
	t, err := records.ReadNPY(f, anyNumbers(cols))
	if err != nil {
		return nil, err
	}
	flat, _ := t.Flat()
	return flat, nil
}
