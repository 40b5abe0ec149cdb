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
// it calls, and none in a function that no test calls. Changes that do not compile are left out. A
// second run plants only the changes that survived in the first.
func TestAutomatic(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module small\n\ngo 1.26\n",
		"small.go": `package small

import "errors"

func noise(n int) int { return n * n }

func forgotten(n, scale int) (int, error) {
	n -= scale
	return n, check(n, scale)
}

func check(a, b int) error { return nil }

var square = [...]int{(1): 5} // an index must be constant

func largest(list []int) (n int) {
	for _, x := range append([]int{1, 2}, list...) {
		if x < 0 {
			break
		}
		n = max(n, x)
	}
	return n
}

func both(a, b error) error { return errors.Join(a, b) }
`,
		"small_test.go": `package small

import (
	"errors"
	"testing"
)

func TestLargest(t *testing.T) {
	if a, b := largest([]int{3, -1, 9}), largest(nil); a != 3 || b != 2 {
		t.Error(a, b)
	}
	if both(errors.New("a"), nil) == nil || both(nil, errors.New("b")) == nil {
		t.Error("no error")
	}
}

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
	for _, want := range []string{"small.go:8: not reached by a test: dropped: n -= scale",
		"small.go:9: not reached by a test: forgotten: check(n, scale)",
		"small.go:17: SURVIVED: first element left out: []int{1, 2}",
		"small.go:8: not reached by a test: done twice: n -= scale", "changes planted, 10 survived"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("there is no %q in\n%s", want, out.String())
		}
	}
	for _, caught := range []string{"dropped: break", "min and max", "left out: a", "left out: b",
		"second element"} {
		if strings.Contains(out.String(), caught) {
			t.Errorf("%s survives:\n%s", caught, out.String())
		}
	}
	a.again = out.String()
	out.Reset()
	if err := a.run(t.Context()); err != nil || !strings.Contains(out.String(),
		": 10 of ") || !strings.Contains(out.String(), "changes planted, 10 survived") {
		t.Errorf("the survivors once more: %v\n%s", err, out.String())
	}
}

// TestPrograms plants the changes of a program whose test builds it and runs it.
func TestPrograms(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module small\n\ngo 1.26\n",
		"main.go": `package main

import "os"

func main() {
	if len(os.Args) > 1 {
		os.Exit(code())
	}
}

func code() int { return 3 }
`,
		"main_test.go": `package main

import (
	"os/exec"
	"path/filepath"
	"testing"
)

func TestProgram(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	ended := exec.Command(program, "x")
	if err := ended.Run(); err == nil || ended.ProcessState.ExitCode() != 3 {
		t.Error(err)
	}
	if err := exec.Command(program).Run(); err != nil {
		t.Error(err)
	}
}
`} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	a := &automatic{root: root, in: ".", tests: []string{"."}, chosen: regexp.MustCompile(""),
		files: regexp.MustCompile(""), limit: time.Minute, sample: 1000, out: &out}
	if err := a.run(t.Context()); err != nil ||
		!strings.Contains(out.String(), " changes planted, 0 survived") {
		t.Errorf("%v\n%s", err, out.String())
	}
}
