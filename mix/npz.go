package mix

import (
	"archive/zip"
	"errors"
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
	every := records.Interval(cols, -math.MaxFloat32, math.MaxFloat32) // changes no number
	t, err := records.FromFlat(every, flat)
	if err != nil {
		return err
	}
	w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store}) // noise does not compress
	if err != nil {
		return err
	}
	return records.WriteNPY(w, t)
}
