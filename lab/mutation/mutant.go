package main

import (
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// A mutant is one fault that the tests must detect.
type mutant struct {
	Name string // folder/description of the fault
	In   string // folder of the package, relative to the module's root
	// Old is the text that New replaces. It must occur exactly once in the package's files. If it
	// does not occur there, a single occurrence elsewhere in the module is used, since the file may
	// have moved.
	Old, New string
	Tests    []tests // at least one of them must fail
	Why      string  // the harm that the fault would do
	// Wide means that only kernels for AVX-512 with VAES reach the text. Elsewhere such a mutant may
	// survive.
	Wide bool
	// Equivalent explains why no test can detect the fault, if that is so. Such a mutant may
	// survive.
	Equivalent string
}

// tests selects tests of a package.
type tests struct {
	Package string // folder, relative to the module's root
	Run     string // regular expression for the tests' names, as for go test
	Skip    string // regular expression for tests that are left out
}

// at returns the tests of one package.
func at(folder, run string) []tests { return []tests{{Package: folder, Run: run}} }

// A tree holds the module's sources without its tests: texts by slash-separated path, relative to
// the root.
type tree map[string]string

// A place is where a mutant is planted.
type place struct {
	file   string
	offset int
	text   string // of the file without the fault
	line   int
	moved  bool // the file is not in the folder that the mutant names
}

func (p place) String() string { return fmt.Sprintf("%s:%d", p.file, p.line) }

// mutated returns the file's text with the fault.
func (p place) mutated(m mutant) string {
	return p.text[:p.offset] + m.New + p.text[p.offset+len(m.Old):]
}

// find returns the place of the mutant's old text.
func (t tree) find(m mutant) (place, error) {
	if m.Old == "" || m.Old == m.New {
		return place{}, fmt.Errorf("%s: nothing is changed", m.Name)
	}
	found := t.search(m.Old, func(file string) bool { return path.Dir(file) == m.In })
	moved := len(found) == 0
	if moved {
		found = t.search(m.Old, func(string) bool { return true })
	}
	if len(found) != 1 {
		return place{}, fmt.Errorf("%s: its text occurs %d times, not once: %q",
			m.Name, len(found), m.Old)
	}
	found[0].moved = moved
	return found[0], nil
}

func (t tree) search(text string, in func(file string) bool) (found []place) {
	for file, source := range t {
		if !in(file) {
			continue
		}
		for from := 0; ; {
			i := strings.Index(source[from:], text)
			if i < 0 {
				break
			}
			at := from + i
			line := 1 + strings.Count(source[:at], "\n")
			found = append(found, place{file: file, offset: at, text: source, line: line})
			from = at + 1
		}
	}
	return found
}

// parses returns an error if the mutated file is not valid Go.
func (p place) parses(m mutant) error {
	_, err := parser.ParseFile(token.NewFileSet(), p.file, p.mutated(m), parser.SkipObjectResolution)
	return err
}

// readTree reads every source file of the module at root and of the modules in connect, cmd, draft,
// report and beam, except test data, hidden folders and this program. It reads no other nested
// modules.
func readTree(root string) (tree, error) {
	t := tree{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel != "." && skipped(name, d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(name)
		t[rel] = string(text)
		return err
	})
	return t, err
}

func skipped(dir, base string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	parent := filepath.Base(filepath.Dir(dir))
	nested := err == nil && parent != "connect" && parent != "cmd" && base != "beam" &&
		base != "draft" && base != "report"
	return strings.HasPrefix(base, ".") || base == "testdata" || nested
}

// moduleRoot returns the folder of the library: the nearest one, from the working directory up,
// whose go.mod names it.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(text), "module github.com/seed7ba64551/privgen\n") {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("the library is not in this folder or above: run the command in a clone")
		}
		dir = up
	}
}
