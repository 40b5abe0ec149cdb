package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed7ba64551/privgen/connect/parquet"
	"github.com/seed7ba64551/privgen/records"
)

// TestPipesOfFormatsThatSeek reads Parquet and NPZ from pipes. Their temporary file can be read by
// the user only, and is gone afterwards, even if the input is damaged or ends with an error.
func TestPipesOfFormatsThatSeek(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	t.Setenv("TMP", folder) // on Windows
	gone := func(after string) {
		t.Helper()
		if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
			t.Errorf("%s leaves %v, %v", after, left, err)
		}
	}
	table, err := records.NewSchema(records.Numeric("a", 0, 9))
	if err != nil {
		t.Fatal(err)
	}
	number := records.Interval(2, 0, 1)
	frame, err := records.FromValues(table, []any{3.0}, []any{4.0})
	if err != nil {
		t.Fatal(err)
	}
	flat, err := records.FromFlat(number, []float32{0, 1, 1, 0})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		format string
		schema records.Schema
		write  func(io.Writer) error
	}{
		{"parquet", table, func(w io.Writer) error { return parquet.WriteFrame(w, frame) }},
		{"npz", number, func(w io.Writer) error { return records.WriteNPZ(w, flat) }},
	} {
		var file bytes.Buffer
		if err := c.write(&file); err != nil {
			t.Fatal(err)
		}
		whole, cut := file.Bytes(), file.Bytes()[:file.Len()/2]
		failure := errors.New("the other end is gone")
		for name, in := range map[string]struct {
			content []byte
			end     error
			good    bool
		}{"whole": {whole, nil, true}, "cut": {cut, nil, false}, "failing": {whole, failure, false}} {
			d, err := pipeOf(t, c.format, c.schema, in.content, in.end)
			if (err == nil) != in.good || in.end != nil && !errors.Is(err, in.end) ||
				in.good && d.Len() != 2 {
				t.Errorf("%s, %s: got %v, %v", c.format, name, d, err)
			}
			gone(c.format + ", " + name)
		}
	}
	at, _, remove, err := seekable(bytes.NewReader([]byte("content")))
	if err != nil {
		t.Fatal(err)
	}
	info, err := at.(*os.File).Stat()
	if err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("the temporary file has the mode %v, %v", info.Mode(), err)
	}
	remove()
	gone("a file that was read")
}

// pipeOf reads a file from a pipe, which ends with an error unless it is nil.
func pipeOf(t *testing.T, format string, s records.Schema, content []byte,
	end error) (records.Data, error) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	go func() {
		_, _ = w.Write(content) // fails only if the reader has failed
		w.Close()
	}()
	a := &app{stdin: r}
	if end != nil {
		a.stdin = io.MultiReader(r, iotest.ErrReader(end))
	}
	return a.readAs(format, stdio, layout{}, s)
}

// TestFiguresHaveASize checks that released figures are read up to a limit only, also from a pipe.
func TestFiguresHaveASize(t *testing.T) {
	var read counter
	spaces := io.TeeReader(strings.NewReader(strings.Repeat(" ", 2*mostPlan)), &read)
	j := reportJob{app: &app{stdin: spaces}, fidelity: stdio}
	if _, err := j.openFidelity(); err == nil || read > mostPlan+1 {
		t.Errorf("%d bytes are read: %v", read, err)
	}
}

// TestFiguresHaveAGuarantee: released figures without entries that cost ε must not be shown as if
// they had cost nothing.
func TestFiguresHaveAGuarantee(t *testing.T) {
	for _, guarantee := range []string{"", `,"guarantee":null`,
		`,"guarantee":{"epsilon":0,"delta":0,"relation":"add_or_remove_one"}`} {
		j := reportJob{app: &app{stdin: strings.NewReader(`{"synthetic":9` + guarantee + `}`)},
			fidelity: stdio}
		if _, err := j.openFidelity(); err == nil {
			t.Errorf("figures%s: got %v", guarantee, err)
		}
	}
}

type counter int

func (c *counter) Write(b []byte) (int, error) { *c += counter(len(b)); return len(b), nil }
