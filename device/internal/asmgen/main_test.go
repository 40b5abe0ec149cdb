package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestCheckedIn checks that the assembly in the repository is what this generator writes.
func TestCheckedIn(t *testing.T) {
	for _, part := range []string{"gemm", "pack", "thin", "vector"} {
		dir := t.TempDir()
		asm, stubs := filepath.Join(dir, "x.s"), filepath.Join(dir, "x.go")
		if out, err := exec.Command("go", "run", ".", "-part", part, "-out", asm, "-stubs", stubs, "-pkg", "device").CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", part, err, out)
		}
		same(t, asm, "../../"+part+"_amd64.s")
		same(t, stubs, "../../"+part+"_amd64.go")
	}
}

// same compares two files but for their first line, which holds the command that wrote them.
func same(t *testing.T, fresh, kept string) {
	t.Helper()
	a, err := os.ReadFile(fresh)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	_, a, _ = bytes.Cut(a, []byte("\n"))
	_, b, _ = bytes.Cut(b, []byte("\n"))
	if !bytes.Equal(a, b) {
		t.Errorf("%s is not what the generator writes: run go generate in package device", kept)
	}
}
