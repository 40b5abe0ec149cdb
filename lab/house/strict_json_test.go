package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// looseJSON lists the folders whose files may call encoding/json to read: the strict decoder
// itself, and programs and helpers that are not part of the library.
var looseJSON = []string{"internal/param", "lab", "examples", "synth/synthtest"}

// TestJSONIsReadStrictly: outside these folders no file of this module or of a nested one reads
// JSON with encoding/json, which lets the last of several equal keys win.
func TestJSONIsReadStrictly(t *testing.T) {
	seen := 0
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		folder := filepath.ToSlash(p)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (slices.Contains(looseJSON, folder) || d.Name() == "testdata" ||
			len(p) > 1 && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go"):
			return nil
		}
		seen++
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		for _, call := range readsJSON(t, p, text) {
			t.Errorf("%s calls json.%s; want param.Decode", p, call)
		}
		return nil
	})
	if err != nil || seen < 300 {
		t.Fatalf("%d files seen: %v", seen, err)
	}
	loose := "package p\nimport j \"encoding/json\"\nvar f = j.Unmarshal\nvar d = j.NewDecoder(nil)\n"
	want := []string{"Unmarshal", "NewDecoder"}
	if got := readsJSON(t, "p.go", []byte(loose)); !slices.Equal(got, want) {
		t.Errorf("found %q in a file that reads JSON twice", got)
	}
}

// readsJSON lists the uses of the functions of encoding/json that read values.
func readsJSON(t *testing.T, name string, text []byte) (uses []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	as := ""
	for _, spec := range file.Imports {
		if spec.Path.Value == `"encoding/json"` {
			if as = "json"; spec.Name != nil {
				as = spec.Name.Name
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && as != "" {
			x, ok := s.X.(*ast.Ident)
			if ok && x.Name == as && (s.Sel.Name == "Unmarshal" || s.Sel.Name == "NewDecoder") {
				uses = append(uses, s.Sel.Name)
			}
		}
		return true
	})
	return uses
}
