package images_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/connect/images"
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
		{images.CIFAR10Schema(), slices.Concat(cifarRecord(255, 0, 128, 9),
			cifarRecord(1, 2, 3, 0), cifarRecord(1, 2, 3, 10), cifarRecord(1, 2, 3, 12)),
			[]int32{9, 0, 0, 0}},
		{records.RGBImage(32, 32), cifarRecord(255, 0, 128, 9), nil},
	} {
		for name, wrap := range map[string]func([]byte) []byte{"plain": bytes.Clone, "gzip": gz} {
			got, err := images.ReadCIFAR(bytes.NewReader(wrap(c.file)), c.schema)
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

// TestARecordIsNoGzip: a first record that begins with the magic number of gzip is a record.
func TestARecordIsNoGzip(t *testing.T) {
	file := bytes.NewReader(cifarRecord(0x8b, 0, 0, 0x1f))
	got, err := images.ReadCIFAR(file, images.CIFAR10Schema())
	if err != nil || got.Len() != 1 {
		t.Errorf("got %v, error %v, want a record", got, err)
	}
}

func TestCIFARComesBack(t *testing.T) {
	s := images.CIFAR10Schema()
	levels := make([]uint8, 2*s.Dim())
	for i := range levels {
		levels[i] = uint8(i * 31)
	}
	want := must(records.FromBytes(s, levels, 7, 2))(t)
	var file bytes.Buffer
	if err := images.WriteCIFAR(&file, want); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "batch.bin")
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	got := must(images.OpenCIFAR(s, []string{path, path}))(t)
	a, _ := got.Flat()
	b, _ := want.Flat()
	if !slices.Equal(a, slices.Concat(b, b)) || !slices.Equal(got.Labels(), []int32{7, 2, 7, 2}) {
		t.Errorf("got %d records with labels %v, want both files one after the other", got.Len(),
			got.Labels())
	}
}

func TestCIFARRefusals(t *testing.T) {
	s, sound := images.CIFAR10Schema(), cifarRecord(1, 2, 3, 4)
	read := func(b []byte, s records.Schema, l ...records.Limits) error {
		_, err := images.ReadCIFAR(bytes.NewReader(b), s, l...)
		return err
	}
	for what, err := range map[string]error{
		"other images": read(sound, records.RGBImage(32, 31)),
		"grey images":  read(sound, records.Image(32, 32)),
		"too many classes": read(sound,
			s.WithLabels(append(s.ClassNames(), "x")...)),
		"no records": images.WriteCIFAR(&bytes.Buffer{}, nil),
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
	if _, err := images.OpenCIFAR(s, []string{"nothing"}); !errors.Is(err,
		os.ErrNotExist) {
		t.Error(err)
	}
}

func FuzzReadCIFAR(f *testing.F) {
	f.Add(cifarRecord(1, 2, 255, 9))
	f.Add(gz(cifarRecord(1, 2, 255, 3)))
	f.Add([]byte{1, 2})
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := images.ReadCIFAR(bytes.NewReader(data), images.CIFAR10Schema())
		if err != nil {
			return
		}
		if err := records.Check(table); err != nil {
			t.Error(err)
		}
	})
}

func gz(b []byte) []byte {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(b) // into memory
	_ = w.Close()
	return packed.Bytes()
}
