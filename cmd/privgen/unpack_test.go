package main

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

func packedText(t *testing.T, ending, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := packed("x"+ending, &b, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func unpackedText(in io.Reader) (string, error) {
	out, end, err := unpack(in)
	if err != nil {
		return "", err
	}
	defer end()
	text, err := io.ReadAll(out)
	return string(text), err
}

// TestUnpack: files are recognised by their content. A damaged one, and one that unpacks to too
// much, is a fault of the file. A reader's own error stays what it is.
func TestUnpack(t *testing.T) {
	text := strings.Repeat("1,2\n", 1000)
	for _, ending := range []string{"", ".gz", ".zst"} {
		whole := packedText(t, ending, text)
		if got, err := unpackedText(bytes.NewReader(whole)); got != text || err != nil {
			t.Errorf("%q: got %d bytes, %v", ending, len(got), err)
		}
		if ending == "" {
			continue
		}
		broken := bytes.Clone(whole)
		broken[len(broken)-3] ^= 1
		bomb := packedText(t, ending, strings.Repeat("0", 9<<20))
		for name, content := range map[string][]byte{"cut": whole[:len(whole)-5], "changed": broken,
			"bomb": bomb} {
			var f *fault
			if got, err := unpackedText(bytes.NewReader(content)); !errors.As(err, &f) {
				t.Errorf("%q, %s: got %d bytes, %v, want a fault", ending, name, len(got), err)
			} else if int64(len(got)) > (records.Limits{}).UnpackedFor(int64(len(content))) {
				t.Errorf("%q, %s: %d bytes come before the fault", ending, name, len(got))
			}
		}
		gone := errors.New("gone")
		in := io.MultiReader(bytes.NewReader(whole[:len(whole)-5]), failing{gone})
		if _, err := unpackedText(in); !errors.Is(err, gone) {
			t.Errorf("%q: got %v, want the reader's error", ending, err)
		}
	}
	for _, text := range []string{"", "\x1f\x8b,1,2,3,4,5\n", "(\xb5/\xfd\x08,1\n"} {
		if got, err := unpackedText(strings.NewReader(text)); got != text || err != nil {
			t.Errorf("%q, which is not packed: got %q, %v", text, got, err)
		}
	}
}

type failing struct{ error }

func (f failing) Read([]byte) (int, error) { return 0, f.error }

// TestPackedFiles: every format may be packed, whatever its name, and samples are packed by name.
func TestPackedFiles(t *testing.T) {
	s := fitted(t)
	var want string
	for _, name := range []string{"a.csv", "a.csv.gz", "a.csv.zst", "a.jsonl.zst", "a.parquet.gz",
		"a.xlsx.zst"} {
		s.run(0, "sample", "people.gen", "-n", "40", "--seed", "1", "-o", name)
		got := s.run(0, "check", "schema.json", name, "--json").stdout
		if want == "" {
			want = got
		}
		if !strings.Contains(got, `"records": 40`) || got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	s.write("renamed.csv", s.read("a.csv.zst"))
	if got := s.run(0, "check", "schema.json", "renamed.csv", "--json").stdout; got != want {
		t.Errorf("a packed file of another name: %s", got)
	}
	s.write("cut.csv.gz", s.read("a.csv.gz")[:60])
	s.oneLine(s.run(exitInput, "check", "schema.json", "cut.csv.gz"), "cut.csv.gz", "ends early")
}
