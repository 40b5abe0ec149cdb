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

// mutant is one fault.
type mutant struct {
	Name string // folder/what is wrong
	In   string // the folder of the package, from the module's root
	// Old is the text that is replaced by New. It must occur once among the package's files. A file
	// that has moved to another folder is found there, if Old occurs nowhere else.
	Old, New string
	Tests    []tests // at least one of them must fail
	Why      string  // what the fault would cost
	// Equivalent says why no test can notice, where that is so: a survivor with a note is no defect.
	Equivalent string
}

// tests are some of a package's.
type tests struct {
	Package string // folder, from the module's root
	Run     string // regular expression of the tests' names, as of go test
	Skip    string // and of those that are left out
}

// at returns the tests of one package.
func at(folder, run string) []tests { return []tests{{Package: folder, Run: run}} }

// tree holds the module's sources, but for its tests: text by slash-separated path from the root.
type tree map[string]string

// place is where a mutant is planted.
type place struct {
	file   string
	offset int
	text   string // of the file, before
	line   int
	moved  bool // the file is in another folder than the mutant says
}

func (p place) String() string { return fmt.Sprintf("%s:%d", p.file, p.line) }

// mutated returns the file with the fault in it.
func (p place) mutated(m mutant) string {
	return p.text[:p.offset] + m.New + p.text[p.offset+len(m.Old):]
}

// find is where the mutant's text is.
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

// parses reports whether the mutated file is still Go.
func (p place) parses(m mutant) error {
	_, err := parser.ParseFile(token.NewFileSet(), p.file, p.mutated(m), parser.SkipObjectResolution)
	return err
}

// readTree reads every source of the module at root, and of the modules in its folders
// connect and cmd, and beam.
// Other nested modules, test data, hidden folders and this program are no part of it.
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
			if rel != "." && skipped(name, d.Name()) || rel == "mutation" {
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
	nested := err == nil && parent != "connect" && parent != "cmd" && base != "beam"
	return strings.HasPrefix(base, ".") || base == "testdata" || nested
}

// moduleRoot returns the nearest folder, from this one upward, that holds a go.mod.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("run it inside the module: no go.mod here or above")
		}
		dir = up
	}
}
