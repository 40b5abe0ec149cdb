package cuda_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The PTX that is loaded is what the sources beside it compile to.
func TestPTXIsReproduced(t *testing.T) {
	sources, err := filepath.Glob("kernels/*.cu")
	if err != nil || len(sources) == 0 {
		t.Fatalf("%d sources: %v", len(sources), err)
	}
	for _, s := range sources {
		if _, err := os.Stat(strings.TrimSuffix(s, ".cu") + ".ptx"); err != nil {
			t.Errorf("%s was never compiled: go generate -tags cuda", s)
		}
	}
	version, err := exec.Command("clang-16", "--version").Output()
	if err != nil || !bytes.Contains(version, []byte("version 16.0.6")) {
		t.Skip("clang-16 (16.0.6) is not here: the PTX was not compared with its sources")
	}
	dir := t.TempDir()
	if out, err := exec.Command("sh", "kernels/compile.sh", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	made, err := filepath.Glob(filepath.Join(dir, "*.ptx"))
	if err != nil || len(made) != len(sources) {
		t.Fatalf("%d of %d sources compiled: %v", len(made), len(sources), err)
	}
	for _, m := range made {
		kept := filepath.Join("kernels", filepath.Base(m))
		if !bytes.Equal(read(t, m), read(t, kept)) {
			t.Errorf("%s is not what its source compiles to: go generate -tags cuda", kept)
		}
	}
}

// inexact are instructions that flush, approximate, leave fusing to the next translator,
// or add in any order.
var inexact = regexp.MustCompile(`\.ftz|\.approx|\b(add|sub|mul)\.f(32|64)|\b(atom|red)\.`)

// No kernel rounds more than IEEE arithmetic does: the bounds on norms count on that.
func TestPTXIsExact(t *testing.T) {
	files, err := filepath.Glob("kernels/*.ptx")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, f := range files {
		if bad := inexact.Find(read(t, f)); bad != nil {
			t.Errorf("%s has an instruction %s", f, bad)
		}
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
