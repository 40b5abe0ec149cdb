package weights

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/npy"
	"github.com/seed7ba64551/privgen/internal/param"
)

// suffix is the text that NumPy adds to the name of an array in an archive.
const suffix = ".npy"

// WriteNPZ writes parameters as an archive that numpy.load reads, one array for each block.
//
// Errors: the writer's; *[param.Error] for blocks without distinct names.
func WriteNPZ(w io.Writer, b device.Backend, p device.Params) error {
	if err := check("weights.WriteNPZ", b, p); err != nil {
		return err
	}
	archive := zip.NewWriter(w)
	for i, s := range p.Shapes {
		m, err := archive.CreateHeader(&zip.FileHeader{Name: s.Name + suffix, Method: zip.Store})
		if err == nil {
			_, err = m.Write(append(npy.Preamble("<f4", python(axes(s))), block(b, p.Block(i))...))
		}
		if err != nil {
			return fmt.Errorf("weights.WriteNPZ: %w", err)
		}
	}
	if err := archive.Close(); err != nil {
		return fmt.Errorf("weights.WriteNPZ: %w", err)
	}
	return nil
}

// python returns a shape as Python writes a tuple.
func python(axes []int) string {
	text := strings.Trim(strings.ReplaceAll(fmt.Sprint(axes), " ", ", "), "[]")
	if len(axes) == 1 {
		text += ","
	}
	return "(" + text + ")"
}

// ReadNPZ sets parameters to the values in a NumPy archive. The archive must hold an array for each
// block, with the block's name and shape; other arrays are ignored. If reading fails, the
// parameters are unchanged.
//
// Errors: [ErrFormat]; the reader's; *[param.Error] for blocks without distinct names, or nil.
func ReadNPZ(r io.ReaderAt, size int64, b device.Backend, p device.Params) error {
	if r == nil {
		return param.New("weights.ReadNPZ.reader", nil, "a file")
	}
	if err := check("weights.ReadNPZ", b, p); err != nil {
		return err
	}
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return malformed("the file is not an npz file")
	}
	files := make(map[string]*zip.File, len(archive.File))
	for _, f := range archive.File {
		files[f.Name] = f
	}
	values := make([][]float32, len(p.Shapes))
	for i, s := range p.Shapes {
		f, found := files[s.Name+suffix]
		if !found {
			return malformed("no array is named %q", s.Name)
		}
		if values[i], err = readArray(f, s); err != nil {
			return err
		}
	}
	set(b, p, values)
	return nil
}

// readArray reads one array of an archive.
func readArray(f *zip.File, s device.Shape) ([]float32, error) {
	r, err := f.Open()
	if err != nil {
		return nil, malformed("array %q cannot be unpacked", s.Name)
	}
	defer r.Close()
	h, err := npy.ReadHeader(r)
	if errors.Is(err, npy.ErrHeader) {
		return nil, malformed("array %q is %v", s.Name, err)
	}
	if err != nil {
		return nil, truncated(err)
	}
	if h.Kind != 'f' || !fits(h.Shape, s) {
		return nil, malformed("array %q has the shape %v instead of %v, or another type", s.Name,
			h.Shape, axes(s))
	}
	data := make([]byte, h.Size*s.Rows*s.Cols)
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, truncated(err)
	}
	values := numbers(data, h.Size, h.Element())
	if values == nil {
		return nil, malformed("array %q holds numbers that are not finite", s.Name)
	}
	return values, nil
}
