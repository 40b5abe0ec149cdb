package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A probe is one test of a package, with what it takes and the lines that it runs.
type probe struct {
	dir, name string
	seconds   float64
	lines     map[string]bool // by base name of the file:line; what is not in a function is not there
}

// probes runs each chosen test of the packages in dirs by itself, and records which lines of the
// package in dir it runs.
func probes(ctx context.Context, dir string, dirs []string, chosen *regexp.Regexp,
	scratch string) (all []probe, err error) {
	for _, in := range dirs {
		binary := filepath.Join(scratch, "covered")
		if err := build(ctx, in, binary, "-cover", "-coverpkg="+relative(in, dir)); err != nil {
			return nil, err
		}
		list := exec.CommandContext(ctx, binary, "-test.list", "^(Test|Example|Fuzz)")
		list.Dir = in
		names, err := list.Output()
		if err != nil {
			return nil, err
		}
		for _, name := range strings.Fields(string(names)) {
			if !chosen.MatchString(name) {
				continue
			}
			profile, start := filepath.Join(scratch, "profile"), time.Now()
			_, err := execute(ctx, in, binary, []string{name}, 5*time.Minute,
				"-test.coverprofile="+profile)
			if err != nil {
				continue // a test that cannot be run by itself
			}
			text, err := os.ReadFile(profile)
			if err != nil {
				return nil, err
			}
			all = append(all, probe{in, name, time.Since(start).Seconds(), covered(string(text))})
		}
	}
	return all, ctx.Err()
}

var block = regexp.MustCompile(`(?m)^.*/([^/]+\.go):(\d+)\.\d+,(\d+)\.\d+ \d+ (\d+)$`)

// covered returns the lines of functions in a coverage profile, and whether they were run.
func covered(profile string) map[string]bool {
	lines := map[string]bool{}
	for _, m := range block.FindAllStringSubmatch(profile, -1) {
		first, _ := strconv.Atoi(m[2])
		last, _ := strconv.Atoi(m[3])
		for i := first; i <= last; i++ {
			at := m[1] + ":" + strconv.Itoa(i)
			lines[at] = lines[at] || m[4] != "0"
		}
	}
	return lines
}

// relative returns the import path of the package in dir for a command in another folder.
func relative(in, dir string) string {
	rel, err := filepath.Rel(in, dir)
	if err != nil || rel == "." {
		return "."
	}
	return filepath.ToSlash(rel)
}

func build(ctx context.Context, dir, binary string, flags ...string) error {
	c := exec.CommandContext(ctx, "go", append(append([]string{"test", "-c", "-vet=off"}, flags...),
		"-o", binary, ".")...)
	c.Dir = dir
	return c.Run()
}

// execute runs tests of a compiled package.
func execute(ctx context.Context, dir, binary string, names []string, limit time.Duration,
	flags ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	flags = append(flags, "-test.failfast", "-test.run=^("+strings.Join(names, "|")+")$")
	if hasLongTests(dir) {
		flags = append(flags, "-long")
	}
	c := exec.CommandContext(ctx, binary, flags...)
	c.Dir, c.WaitDelay = dir, 5*time.Second
	output, err := c.CombinedOutput()
	return string(output), err
}

// reaches reports whether a test runs a line. Each one uses what is not in a function.
func (p probe) reaches(c change) bool {
	run, known := p.lines[filepath.Base(c.file)+":"+strconv.Itoa(c.line)]
	return run || !known
}
