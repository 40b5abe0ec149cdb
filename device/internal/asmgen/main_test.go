package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestCheckedIn checks that this generator writes the amd64 assembly in the repository.
func TestCheckedIn(t *testing.T) {
	for _, c := range []struct{ part, pkg, home string }{
		{"gemm", "device", "../.."},
		{"pack", "device", "../.."},
		{"thin", "device", "../.."},
		{"outer", "device", "../.."},
		{"vector", "device", "../.."},
		{"image", "device", "../.."},
		{"noise", "sampler", "../../../mechanism/internal/sampler"},
		{"aes", "entropy", "../../../internal/entropy"},
		{"tables", "graphical", "../../../internal/graphical"},
	} {
		dir := t.TempDir()
		asm, stubs := filepath.Join(dir, "x.s"), filepath.Join(dir, "x.go")
		if out, err := exec.Command("go", "run", ".", "-part", c.part, "-out", asm, "-stubs", stubs,
			"-pkg", c.pkg).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", c.part, err, out)
		}
		same(t, asm, filepath.Join(c.home, c.part+"_amd64.s"))
		same(t, stubs, filepath.Join(c.home, c.part+"_amd64.go"))
	}
}

// TestCheckedInNEON checks the same for arm64, whose kernels are translated from the kernels for
// amd64.
func TestCheckedInNEON(t *testing.T) {
	dir := t.TempDir()
	asm, stubs := filepath.Join(dir, "x.s"), filepath.Join(dir, "x.go")
	if err := neon("../../vector_amd64.s", asm, stubs, "device"); err != nil {
		t.Fatal(err)
	}
	same(t, asm, "../../neon_arm64.s")
	same(t, stubs, "../../neon_arm64.go")
}

// same compares two files except for their first lines. A first line contains the command that
// wrote the file.
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
		t.Errorf("%s differs from the generator's output: run go generate in its package", kept)
	}
}
