package main

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/lab/internal/rivals"
	"github.com/seed7ba64551/privgen/lab/internal/runs"
	"github.com/seed7ba64551/privgen/records"
)

// TestMain adds a set and two systems. It is also the program of the processes that a run starts.
func TestMain(m *testing.M) {
	sets = append(sets, set{name: "tiny", train: "rows.csv", schema: "own.json", header: true})
	systems = append(systems,
		system{name: "copy", command: func(ctx context.Context, _ string, j rivals.Job) *exec.Cmd {
			return exec.CommandContext(ctx, os.Args[0], "-copy", j.Train, j.Out)
		}},
		system{name: "slow", command: func(ctx context.Context, _ string, j rivals.Job) *exec.Cmd {
			return exec.CommandContext(ctx, os.Args[0], "-wait")
		}},
		system{name: "broken", command: func(ctx context.Context, _ string, j rivals.Job) *exec.Cmd {
			return exec.CommandContext(ctx, os.Args[0], "-copy", "nothing", j.Out)
		}})
	switch args := append(os.Args, "", ""); args[1] {
	case "-step":
		main()
	case "-copy":
		rows, err := os.ReadFile(args[2])
		if err == nil {
			err = os.WriteFile(args[3], rows, 0o600)
		}
		if err != nil {
			os.Exit(1)
		}
	case "-wait":
		time.Sleep(time.Minute)
	default:
		os.Exit(m.Run())
	}
}

// data writes a small set to a data directory.
func data(t *testing.T, target bool) string {
	t.Helper()
	last := records.Label("class", "no", "yes")
	if target {
		last = records.Target("amount", -3, 3)
	}
	s, err := records.NewSchema(records.Numeric("a", 0, 1), records.Integer("b", 0, 9),
		records.Categorical("c", "x", "y", "z"), last)
	if err != nil {
		t.Fatal(err)
	}
	b, err := records.NewFrameBuilder(s)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		a, level := rng.Float64(), rng.IntN(3)
		var y any = []string{"no", "yes"}[rng.IntN(10)/9]
		if a > 0.5 {
			y = "yes"
		}
		if target {
			y = 2*a + 0.1*rng.NormFloat64() - float64(level)
		}
		if err := b.Append(a, rng.IntN(10), string(rune('x'+level)), y); err != nil {
			t.Fatal(err)
		}
	}
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "tiny"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := rivals.SaveSchema(filepath.Join(folder, "tiny", "own.json"), s); err != nil {
		t.Fatal(err)
	}
	if err := rivals.SaveRows(filepath.Join(folder, "tiny", "rows.csv"), b.Frame()); err != nil {
		t.Fatal(err)
	}
	return folder
}

func start(t *testing.T, args ...string) *runs.File {
	t.Helper()
	results := ""
	for i, a := range args {
		if a == "-results" {
			results = args[i+1]
		}
	}
	if err := run(t.Context(), append(args, "-sets", "tiny")); err != nil {
		t.Fatal(err)
	}
	f, err := runs.Open(results, measureNames())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// measured returns a measure of a run by its name.
func measured(r runs.Run, name string) float64 {
	for i, m := range measures {
		if m.name == name {
			return r.Measures[i]
		}
	}
	panic(name)
}

// TestWholeRuns runs a set with a class and one with a target: a system that returns the training
// rows has their measures, time and memory are measured, a system of this library runs, and one
// that takes too long has a line without measures. A second call repeats nothing.
func TestWholeRuns(t *testing.T) {
	for name, target := range map[string]bool{"class": false, "target": true} {
		t.Run(name, func(t *testing.T) {
			folder, results := data(t, target), filepath.Join(t.TempDir(), "r.csv")
			page := filepath.Join(t.TempDir(), "p.md")
			args := []string{"-data", folder, "-systems", "real,copy,mst,dpmm-mst",
				"-rows", "350", "-results", results, "-page", page}
			if target {
				args[3] = "real,copy"
			}
			f := start(t, args...)
			if !target {
				f = start(t, append(args[:len(args):len(args)], "-systems", "slow", "-limit", "50ms")...)
			}
			checkWholeRun(t, f, target)
			if err := os.RemoveAll(folder); err != nil {
				t.Fatal(err)
			}
			if again := start(t, args...); len(again.Runs) != len(f.Runs) {
				t.Errorf("a second call has %d lines, want %d", len(again.Runs), len(f.Runs))
			}
			if text, err := os.ReadFile(page); err != nil || !target &&
				!strings.Contains(string(text), "\nslow: 1 of 1 runs reached the time limit.\n") {
				t.Errorf("the page does not name the slow system: %v\n%s", err, text)
			}
		})
	}
}

func checkWholeRun(t *testing.T, f *runs.File, target bool) {
	t.Helper()
	by := map[string]runs.Run{}
	for _, r := range f.Runs {
		by[r.System] = r
	}
	for _, name := range []string{"boosting", "network", "queries", "pairs", "shapes", "trends"} {
		a, b := measured(by["real"], name), measured(by["copy"], name)
		if a != b || math.IsNaN(a) || a < 0 || a > 1 {
			t.Errorf("%s is %g for real rows and %g for their copy", name, a, b)
		}
	}
	if r := by["copy"]; r.Table != "tiny@350" || r.Epsilon != 1 || by["real"].Epsilon != 0 ||
		measured(r, "wall_s") <= 0 || measured(r, "memory_mib") < 1 ||
		!math.IsNaN(measured(by["real"], "wall_s")) || !math.IsNaN(measured(r, "sdmetrics")) {
		t.Errorf("unexpected lines %v", f.Runs)
	}
	if target {
		return
	}
	if _, ok := by["dpmm-mst"]; ok || len(f.Runs) != 4 {
		t.Errorf("%d lines, want 4 without a system that needs a Python", len(f.Runs))
	}
	if pairs := measured(by["mst"], "pairs"); !(pairs > 0 && pairs < 1) ||
		lateRuns(runs.Group{Runs: []runs.Run{by["slow"]}}) != 1 {
		t.Errorf("unexpected lines %v", f.Runs)
	}
}

// TestStoppedRunGoesOn: lines that are there are kept, and only what is missing is run. A system
// that fails has no line and does not stop the others.
func TestStoppedRunGoesOn(t *testing.T) {
	folder, results := data(t, true), filepath.Join(t.TempDir(), "r.csv")
	f := &runs.File{}
	first := runs.Key{Table: "tiny", System: "copy", Epsilon: 1}
	if f, _ = runs.Open(results, measureNames()); f.Add(runs.Run{Key: first,
		Measures: make([]float64, len(measures))}) != nil {
		t.Fatal("no line was added")
	}
	err := run(t.Context(), []string{"-data", folder, "-sets", "tiny", "-systems", "broken,copy",
		"-seeds", "2", "-results", results})
	if err == nil || !strings.Contains(err.Error(), "tiny: broken, ε = 1, seed 0: ") {
		t.Errorf("err = %v, want that of the broken system", err)
	}
	f, err = runs.Open(results, measureNames())
	if err != nil || len(f.Runs) != 2 || f.Runs[0].Measures[0] != 0 || f.Runs[1].Seed != 1 ||
		f.Runs[1].Measures[0] == 0 {
		t.Errorf("got %v, %v, want the old line and one more", f.Runs, err)
	}
}

// TestPage checks means, spreads, bold figures (all that print like the best), and what the page
// says about what is absent. Text above the marker stays.
func TestPage(t *testing.T) {
	f, path := &runs.File{}, filepath.Join(t.TempDir(), "page.md")
	add := func(system string, seed uint64, value float64) {
		r := runs.Run{Key: runs.Key{Table: "tiny", System: system, Epsilon: 1, Seed: seed}}
		for range measures {
			r.Measures = append(r.Measures, value)
		}
		if system == real {
			r.Epsilon = 0
		}
		if err := f.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	add("mst", 0, 0.25)
	add("mst", 1, 0.35)
	add("aim", 0, 0.5)
	add(real, 0, 10.75)
	add("slow", 0, math.NaN())
	old := "# Mine\n\nText.\n\n" + marker + "\nold\n"
	if err := os.WriteFile(path, []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writePage(path, f); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join("testdata", "page.md"))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(text); got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
