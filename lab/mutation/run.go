package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/cpu"
)

// The outcomes for a mutant.
const (
	caught    = "caught"
	explained = "survived with an explanation"
	survived  = "SURVIVED"
	broken    = "DOES NOT COMPILE"
	timedOut  = "TIMED OUT"
	failed    = "COULD NOT BE PLANTED"
)

// A result is the outcome of the tests for one mutant.
type result struct {
	Name       string
	Where      string
	Why        string
	Outcome    string
	By         []string `json:",omitempty"` // the tests that failed
	Equivalent string   `json:",omitempty"`
	Detail     string   `json:",omitempty"`
	Seconds    float64
}

// A suite runs mutants one after another.
type suite struct {
	root     string
	tree     tree
	limit    time.Duration
	out      io.Writer
	baseline map[string]error // results without a fault, by package and expressions
	scratch  string
}

func (s *suite) close() { os.RemoveAll(s.scratch) }

func (s *suite) run(ctx context.Context, list []mutant) (results []result) {
	for i, m := range list {
		if ctx.Err() != nil {
			break
		}
		start := time.Now()
		r := s.plant(ctx, m)
		r.Name, r.Why, r.Seconds = m.Name, m.Why, time.Since(start).Seconds()
		results = append(results, r)
		fmt.Fprintf(s.out, "%3d/%d %5.1fs  %-8s  %s", i+1, len(list), r.Seconds, r.Outcome, m.Name)
		if len(r.By) > 0 {
			fmt.Fprintf(s.out, "  (%s)", strings.Join(r.By[:min(len(r.By), 3)], ", "))
		}
		fmt.Fprintln(s.out)
	}
	return results
}

// plant runs the tests of one mutant, first without the fault.
func (s *suite) plant(ctx context.Context, m mutant) result {
	at, err := s.tree.find(m)
	if err != nil {
		return result{Outcome: failed, Detail: err.Error() + "\n"}
	}
	r := result{Where: at.String()}
	sets := m.Tests
	dir := path.Dir(at.file)
	known := slices.ContainsFunc(sets, func(t tests) bool { return t.Package == dir })
	if at.moved && !known {
		sets = append(slices.Clone(sets), tests{Package: dir}) // its tests may have moved with it
	}
	for _, t := range sets {
		if err := s.passes(ctx, t); err != nil {
			r.Outcome, r.Detail = failed, err.Error()
			return r
		}
	}
	overlay, err := s.overlay(at, m)
	if err != nil {
		r.Outcome, r.Detail = failed, err.Error()+"\n"
		return r
	}
	r.Outcome = survived
	for _, t := range sets {
		output, err := s.test(ctx, t, "-overlay="+overlay)
		if err == nil {
			continue
		}
		r.Outcome, r.By = classify(output)
		if r.Outcome != caught {
			r.Detail = tail(output)
		}
		return r
	}
	if m.Wide && !cpu.X86.HasAVX512VAES {
		m.Equivalent = "this processor has no kernel that reaches the text"
	}
	if m.Equivalent != "" {
		r.Outcome, r.Equivalent = explained, m.Equivalent
	}
	return r
}

// passes returns the error of running some tests without a fault. It runs them once.
func (s *suite) passes(ctx context.Context, t tests) error {
	key := t.Package + " -run " + t.Run + " -skip " + t.Skip
	err, known := s.baseline[key]
	if known {
		return err
	}
	output, err := s.test(ctx, t)
	switch {
	case err != nil:
		err = fmt.Errorf("%s: the tests fail without the fault:\n%s", key, tail(output))
	case strings.Contains(output, "no test files") || strings.Contains(output, "no tests to run"):
		err = fmt.Errorf("%s: there are no such tests", key)
	}
	s.baseline[key] = err
	return err
}

// overlay writes the mutated file, and an overlay that makes go test read this file. It returns the
// path of the overlay.
func (s *suite) overlay(at place, m mutant) (string, error) {
	if err := at.parses(m); err != nil {
		return "", err
	}
	if s.scratch == "" {
		dir, err := os.MkdirTemp("", "mutation")
		if err != nil {
			return "", err
		}
		s.scratch = dir
	}
	file := filepath.Join(s.scratch, "mutant.go")
	if err := os.WriteFile(file, []byte(at.mutated(m)), 0o600); err != nil {
		return "", err
	}
	original := filepath.Join(s.root, filepath.FromSlash(at.file))
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{original: file}})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(s.scratch, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o600)
}

// test runs go test on one package. Flags are passed in the environment. So the programs built by
// the tests have the fault too.
func (s *suite) test(ctx context.Context, t tests, flags ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.limit+2*time.Minute) // building takes time too
	defer cancel()
	args := []string{"test", "-short", "-vet=off", "-failfast", "-timeout", s.limit.String()}
	if t.Run != "" {
		args = append(args, "-run", t.Run)
	}
	if t.Skip != "" {
		args = append(args, "-skip", t.Skip)
	}
	args, dir := append(args, "."), filepath.Join(s.root, t.Package) // in whichever module
	if hasLongTests(dir) {
		args = append(args, "-long")
	}
	c := exec.CommandContext(ctx, "go", args...)
	c.Dir, c.WaitDelay = dir, 5*time.Second
	c.Env = append(os.Environ(), "GOFLAGS="+strings.Join(append(flags, os.Getenv("GOFLAGS")), " "))
	var output bytes.Buffer
	c.Stdout, c.Stderr = &output, &output
	err := c.Run()
	if ctx.Err() != nil {
		err = errors.Join(err, ctx.Err())
		output.WriteString("test timed out\n")
	}
	return output.String(), err
}

// hasLongTests reports whether the tests of a package have the flag that runs all suites.
func hasLongTests(dir string) bool {
	files, _ := filepath.Glob(filepath.Join(dir, "*_test.go")) // the pattern is well formed
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		return err == nil && bytes.Contains(text, []byte(`flag.Bool("long"`))
	})
}

var failure = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// classify reads the outcome from the output of a failed go test. A panic counts as caught, since
// it makes the tests fail.
func classify(output string) (outcome string, by []string) {
	for _, match := range failure.FindAllStringSubmatch(output, -1) {
		by = append(by, match[1])
	}
	switch {
	case strings.Contains(output, "[build failed]"), strings.Contains(output, "[setup failed]"):
		return broken, nil
	case len(by) > 0:
		return caught, by
	case strings.Contains(output, "test timed out"):
		return timedOut, nil
	case strings.Contains(output, "panic:"), strings.Contains(output, "fatal error:"):
		return caught, []string{"panic"}
	}
	return failed, nil
}

// tail returns the end of an output.
func tail(output string) string {
	lines := strings.SplitAfter(strings.TrimRight(output, "\n")+"\n", "\n")
	return strings.Join(lines[max(0, len(lines)-12):], "")
}
