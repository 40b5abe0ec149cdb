package cuda_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPTXIsReproduced checks that the sources compile to the PTX in the repository.
func TestPTXIsReproduced(t *testing.T) {
	sources, err := filepath.Glob("kernels/*.cu")
	if err != nil || len(sources) == 0 {
		t.Fatalf("found %d sources, want some: %v", len(sources), err)
	}
	for _, s := range sources {
		if _, err := os.Stat(strings.TrimSuffix(s, ".cu") + ".ptx"); err != nil {
			t.Errorf("%s was not compiled: run go generate -tags cuda", s)
		}
	}
	version, err := exec.Command("clang-16", "--version").Output()
	if err != nil || !bytes.Contains(version, []byte("version 16.0.6")) {
		t.Skip("clang-16 (16.0.6) is not installed: the PTX was not compared with its sources")
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
			t.Errorf("%s differs from the PTX of its source: run go generate -tags cuda", kept)
		}
	}
}

// inexact matches instructions that flush subnormal numbers, approximate, may be fused by the
// driver's compiler, or add numbers that are not whole in an unspecified order.
var inexact = regexp.MustCompile(
	`\.ftz|\.approx|\b(add|sub|mul)\.f(32|64)|\b(atom|red)\.\S*\.f(16|32|64)`)

// TestPTXIsExact checks that all instructions of kernels round as in IEEE arithmetic, because the
// bounds on norms depend on it.
func TestPTXIsExact(t *testing.T) {
	files, err := filepath.Glob("kernels/*.ptx")
	if err != nil || len(files) == 0 {
		t.Fatalf("found %d PTX files, want some: %v", len(files), err)
	}
	for _, f := range files {
		if bad := inexact.Find(read(t, f)); bad != nil {
			t.Errorf("%s has the inexact instruction %s", f, bad)
		}
	}
}

// TestInstructionCounts checks that kernels have as many instructions as kernels/instructions.txt
// states, in total and in the basic block with the most multiply-adds, which is the innermost loop.
// So a kernel that becomes slower shows without a device. After a change on purpose, -update writes
// the file.
func TestInstructionCounts(t *testing.T) {
	const file = "kernels/instructions.txt"
	var got strings.Builder
	got.WriteString("# kernel, instructions, of them in the innermost loop, multiply-adds there\n")
	files, _ := filepath.Glob("kernels/*.ptx")
	for _, f := range files {
		for _, k := range entry.FindAllStringSubmatch(string(read(t, f)), -1) {
			all, loop, adds := instructions(k[2])
			fmt.Fprintf(&got, "%s %d %d %d\n", k[1], all, loop, adds)
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := string(read(t, file))
	if got.String() != want {
		t.Errorf("the kernels have other instructions than %s states:\n%s", file, got.String())
	}
}

var update = flag.Bool("update", false, "write the numbers of instructions")

var entry = regexp.MustCompile(`(?s)\.entry (\w+)\(.*?\n\{\n(.*?)\n\}\n`)

// instructions counts the instructions of a kernel and those of its basic block with the most
// multiply-adds.
func instructions(body string) (all, loop, adds int) {
	for _, b := range regexp.MustCompile(`(?m)^\$\w+:$|^.*\bbra\b.*;$`).Split(body, -1) {
		n, m := 0, 0
		for line := range strings.Lines(b) {
			line = strings.TrimSpace(line)
			if strings.HasSuffix(line, ";") && !strings.HasPrefix(line, ".") {
				n++
			}
			if strings.HasPrefix(line, "fma.rn") {
				m++
			}
		}
		all += n
		if m > adds {
			loop, adds = n, m
		}
	}
	return all + strings.Count(body, "bra"), loop, adds
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
