package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// An automatic run plants random changes in a package and reports which ones no test detects.
type automatic struct {
	root, in  string
	tests     []string       // folders of the tests
	chosen    *regexp.Regexp // names of the tests
	files     *regexp.Regexp
	sample    int
	seed      uint64
	out       io.Writer
	scratch   string
	survivors int
}

// run plants the sample. A change that does not compile is replaced by the next one.
func (a *automatic) run(ctx context.Context) (err error) {
	if a.scratch, err = os.MkdirTemp("", "mutation"); err != nil {
		return err
	}
	defer os.RemoveAll(a.scratch)
	dir := filepath.Join(a.root, a.in)
	all, err := changesOf(dir, a.files)
	if err != nil {
		return err
	}
	for i := range a.tests {
		a.tests[i] = filepath.Join(a.root, a.tests[i])
	}
	tests, err := probes(ctx, dir, a.tests, a.chosen, a.scratch)
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(a.seed, 0))
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	planted := 0
	for _, c := range all {
		if planted == a.sample || ctx.Err() != nil {
			break
		}
		outcome, err := a.plant(ctx, c, tests)
		if err != nil {
			return err
		}
		if outcome == broken || ctx.Err() != nil {
			continue
		}
		planted++
		if outcome != caught {
			a.survivors++
			a.show(c, outcome)
		}
	}
	fmt.Fprintf(a.out, "%s: %d of %d changes planted, %d survived\n",
		a.in, planted, len(all), a.survivors)
	return nil
}

// plant runs the tests that reach the line of a change, the fast ones first.
func (a *automatic) plant(ctx context.Context, c change, tests []probe) (string, error) {
	overlay, err := a.overlay(c)
	if err != nil {
		return "", err
	}
	outcome := "not reached by a test"
	for _, dir := range a.tests {
		var fast, slow []string
		took := 0.0
		for _, t := range tests {
			if t.dir != dir || !t.reaches(c) {
				continue
			}
			if took += t.seconds; t.seconds < 0.3 {
				fast = append(fast, t.name)
			} else {
				slow = append(slow, t.name)
			}
		}
		binary := filepath.Join(a.scratch, "mutant")
		if err := build(ctx, dir, binary, "-overlay="+overlay); err != nil {
			return broken, nil
		}
		limit := time.Duration(3*took+20) * time.Second
		for _, names := range [][]string{fast, slow} {
			if len(names) == 0 {
				continue
			}
			outcome = survived
			if _, err := execute(ctx, dir, binary, names, limit); err != nil {
				return caught, nil
			}
		}
	}
	return outcome, nil
}

func (a *automatic) overlay(c change) (string, error) {
	text, err := os.ReadFile(c.file)
	if err != nil {
		return "", err
	}
	file, overlay := filepath.Join(a.scratch, "mutant.go"), filepath.Join(a.scratch, "overlay.json")
	mutated := slices.Concat(text[:c.from], []byte(c.text), text[c.to:])
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{c.file: file}})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(file, mutated, 0o600); err != nil {
		return "", err
	}
	return overlay, os.WriteFile(overlay, list, 0o600)
}

// show prints a change as its line before and after.
func (a *automatic) show(c change, outcome string) {
	text, _ := os.ReadFile(c.file)
	first := strings.LastIndexByte(string(text[:c.from]), '\n') + 1
	last := c.to + strings.IndexByte(string(text[c.to:])+"\n", '\n')
	name, _ := filepath.Rel(a.root, c.file)
	fmt.Fprintf(a.out, "%s:%d: %s\n\t- %s\n\t+ %s%s%s\n", name, c.line, outcome,
		strings.TrimSpace(string(text[first:last])), strings.TrimLeft(string(text[first:c.from]), "\t"),
		c.text, string(text[c.to:last]))
}
