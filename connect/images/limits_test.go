package images_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
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

// TestLimitsGrowWithTheFiles reads images with the default limits. What is allowed grows with the
// bytes of all files before unpacking, not with what was read from them.
func TestLimitsGrowWithTheFiles(t *testing.T) {
	check := func(what string, within bool, err error) {
		t.Helper()
		over := new(records.LimitError)
		if within && err != nil || !within && (!errors.As(err, &over) || over.Limit != "Values") {
			t.Errorf("%s: got error %v; want a LimitError: %v", what, err, !within)
		}
	}
	const record, fit = 1 + 3*32*32, (2 << 20) / (3 * 32 * 32 / 4) // records in 2,097,152 values
	s, folder := images.CIFAR10Schema(), t.TempDir()
	zeros := make([]byte, (fit+1)*record)
	packed, plain := filepath.Join(folder, "packed"), filepath.Join(folder, "plain")
	check("packed records", true, second(images.ReadCIFAR(bytes.NewReader(gz(zeros[:fit*record])), s)))
	check("one packed record more", false, second(images.ReadCIFAR(bytes.NewReader(gz(zeros)), s)))
	for path, file := range map[string][]byte{packed: gz(zeros[:fit*record]),
		plain: zeros[:400*record]} {
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check("a plain file and a packed one", true, second(images.OpenCIFAR(s, []string{plain, packed})))

	wide := records.RGBImage(1024, 1024) // three of them are more than 2,097,152 values
	for size, within := range map[int]bool{0: false, 1 << 18: false, 400_000: true} {
		files := fstest.MapFS{}
		for _, name := range []string{"a.png", "b.png", "c.png"} {
			files[name] = &fstest.MapFile{Data: zeros[:size]}
		}
		_, err := images.ReadFolder(files, wide)
		check(fmt.Sprintf("three files of %d bytes", size), within, err)
	}
}

// TestFilesAtTheDefaultLength: the default limit on the length of a file is 1 MiB and 16 bytes for
// each coordinate.
func TestFilesAtTheDefaultLength(t *testing.T) {
	picture := encodedImage(t, image.NewGray(image.Rect(0, 0, 3, 3)), "png")
	for extra, read := range map[int]bool{0: true, 1: false} {
		file := make([]byte, 1<<20+16*9+extra)
		copy(file, picture)
		err := images.CheckFolder(fstest.MapFS{"a.png": {Data: file}}, records.Image(3, 3))
		if (err == nil) != read {
			t.Errorf("%d bytes more than the limit: got error %v, want none: %v", extra, err, read)
		}
	}
}

// TestOddFilesAreListed lists ten of twelve files, each by its number within its class.
func TestOddFilesAreListed(t *testing.T) {
	files := fstest.MapFS{}
	for class, n := range map[string]int{"a": 4, "b": 8} {
		for i := range n {
			files[fmt.Sprintf("%s/%d.png", class, i)] = &fstest.MapFile{}
		}
	}
	err := images.CheckFolder(files, records.Image(3, 3).WithLabels("a", "b"))
	if err == nil {
		t.Fatal("files without bytes are images")
	}
	said := err.Error()
	if strings.Count(said, "of class 0") != 4 || strings.Count(said, "of class 1") != 6 ||
		!strings.Contains(said, "file 0 of class 1") || !strings.Contains(said, "12 of the files") {
		t.Errorf("got %v; want files 0 to 3 of class 0 and 0 to 5 of class 1, of 12", err)
	}
}
