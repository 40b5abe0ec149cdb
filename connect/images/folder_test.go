package images_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/seed7ba64551/privgen/connect/images"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// TestFailedFoldersLeaveNothing: after an error the folder holds what it held before.
func TestFailedFoldersLeaveNothing(t *testing.T) {
	s := records.Image(4, 2).WithLabels("cat", "a dog", "cow")
	table := must(records.FromBytes(s, someLevels(3*s.Dim()), 0, 0, 1))(t)
	folder := filepath.Join(t.TempDir(), "new")
	there := filepath.Join(folder, "a dog", "000002.png")
	if err := os.MkdirAll(filepath.Dir(there), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(there, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := images.WriteFolder(folder, table); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got error %v, want ErrExist", err)
	}
	classes := must(os.ReadDir(folder))(t)
	b, err := os.ReadFile(there)
	if len(classes) != 1 || string(b) != "mine" {
		t.Errorf("the folder holds %v, and the file %q, %v", classes, b, err)
	}
}

// someLevels returns n bytes, among them 0 and 255.
func someLevels(n int) []uint8 {
	out := make([]uint8, n)
	for i := range out {
		out[i] = uint8(i * 37)
	}
	out[0], out[1] = 0, 255
	return out
}

func sameTable(t *testing.T, what any, got, want *records.Table) {
	t.Helper()
	a, _ := got.Flat()
	b, _ := want.Flat()
	if !got.Schema().Equal(want.Schema()) || !slices.Equal(a, b) ||
		!slices.Equal(got.Labels(), want.Labels()) {
		t.Errorf("%v: got %v with labels %v, want %v with labels %v",
			what, a, got.Labels(), b, want.Labels())
	}
}

func TestImagesComeBack(t *testing.T) {
	for _, s := range []records.Schema{records.RGBImage(3, 5), records.Image(4, 2),
		records.BinaryImage(2, 3)} {
		for _, s := range []records.Schema{s, s.WithLabels("cat", "a dog")} {
			var labels []int32
			if s.Classes() > 0 {
				labels = []int32{0, 0, 1}
			}
			want := must(records.FromBytes(s, someLevels(3*s.Dim()), labels...))(t)
			folder := t.TempDir()
			if err := images.WriteFolder(folder, want); err != nil {
				t.Fatal(err)
			}
			sameTable(t, s, must(images.ReadFolder(os.DirFS(folder), s))(t), want)
			if err := images.CheckFolder(os.DirFS(folder), s); err != nil {
				t.Error(err)
			}
			if err := images.WriteFolder(folder, want); !errors.Is(err, fs.ErrExist) {
				t.Errorf("WriteFolder into a folder with records: got error %v, want ErrExist", err)
			}
		}
	}
}

func encodedImage(t testing.TB, m image.Image, as string) []byte {
	t.Helper()
	var out bytes.Buffer
	var err error
	if as == "jpeg" {
		err = jpeg.Encode(&out, m, &jpeg.Options{Quality: 100})
	} else {
		err = png.Encode(&out, m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestImagePixels reads PNG files in several pixel formats, and a JPEG file. Transparent pixels are
// drawn on black.
func TestImagePixels(t *testing.T) {
	frame := image.Rect(0, 0, 1, 1)
	wide, grey, deep := image.NewNRGBA64(frame), image.NewGray(frame), image.NewGray16(frame)
	wide.SetNRGBA64(0, 0, color.NRGBA64{0xffff, 0x8080, 0x0000, 0xffff})
	clear := image.NewNRGBA(frame)
	clear.SetNRGBA(0, 0, color.NRGBA{255, 255, 0, 51})
	grey.SetGray(0, 0, color.Gray{77})
	deep.SetGray16(0, 0, color.Gray16{77 * 257})
	few := image.NewPaletted(frame, color.Palette{color.Black, color.RGBA{9, 8, 7, 255}})
	few.SetColorIndex(0, 0, 1)
	for _, c := range []struct {
		m              image.Image
		colours, grey8 []uint8
	}{
		{wide, []uint8{255, 128, 0}, []uint8{151}}, {clear, []uint8{51, 51, 0}, []uint8{45}},
		{grey, []uint8{77, 77, 77}, []uint8{77}}, {deep, []uint8{77, 77, 77}, []uint8{77}},
		{few, []uint8{9, 8, 7}, []uint8{8}},
	} {
		folder := fstest.MapFS{"x.PNG": {Data: encodedImage(t, c.m, "png")}}
		for _, want := range []*records.Table{
			must(records.FromBytes(records.RGBImage(1, 1), c.colours))(t),
			must(records.FromBytes(records.Image(1, 1), c.grey8))(t)} {
			sameTable(t, c.m, must(images.ReadFolder(folder, want.Schema()))(t), want)
		}
	}
	red := image.NewRGBA(image.Rect(0, 0, 8, 8))
	for i := range 64 {
		red.Set(i%8, i/8, color.RGBA{200, 30, 60, 255})
	}
	folder := fstest.MapFS{"x.jpeg": {Data: encodedImage(t, red, "jpeg")}}
	got := must(images.ReadFolder(folder, records.RGBImage(8, 8)))(t).Row(nil, 0)[27:30]
	for c, want := range []float32{200, 30, 60} {
		if d := got[c]*255 - want; d*d > 4 {
			t.Errorf("a pixel (200, 30, 60) of a JPEG file is read as 255 times %v", got[:3])
		}
	}
}

// pngBomb returns the start of a PNG file that declares side×side pixels.
func pngBomb(side uint32) []byte {
	head := binary.BigEndian.AppendUint32(nil, side)
	head = append(binary.BigEndian.AppendUint32(head, side), 8, 2, 0, 0, 0)
	chunk := append([]byte("IHDR"), head...)
	out := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), chunk...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(chunk))
}

// TestImageFilesAreReadOneByOne: a damaged file does not change how other files are read.
func TestImageFilesAreReadOneByOne(t *testing.T) {
	s := records.RGBImage(2, 2).WithLabels("a", "b")
	picture := image.NewNRGBA(image.Rect(0, 0, 2, 2))
	for i := range picture.Pix {
		picture.Pix[i] = 255
	}
	sound := encodedImage(t, picture, "png")
	other := encodedImage(t, image.NewGray(image.Rect(0, 0, 3, 2)), "png")
	broken := bytes.Clone(sound)
	broken[len(broken)-20] ^= 1
	folder := fstest.MapFS{
		"a/2.png": {Data: sound}, "a/0.png": {Data: broken}, "a/1.jpg": {Data: other},
		"a/3.png": {}, "a/4.png": {Data: pngBomb(1 << 30)}, "a/5.png": {Data: sound[:30]},
		"a/6.png":    {Data: append(bytes.Clone(sound), make([]byte, 2<<20)...)},
		"a/readme":   {Data: sound},
		"a/in/0.png": {Data: sound}, "b/9.png": {Data: sound}, "c/0.png": {Data: sound},
	}
	got := must(images.ReadFolder(folder, s))(t)
	ones, zeros := slices.Repeat([]uint8{255}, 12), make([]uint8, 12)
	want := must(records.FromBytes(s, slices.Concat(zeros, zeros, ones, zeros, zeros, zeros, zeros,
		ones), 0, 0, 0, 0, 0, 0, 0, 1))(t)
	sameTable(t, "a folder", got, want)
	err := images.CheckFolder(folder, s)
	if !errors.Is(err, records.ErrFormat) {
		t.Fatal(err)
	}
	for _, says := range []string{"6 of the files", "file 0 of class 0: not a valid",
		"file 1 of class 0: an image", "file 6 of class 0: the file is too long"} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("%v does not say %q", err, says)
		}
	}
}

// TestAnnouncedImageSizesCostNothing: memory depends on the schema, not on the size that a file
// declares.
func TestAnnouncedImageSizesCostNothing(t *testing.T) {
	folder := fstest.MapFS{}
	for i := range 50 {
		folder[string(rune('a'+i))+".png"] = &fstest.MapFile{Data: pngBomb(60_000)}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	must(images.ReadFolder(folder, records.RGBImage(8, 8)))(t)
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 8<<20 {
		t.Errorf("reading 50 files of 33 bytes allocates %d MB, want at most 8",
			(after.TotalAlloc-before.TotalAlloc)>>20)
	}
}

func TestImageLimits(t *testing.T) {
	folder := fstest.MapFS{}
	black := encodedImage(t, image.NewGray(image.Rect(0, 0, 64, 64)), "png")
	for _, name := range []string{"a.png", "b.png", "c.png"} {
		folder[name] = &fstest.MapFile{Data: black}
	}
	s := records.RGBImage(64, 64)
	_, err := images.ReadFolder(folder, s, records.Limits{Values: 2 * 64 * 64})
	if over := new(records.LimitError); !errors.As(err, &over) || over.Limit != "Values" {
		t.Error(err)
	}
	got := must(images.ReadFolder(folder, s, records.Limits{LineBytes: 10}))(t)
	if got.Len() != 3 || images.CheckFolder(folder, s, records.Limits{LineBytes: 10}) == nil {
		t.Error("files longer than Limits.LineBytes change the number of records, or Check accepts them")
	}
}

func TestImageArguments(t *testing.T) {
	folder, s := fstest.MapFS{}, records.RGBImage(2, 2)
	wrong := func(what string, err error) {
		t.Helper()
		if p := new(param.Error); !errors.As(err, &p) {
			t.Errorf("%s: got error %v, want *param.Error", what, err)
		}
	}
	wrong("vectors", second(images.ReadFolder(folder, records.Binary(4))))
	wrong("no folder", second(images.ReadFolder(nil, s)))
	wrong("no schema", second(images.ReadFolder(folder, records.Schema{})))
	wrong("limits", second(images.ReadFolder(folder, s, records.Limits{LineBytes: -1})))
	for _, class := range []string{"..", "a/b", ".", "a\\b", "c:"} {
		wrong(class, second(images.ReadFolder(folder, s.WithLabels(class))))
		odd := must(records.FromBytes(s.WithLabels(class), someLevels(12), 0))(t)
		wrong(class, images.WriteFolder(t.TempDir(), odd))
	}
	wrong("no records", images.WriteFolder(t.TempDir(), nil))
	if _, err := images.ReadFolder(folder, s.WithLabels("a")); !errors.Is(err, records.ErrFormat) {
		t.Errorf("no folder for a class: got error %v, want ErrFormat", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	table := must(records.FromBytes(s, someLevels(12)))(t)
	if err := images.WriteFolder(file, table); err == nil {
		t.Error("WriteFolder accepts a file as its folder")
	}
	if got := must(images.ReadFolder(folder, s))(t); got.Len() != 0 {
		t.Error("an empty folder gives records")
	}
}

func FuzzReadImages(f *testing.F) {
	picture := image.NewNRGBA(image.Rect(0, 0, 4, 3))
	f.Add(encodedImage(f, picture, "png"))
	f.Add(encodedImage(f, picture, "jpeg"))
	f.Add(pngBomb(4))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, s := range []records.Schema{records.RGBImage(3, 4), records.BinaryImage(3, 4)} {
			got, err := images.ReadFolder(fstest.MapFS{"x.png": {Data: data}}, s)
			if err != nil {
				t.Fatal(err)
			}
			row := got.Row(nil, 0)
			for _, v := range row {
				if !(v >= 0 && v <= 1) {
					t.Fatalf("got row %v, want values in [0, 1]", row)
				}
			}
			if images.CheckFolder(fstest.MapFS{"x.png": {Data: data}}, s) != nil && slices.Max(row) != 0 {
				t.Fatal("a damaged file is not read as zeros")
			}
		}
	})
}

func must[T any](v T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func second[T any](_ T, err error) error { return err }
