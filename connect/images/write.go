package images

import (
	"bufio"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// WriteFolder writes every record as a PNG file, in colour or in grey, such as "cat/000012.png". It
// creates a folder for each class and rounds values to the nearest of 256 levels. It is an error if
// a file exists already, so two tables are never mixed. After an error it removes what it has made.
//
// Errors: *[param.Error] for records that are not images, and if the name of a class cannot be the
// name of a folder; errors of the file system.
func WriteFolder(folder string, t *records.Table) (err error) {
	if t == nil {
		return param.New("images.WriteFolder", nil, "records")
	}
	s := t.Schema()
	if err := checkFolder("images.WriteFolder", os.DirFS(folder), s, records.Limits{}); err != nil {
		return err
	}
	var made []string // files and folders
	defer func() {
		if err != nil {
			for _, path := range slices.Backward(made) {
				_ = os.Remove(path) // a folder may hold other files by now
			}
		}
	}()
	names := s.ClassNames()
	for _, name := range append([]string{"."}, names...) {
		path := filepath.Join(folder, name)
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			made = append(made, path)
		}
		if err := os.MkdirAll(path, 0o777); err != nil {
			return fmt.Errorf("images: %w", err)
		}
	}
	var row []float32
	for i := range t.Len() {
		row = t.Row(row, i)
		class := "."
		if len(names) > 0 {
			class = names[t.Label(i)]
		}
		path := filepath.Join(folder, class, fmt.Sprintf("%06d.png", i))
		if err := writeImage(path, imageOf(row, s)); err != nil {
			return fmt.Errorf("images: %w", err)
		}
		made = append(made, path)
	}
	return nil
}

// imageOf returns a record as an image.
func imageOf(row []float32, s records.Schema) image.Image {
	frame := image.Rect(0, 0, s.Width(), s.Height())
	at := func(i int) uint8 { return uint8(min(max(row[i], 0), 1)*255 + 0.5) }
	if s.Channels() == 1 {
		grey := image.NewGray(frame)
		for i := range grey.Pix {
			grey.Pix[i] = at(i)
		}
		return grey
	}
	colour := image.NewNRGBA(frame)
	for i := range len(row) / 3 {
		colour.SetNRGBA(i%s.Width(), i/s.Width(), color.NRGBA{at(3 * i), at(3*i + 1), at(3*i + 2), 255})
	}
	return colour
}

func writeImage(path string, picture image.Image) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer func() {
		f.Close()
		if err != nil {
			os.Remove(path)
		}
	}()
	out := bufio.NewWriter(f)
	if err := png.Encode(out, picture); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return f.Close()
}
