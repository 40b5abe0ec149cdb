package records_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// cifarRecord returns the labels and three colour planes. The first pixel has the given levels, and
// all other pixels have half of them.
func cifarRecord(red, green, blue, label byte) []byte {
	out := []byte{label}
	for _, v := range []byte{red, green, blue} {
		out = append(append(out, v), bytes.Repeat([]byte{v / 2}, 1023)...)
	}
	return out
}

func TestCIFARLabels(t *testing.T) {
	for _, c := range []struct {
		schema records.Schema
		file   []byte
		labels []int32
	}{
		{records.CIFAR10Schema(), slices.Concat(cifarRecord(255, 0, 128, 9),
			cifarRecord(1, 2, 3, 0), cifarRecord(1, 2, 3, 10)), []int32{9, 0, 0}},
		{records.RGBImage(32, 32), cifarRecord(255, 0, 128, 9), nil},
	} {
		for name, wrap := range map[string]func([]byte) []byte{"plain": bytes.Clone, "gzip": gz} {
			got, err := records.ReadCIFAR(bytes.NewReader(wrap(c.file)), c.schema)
			if err != nil {
				t.Fatalf("%s: got error %v, want none", name, err)
			}
			if !slices.Equal(got.Labels(), c.labels) {
				t.Errorf("%s: got wrong labels %v", name, got.Labels())
			}
			row := got.Row(nil, 0)
			if want := []float32{1, 0, 128. / 255}; !slices.Equal(row[:3], want) || row[3] != 127./255 ||
				row[5] != 64./255 {
				t.Errorf("%s: got wrong pixels %v", name, row[:6])
			}
		}
	}
}

func TestCIFARComesBack(t *testing.T) {
	s := records.CIFAR10Schema()
	levels := make([]uint8, 2*s.Dim())
	for i := range levels {
		levels[i] = uint8(i * 31)
	}
	want := must(records.FromBytes(s, levels, 7, 2))(t)
	var file bytes.Buffer
	if err := records.WriteCIFAR(&file, want); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "batch.bin")
	save(t, path, file.Bytes())
	got := must(records.OpenCIFAR(s, []string{path, path}))(t)
	a, _ := got.Flat()
	b, _ := want.Flat()
	if !slices.Equal(a, slices.Concat(b, b)) || !slices.Equal(got.Labels(), []int32{7, 2, 7, 2}) {
		t.Errorf("got %d records with labels %v, want both files one after the other", got.Len(),
			got.Labels())
	}
}

func TestCIFARRefusals(t *testing.T) {
	s, sound := records.CIFAR10Schema(), cifarRecord(1, 2, 3, 4)
	read := func(b []byte, s records.Schema, l ...records.Limits) error {
		_, err := records.ReadCIFAR(bytes.NewReader(b), s, l...)
		return err
	}
	for what, err := range map[string]error{
		"other images": read(sound, records.RGBImage(32, 31)),
		"grey images":  read(sound, records.Image(32, 32)),
		"too many classes": read(sound,
			s.WithLabels(append(s.ClassNames(), "x")...)),
		"no records": records.WriteCIFAR(&bytes.Buffer{}, nil),
	} {
		if p := new(param.Error); !errors.As(err, &p) {
			t.Errorf("%s: got error %v, want *param.Error", what, err)
		}
	}
	if err := read(sound[:3000], s); !errors.Is(err, records.ErrFormat) {
		t.Errorf("half a record: got error %v, want ErrFormat", err)
	}
	if err := read(append(sound, 1), s); !errors.Is(err, records.ErrFormat) {
		t.Errorf("a record and a byte: got error %v, want ErrFormat", err)
	}
	err := read(slices.Concat(sound, sound), s, records.Limits{Values: 1000})
	if over := new(records.LimitError); !errors.As(err, &over) {
		t.Errorf("too many values: got error %v, want *LimitError", err)
	}
	if _, err := records.OpenCIFAR(s, []string{"nothing"}); !errors.Is(err,
		os.ErrNotExist) {
		t.Error(err)
	}
}

// TestColourImages: colour images can be written to and read from every format.
func TestColourImages(t *testing.T) {
	s := records.RGBImage(2, 3).WithLabels("a", "b")
	if s.Dim() != 18 || s.Channels() != 3 || !s.IsImage() || s.Height() != 2 || s.Width() != 3 {
		t.Errorf("got schema %v of dimension %d, want colour images of 2 × 3 pixels", s, s.Dim())
	}
	text := must(s.MarshalJSON())(t)
	var back records.Schema
	if err := back.UnmarshalJSON(text); err != nil || !back.Equal(s) ||
		back.Equal(records.Image(2, 9)) {
		t.Errorf("%s does not give the schema back: error %v", text, err)
	}
	for _, bad := range []records.Schema{records.RGBImage(0, 3), records.RGBImage(1<<15, 1<<15)} {
		if bad.Validate() == nil {
			t.Errorf("%v is valid, want an error", bad)
		}
	}
	levels := []uint8{0, 255, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	want := must(records.FromBytes(s, slices.Repeat(levels, 2), 1, 0))(t)
	flat, _ := want.Flat()
	var images, labels, array bytes.Buffer
	if err := errors.Join(records.WriteIDX(&images, &labels, want),
		records.WriteNPY(&array, want)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(array.Bytes(), []byte("(2, 2, 3, 3)")) {
		t.Error("the array does not have the axes (2, 2, 3, 3)")
	}
	for name, got := range map[string]*records.Table{
		"idx": must(records.ReadIDX(&images, &labels, s))(t),
		"npy": must(records.ReadNPY(&array, s.WithoutLabels()))(t),
		"npy of bytes": must(records.ReadNPY(bytes.NewReader(npy("|u1", "(2, 2, 3, 3)",
			slices.Repeat(levels, 2)...)), s.WithoutLabels()))(t),
	} {
		if back, _ := got.Flat(); !slices.Equal(back, flat) {
			t.Errorf("%s: got wrong values %v", name, back)
		}
	}
	if b := records.Binarize(want, 0.5); b.Schema().Kind() != records.BinaryVector ||
		b.Row(nil, 0)[1] != 1 || b.Row(nil, 0)[0] != 0 {
		t.Errorf("binarised images: got schema %v, or wrong values", b.Schema())
	}
}

func FuzzReadCIFAR(f *testing.F) {
	f.Add(cifarRecord(1, 2, 255, 9))
	f.Add(gz(cifarRecord(1, 2, 255, 3)))
	f.Add([]byte{1, 2})
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := records.ReadCIFAR(bytes.NewReader(data), records.CIFAR10Schema())
		inSchema(t, table, err)
	})
}
