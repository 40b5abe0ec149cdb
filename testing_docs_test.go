package privgen_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestStatisticalTestsAreListed checks docs/testing.md, which adds up the false alarms of all tests
// with fresh noise. Every test named there must exist, and every test that compares at 6.2 standard
// deviations must be named.
func TestStatisticalTestsAreListed(t *testing.T) {
	page, err := os.ReadFile("docs/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, name := range regexp.MustCompile(`Test[A-Z]\w+`).FindAllString(string(page), -1) {
		listed[name] = true
	}
	bodies := testBodies(t)
	for name := range listed {
		if _, ok := bodies[name]; !ok {
			t.Errorf("docs/testing.md lists %s, which does not exist", name)
		}
	}
	found := 0
	for name, body := range bodies {
		if strings.Contains(body, "sixSigma"+"(") || strings.Contains(body, "> "+"6.2") {
			if found++; !listed[name] {
				t.Errorf("%s compares with a distribution, but docs/testing.md does not list it", name)
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d tests compare with a distribution: the search is broken", found)
	}
}

// testBodies returns the sources of all tests by name.
func testBodies(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && p != "." && (strings.HasPrefix(d.Name(), ".") || isModule(p)) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(p, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, p, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") {
				from, to := fset.Position(fn.Body.Pos()), fset.Position(fn.Body.End())
				out[fn.Name.Name] += string(text[from.Offset:to.Offset])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
