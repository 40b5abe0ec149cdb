package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// output returns the text that go test prints, with times and rates multiplied by slow.
func output(cpu string, slow float64) string {
	text := "goos: linux\ngoarch: amd64\npkg: example.org/x\ncpu: " + cpu + "\n"
	for i := range 3 {
		noise := 1 + 0.01*float64(i)
		text += fmt.Sprintf("BenchmarkStep-2 \t 80 \t %g ns/op \t %g GFLOP/s \t %g cpu-ratio\n",
			1000*slow*noise, 50/slow/noise, 1.1*slow*noise)
	}
	return text + "PASS\nok  \texample.org/x\t1.2s\n"
}

// written returns the file that write makes of an output.
func written(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	var passed bytes.Buffer
	if _, err := run([]string{"write", "-dir", dir}, strings.NewReader(text), &passed); err != nil {
		t.Fatal(err)
	}
	if passed.String() != text {
		t.Errorf("the input is not copied to the output: %q", passed.String())
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		t.Fatalf("got %d files, want 1; error %v", len(files), err)
	}
	return filepath.Join(dir, files[0].Name())
}

func TestCompare(t *testing.T) {
	before := written(t, output("A", 1))
	for _, c := range []struct {
		cpu    string
		slow   float64
		slower int // number of lines about slower benchmarks
	}{{"A", 1, 0}, {"A", 1.05, 0}, {"A", 1.3, 3}, {"A", 0.7, 0}, {"B", 1.3, 1}, {"B", 0.7, 0}} {
		var out bytes.Buffer
		slower, err := run([]string{"compare", before, written(t, output(c.cpu, c.slow))}, nil, &out)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(out.String(), "slower:"); got != c.slower || slower != (c.slower > 0) {
			t.Errorf("%v: got slower %v in %d lines, want %d:\n%s", c, slower, got, c.slower, &out)
		}
	}
}

func TestMistakes(t *testing.T) {
	for _, args := range [][]string{{}, {"write", "x"}, {"compare", "a"}, {"compare", "no", "no"},
		{"write", "-dir", t.TempDir()}, {"compare", "-by", "-1", "a", "b"}} {
		if _, err := run(args, strings.NewReader("PASS\n"), &bytes.Buffer{}); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
}
