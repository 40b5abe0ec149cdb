package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestAutomatic plants every change of a small module: a test detects the one in the function that
// it calls, and none in a function that no test calls. Changes that do not compile are left out.
func TestAutomatic(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module small\n\ngo 1.26\n",
		"small.go": `package small

func noise(n int) int { return n * n }

func forgotten(n, scale int) (int, error) {
	n -= scale
	return n, check(n, scale)
}

func check(a, b int) error { return nil }

var square = [...]int{(1): 5} // an index must be constant
`,
		"small_test.go": `package small

import "testing"

func TestNoise(t *testing.T) {
	if got := noise(3); got != 9 {
		t.Error(got)
	}
}
`} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	a := &automatic{root: root, in: ".", tests: []string{"."}, chosen: regexp.MustCompile(""),
		files:  regexp.MustCompile(""),
		limit:  time.Minute,
		sample: 1000, out: &out}
	if err := a.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"small.go:6: not reached by a test: dropped: n -= scale",
		"small.go:7: not reached by a test: forgotten: check(n, scale)",
		"3 of 3 changes planted, 2 survived"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("there is no %q in\n%s", want, out.String())
		}
	}
}
