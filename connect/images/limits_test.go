package images_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"testing/iotest"

	"github.com/seed7ba64551/privgen/connect/images"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// TestExactLimits reads images within limits that they just meet, and refuses them with smaller
// ones. The limits count all files together.
func TestExactLimits(t *testing.T) {
	const record = 1 + 3*32*32
	s := images.CIFAR10Schema()
	folder := t.TempDir()
	var paths []string
	for i, n := range []int{2, 3} {
		paths = append(paths, filepath.Join(folder, string(rune('a'+i))))
		if err := os.WriteFile(paths[i], make([]byte, n*record), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cifar := func(l records.Limits) (int, error) {
		t, err := images.OpenCIFAR(s, paths, l)
		return t.Len(), err
	}
	grey, files := records.Image(3, 3), fstest.MapFS{}
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, 3, 3))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.png", "b.png", "c.PNG"} {
		files[name] = &fstest.MapFile{Data: file.Bytes()}
	}
	pictures := func(l records.Limits) (int, error) {
		t, err := images.ReadFolder(files, grey, l)
		return t.Len(), err
	}
	for what, c := range map[string]struct {
		read    func(l records.Limits) (int, error)
		n       int
		perItem int64
	}{"CIFAR": {cifar, 5, 3 * 32 * 32 / 4}, "a folder": {pictures, 3, (9 + 3) / 4}} {
		if n, err := c.read(records.Limits{Values: int64(c.n) * c.perItem}); err != nil || n != c.n {
			t.Errorf("%s: %d images, %v", what, n, err)
		}
		over := new(records.LimitError)
		if _, err := c.read(records.Limits{Values: int64(c.n)*c.perItem - 1}); !errors.As(err, &over) ||
			over.Limit != "Values" {
			t.Errorf("%s: %v, want a LimitError", what, err)
		}
		wrong := (*param.Error)(nil)
		if _, err := c.read(records.Limits{Values: -1}); !errors.As(err, &wrong) {
			t.Errorf("%s: a negative limit: %v", what, err)
		}
	}
	for most, odd := range map[int]bool{file.Len(): false, file.Len() - 1: true} {
		l := records.Limits{LineBytes: most}
		if err := images.CheckFolder(files, grey, l); (err != nil) != odd ||
			odd && !strings.Contains(err.Error(), "3 of the files") {
			t.Errorf("files of %d bytes, at most %d: %v", file.Len(), most, err)
		}
	}
	if wide := records.Image(3, 4); images.CheckFolder(files, wide) == nil {
		t.Error("images of another width are read")
	}
}

// TestCIFARFiles: files that end early, are packed, or fail, and schemas of other images.
func TestCIFARFiles(t *testing.T) {
	const record = 1 + 3*32*32
	s := images.CIFAR10Schema()
	whole := make([]byte, 2*record)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(whole); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	gz := packed.Bytes()
	broken := errors.New("broken")
	for what, c := range map[string]struct {
		r    io.Reader
		n    int
		want error
	}{
		"nothing": {bytes.NewReader(nil), 0, nil}, "two": {bytes.NewReader(whole), 2, nil},
		"a byte less": {bytes.NewReader(whole[1:]), 0, records.ErrFormat},
		"a byte more": {bytes.NewReader(append(whole[:len(whole):len(whole)], 1)), 0, records.ErrFormat},
		"packed":      {bytes.NewReader(gz), 2, nil},
		"half packed": {bytes.NewReader(gz[:len(gz)/2]), 0, records.ErrFormat},
		"a head":      {bytes.NewReader(gz[:5]), 0, records.ErrFormat},
		"a reader that fails": {io.MultiReader(bytes.NewReader(whole), iotest.ErrReader(broken)), 0,
			records.ErrFormat},
	} {
		got, err := images.ReadCIFAR(c.r, s)
		if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) || err == nil && got.Len() != c.n {
			t.Errorf("%s: %v, want %v", what, err, c.want)
		}
	}
	wrong := (*param.Error)(nil)
	if _, err := images.ReadCIFAR(nil, s); !errors.As(err, &wrong) {
		t.Errorf("no reader: %v", err)
	}
	for what, s := range map[string]records.Schema{"grey": records.Image(32, 32),
		"smaller": records.RGBImage(31, 32), "narrower": records.RGBImage(32, 31), "none": {},
		"classes": records.RGBImage(32, 32).WithLabels(strings.Split("abcdefghijk", "")...)} {
		if _, err := images.OpenCIFAR(s, nil); !errors.As(err, &wrong) {
			t.Errorf("OpenCIFAR of a schema that is %s: %v", what, err)
		}
		if s.Validate() != nil {
			continue
		}
		if err := images.WriteCIFAR(io.Discard, must(records.FromBytes(s, nil))(t)); !errors.As(err,
			&wrong) {
			t.Errorf("WriteCIFAR of a schema that is %s: %v", what, err)
		}
	}
	if _, err := images.OpenCIFAR(s, []string{filepath.Join(t.TempDir(), "none")}); !errors.Is(err,
		os.ErrNotExist) {
		t.Errorf("a file that does not exist: %v", err)
	}
}
