package parquet_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/connect/parquet"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// TestGroupsComeInOrder checks that groups come in the order of the file, however many of them are
// read concurrently. It also stops before the last group, and reads two of the columns.
func TestGroupsComeInOrder(t *testing.T) {
	s := people(t)
	f := drawn(t, s, 2<<17+10)
	data := written(t, f)
	want := cellsOf(f)
	for _, workers := range []int{1, 2, 7} {
		var got strings.Builder
		var sizes []int
		for part, err := range parquet.Groups(bytes.NewReader(data), int64(len(data)), s, workers) {
			part := must(part, err)(t)
			got.WriteString(cellsOf(part))
			sizes = append(sizes, part.Len())
		}
		if got.String() != want || len(sizes) != 3 || sizes[2] != 10 {
			t.Errorf("with %d workers: other records, or sizes of groups: %v", workers, sizes)
		}
	}
	for range parquet.Groups(bytes.NewReader(data), int64(len(data)), s, 3) {
		break // Groups then waits for the groups that are being read
	}
	two := must(records.NewSchema(s.Columns()[6], s.Columns()[1]))(t)
	for part, err := range parquet.Groups(bytes.NewReader(data), int64(len(data)), two, 2) {
		if part := must(part, err)(t); part.Level(0, 0) != f.Level(0, 6) {
			t.Error("the first of two columns read differs from the one written")
		}
		break
	}
}

func TestGroupsRefuse(t *testing.T) {
	s := people(t)
	data := written(t, drawn(t, s, 5000))
	first := func(data []byte, workers int, limits ...records.Limits) error {
		for _, err := range parquet.Groups(bytes.NewReader(data), int64(len(data)), s, workers,
			limits...) {
			return err
		}
		return nil
	}
	if p := new(param.Error); !errors.As(first(data, 0), &p) {
		t.Error("Groups accepts 0 workers")
	}
	few := records.Limits{Values: 100}
	if over := new(records.LimitError); !errors.As(first(data, 1, few), &over) {
		t.Error("Groups accepts more values than the limit")
	}
	broken := bytes.Clone(data)
	for i := 100; i < 4000; i++ {
		broken[i] ^= 0x5a
	}
	if err := first(broken, 2); !errors.Is(err, records.ErrFormat) {
		t.Errorf("damaged pages: got %v, want records.ErrFormat", err)
	}
}

func TestDataset(t *testing.T) {
	s := people(t)
	f := drawn(t, s, 250)
	folder := filepath.Join(t.TempDir(), "people")
	d := parquet.Dataset{Name: "Made \"up\"\n: people", ShardRows: 100, Tags: []string{"synthetic"},
		Text: "ε is 1."}
	err := parquet.WriteDataset(folder, d, s, parts(f.Slice(0, 130), f.Slice(130, 250)))
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for i, name := range []string{"train-00000-of-00003", "train-00001-of-00003",
		"train-00002-of-00003"} {
		shard := must(parquet.OpenFrame(filepath.Join(folder, "data", name+".parquet"), s))(t)
		got.WriteString(cellsOf(shard))
		if want := []int{100, 100, 50}[i]; shard.Len() != want {
			t.Errorf("%s holds an unexpected number of records: %d", name, shard.Len())
		}
	}
	if got.String() != cellsOf(f) {
		t.Error("the records differ after reading")
	}
	text := string(must(os.ReadFile(filepath.Join(folder, "README.md")))(t))
	for _, part := range []string{"---\npretty_name: \"Made \\\"up\\\"\\n: people\"\n",
		"\ntags:\n- \"synth",
		"path: \"data/train-*\"", "  - name: \"age\"\n    dtype: int64\n",
		"\n---\n\n# Made \"up\" : people\n\nε is 1.\n"} {
		if !strings.Contains(text, part) {
			t.Errorf("the data set's README.md does not contain %q:\n%s", part, text)
		}
	}
	if err := parquet.WriteDataset(folder, d, s, parts(f)); !errors.Is(err, fs.ErrExist) {
		t.Errorf("writing into a folder that holds a data set: got %v, want fs.ErrExist", err)
	}
	none := filepath.Join(t.TempDir(), "none")
	if err := parquet.WriteDataset(none, parquet.Dataset{Split: "test"}, s, parts()); err != nil {
		t.Fatal(err)
	}
	empty := must(parquet.OpenFrame(filepath.Join(none, "data", "test-00000-of-00001.parquet"), s))(t)
	if empty.Len() != 0 {
		t.Error("a data set written without records has records")
	}
}

func TestDatasetRefuses(t *testing.T) {
	s := people(t)
	f := drawn(t, s, 5)
	wrong := func(what string, err error) {
		t.Helper()
		if p := new(param.Error); !errors.As(err, &p) {
			t.Errorf("%s: got %v, want a *param.Error", what, err)
		}
	}
	folder := filepath.Join(t.TempDir(), "d")
	wrong("a path as split",
		parquet.WriteDataset(folder, parquet.Dataset{Split: "../x"}, s, parts(f)))
	wrong("a negative size",
		parquet.WriteDataset(folder, parquet.Dataset{ShardRows: -1}, s, parts(f)))
	wrong("a schema of vectors",
		parquet.WriteDataset(folder, parquet.Dataset{}, records.Binary(2), parts(f)))
	if _, err := os.Stat(folder); err == nil {
		t.Error("WriteDataset created a folder although an argument is wrong")
	}
	wrong("a nil part", parquet.WriteDataset(folder, parquet.Dataset{}, s, parts(nil)))
	broken := errors.New("no more")
	unfinished := filepath.Join(t.TempDir(), "e")
	err := parquet.WriteDataset(unfinished, parquet.Dataset{ShardRows: 2}, s,
		func(yield func(records.Data, error) bool) { _ = yield(f, nil) && yield(nil, broken) })
	if !errors.Is(err, broken) {
		t.Error(err)
	}
	for _, path := range []string{folder, unfinished} {
		if _, err := os.Stat(filepath.Join(path, "README.md")); err == nil {
			t.Errorf("%s: an incomplete data set has a README.md", path)
		}
	}
	wrong("no parts", parquet.WriteDataset(folder, parquet.Dataset{}, s, nil))
}

// TestDatasetOfNamesTaken: a data set of which a file cannot be created, named or described is an
// error, and has no description.
func TestDatasetOfNamesTaken(t *testing.T) {
	s := people(t)
	f := drawn(t, s, 5)
	for _, taken := range []string{"data/train-00000.parquet", "data/train-00001.parquet",
		"data/train-00002.parquet", "data/train-00000-of-00003.parquet/x",
		"data/train-00002-of-00003.parquet/x", "data"} {
		folder := t.TempDir()
		path := filepath.Join(folder, filepath.FromSlash(taken))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		err := parquet.WriteDataset(folder, parquet.Dataset{ShardRows: 2}, s, parts(f))
		if _, described := os.Stat(filepath.Join(folder, "README.md")); err == nil || described == nil {
			t.Errorf("%s is taken: %v, described %t", taken, err, described == nil)
		}
	}
}

// TestDatasetReplacesNothing: files of the data set's split that are there are kept, also without
// a card.
func TestDatasetReplacesNothing(t *testing.T) {
	s := people(t)
	f := drawn(t, s, 50)
	for _, name := range []string{"train-00000-of-00001.parquet", "train-00000-of-00002.parquet"} {
		folder := filepath.Join(t.TempDir(), "set[1]")
		mine := filepath.Join(folder, "data", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(mine), 0o700),
			os.WriteFile(mine, []byte("mine"), 0o600)); err != nil {
			t.Fatal(err)
		}
		err := parquet.WriteDataset(folder, parquet.Dataset{}, s, parts(f))
		if got, _ := os.ReadFile(mine); string(got) != "mine" || !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: %v, and the file has %d bytes", name, err, len(got))
		}
		if err := parquet.WriteDataset(folder, parquet.Dataset{Split: "test"}, s, parts(f)); err != nil {
			t.Errorf("another split: %v", err)
		}
	}
}
