package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// An automatic run turns on changes of a package at random and reports which ones no test detects.
// All changes are compiled into one binary. Each test first runs by itself, which shows the changes
// that it reaches.
type automatic struct {
	root, in string
	tests    []string       // folders of the tests
	chosen   *regexp.Regexp // names of the tests
	files    *regexp.Regexp
	limit    time.Duration // for one test, without a change
	sample   int
	seed     uint64
	out      io.Writer
	again    string // an earlier report; all changes are planted if it is empty
	scratch  string
}

// A probe is one test of a package, with what it takes and the changes that it reaches.
type probe struct {
	binary, dir, name string
	took              time.Duration
	reaches           map[string]bool
}

func (a *automatic) run(ctx context.Context) (err error) {
	if a.scratch, err = os.MkdirTemp("", "mutation"); err != nil {
		return err
	}
	defer os.RemoveAll(a.scratch)
	all, err := a.build(ctx)
	if err != nil {
		return err
	}
	tests, err := a.probes(ctx)
	if err != nil {
		return err
	}
	planted, survivors := 0, 0
	for _, i := range rand.New(rand.NewPCG(a.seed, 0)).Perm(len(all)) {
		if planted == a.sample || ctx.Err() != nil {
			break
		}
		name, _ := filepath.Rel(a.root, all[i].file)
		said := func(outcome string) string {
			return fmt.Sprintf("%s:%d: %s: %s\n", name, all[i].line, outcome, all[i].what)
		}
		if a.again != "" && !strings.Contains(a.again, said(survived)) &&
			!strings.Contains(a.again, said(notReached)) {
			continue
		}
		outcome := detected(ctx, fmt.Sprint(i+1), tests)
		if ctx.Err() != nil {
			break
		}
		if planted++; outcome != caught {
			survivors++
			fmt.Fprint(a.out, said(outcome))
		}
	}
	fmt.Fprintf(a.out, "%s: %d of %d changes planted, %d survived\n", a.in, planted, len(all),
		survivors)
	return nil
}

const overlayFile = "overlay.json"

// failing finds the lines that do not compile.
var failing = regexp.MustCompile(`(?m)^[^\s:]*?([^/\s:]+\.go):(\d+):\d+:`)

// build compiles the tests with all changes, and leaves out changes that do not compile.
func (a *automatic) build(ctx context.Context) ([]change, error) {
	skipped := map[string]int{}
	for range 30 {
		all, texts, err := changed(filepath.Join(a.root, a.in), a.files, skipped)
		if err != nil {
			return nil, err
		}
		overlay := map[string]string{}
		for path, text := range texts {
			own := filepath.Join(a.scratch, filepath.Base(path))
			overlay[path] = own
			if err := os.WriteFile(own, []byte(text), 0o600); err != nil {
				return nil, err
			}
		}
		list := filepath.Join(a.scratch, overlayFile)
		text, err := json.Marshal(map[string]any{"Replace": overlay})
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(list, text, 0o600); err != nil {
			return nil, err
		}
		ok := true
		for i, dir := range a.tests {
			c := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-gcflags=-e", "-overlay="+list,
				"-o", a.binary(i), ".")
			c.Dir = filepath.Join(a.root, dir)
			output, err := c.CombinedOutput()
			if ok = ok && err == nil; err != nil {
				lines := map[string]bool{}
				for _, m := range failing.FindAllStringSubmatch(string(output), -1) {
					lines[m[1]+":"+m[2]] = true
				}
				known := true
				for line := range lines {
					skipped[line]++
					known = known && skipped[line] > 2
				}
				if known {
					return nil, fmt.Errorf("%w: %s", err, output)
				}
				break
			}
		}
		if ok {
			return all, nil
		}
	}
	return nil, fmt.Errorf("%s: its changes do not compile", a.in)
}

func (a *automatic) binary(i int) string { return filepath.Join(a.scratch, fmt.Sprint("tests", i)) }

// probes runs every chosen test by itself, without a change.
func (a *automatic) probes(ctx context.Context) (all []probe, err error) {
	for i, dir := range a.tests {
		p := probe{binary: a.binary(i), dir: filepath.Join(a.root, dir)}
		list := exec.CommandContext(ctx, p.binary, "-test.list", "^(Test|Example|Fuzz)")
		list.Dir = p.dir
		names, err := list.Output()
		if err != nil {
			return nil, err
		}
		for _, p.name = range strings.Fields(string(names)) {
			trace, start := filepath.Join(a.scratch, "trace"), time.Now()
			if os.Remove(trace); !a.chosen.MatchString(p.name) ||
				p.execute(ctx, []string{p.name}, a.limit, "MUTANT_TRACE="+trace) != nil {
				continue // a test that cannot be run by itself, or takes too long
			}
			p.took, p.reaches = time.Since(start), map[string]bool{}
			text, _ := os.ReadFile(trace) // there is none if nothing was reached
			for _, id := range strings.Fields(string(text)) {
				p.reaches[id] = true
			}
			all = append(all, p)
		}
	}
	slices.SortStableFunc(all, func(a, b probe) int { return int(a.took - b.took) })
	return all, ctx.Err()
}

const notReached = "not reached by a test"

// detected runs the tests that reach a change, the fast ones first.
func detected(ctx context.Context, id string, tests []probe) string {
	outcome := notReached
	for len(tests) > 0 {
		p, names, took := tests[0], []string(nil), time.Duration(0)
		for len(tests) > 0 && tests[0].dir == p.dir && took < time.Second {
			if tests[0].reaches[id] {
				names, took = append(names, tests[0].name), took+tests[0].took
			}
			tests = tests[1:]
		}
		if len(names) > 0 {
			outcome = survived
			if p.execute(ctx, names, 10*time.Second+4*took, "MUTANT="+id) != nil {
				return caught
			}
		}
	}
	return outcome
}

// execute runs tests of a compiled package.
func (p probe) execute(ctx context.Context, names []string, limit time.Duration, env string) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	flags := []string{"-test.failfast", "-test.run=^(" + strings.Join(names, "|") + ")$"}
	if hasLongTests(p.dir) {
		flags = append(flags, "-long")
	}
	c := exec.CommandContext(ctx, p.binary, flags...)
	c.Dir, c.WaitDelay = p.dir, 5*time.Second
	list := filepath.Join(filepath.Dir(p.binary), overlayFile) // for tests that build a program
	c.Env = append(os.Environ(), env, "GOFLAGS="+os.Getenv("GOFLAGS")+" -overlay="+list)
	return c.Run()
}
