package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	formatVerb  = regexp.MustCompile(`%[-+# 0]*(\*|\d+)?(\.(\*|\d+))?[a-zA-Z%]`)
	roundedVerb = regexp.MustCompile(`\.(\*|\d+)[eEgG]$|[fF]$`)
	boundText   = regexp.MustCompile(`[εδ]`)
	boundValue  = regexp.MustCompile(`(?i)(epsilon|delta|upper|spent|claimed|\brho)(\(\))?$`)
	pageNumber  = regexp.MustCompile(`[εδ] *[=≤] *\{\{(printf|number)|number\d [\w.]*(Epsilon|Delta)\b`)
)

// TestBoundsAreNotRoundedToNearest checks that no text prints an ε, a δ or an upper end by a verb
// that rounds to the nearest number, which may be below the bound. Texts use
// accountant.FormatUpper and accountant.FormatLower, or %g and %v, which do not round.
func TestBoundsAreNotRoundedToNearest(t *testing.T) {
	read := 0
	err := filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch name := e.Name(); {
		case e.IsDir() && (name == ".git" || name == "testdata" || name == "out" || name == "mutation"):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".tmpl"), strings.HasSuffix(path, ".html"):
			text, err := os.ReadFile(path)
			for _, m := range pageNumber.FindAllString(string(text), -1) {
				t.Errorf("%s: %q: want an upper bound, rounded up", path, m)
			}
			return err
		case !strings.HasSuffix(path, ".go"),
			strings.HasSuffix(path, "_test.go") && !strings.HasSuffix(path, "example_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil || !bytes.ContainsAny(text, "%") {
			return err
		}
		read++
		files := token.NewFileSet()
		parsed, err := parser.ParseFile(files, path, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			for _, printed := range roundedBounds(files, call) {
				t.Errorf("%v: %s is rounded to the nearest number: want accountant.FormatUpper, or "+
					"FormatLower for a lower bound, or %%g for a number that the user gave",
					files.Position(call.Pos()), printed)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if read < 300 {
		t.Fatalf("%d files were read, want 300 or more", read)
	}
}

// roundedBounds returns the arguments of a call with a format that are bounds, by the text before
// them or by their names, and that are printed by a verb that rounds.
func roundedBounds(files *token.FileSet, call *ast.CallExpr) (list []string) {
	for i, a := range call.Args {
		format := literal(a)
		if !strings.Contains(format, "%") {
			continue
		}
		args, before := call.Args[i+1:], 0
		for _, at := range formatVerb.FindAllStringIndex(format, -1) {
			verb, text := format[at[0]:at[1]], format[before:at[0]]
			if verb == "%%" {
				continue
			}
			for range strings.Count(verb, "*") + 1 {
				if len(args) == 0 {
					break
				}
				a, args = args[0], args[1:]
			}
			before = at[1]
			var value bytes.Buffer
			_ = printer.Fprint(&value, files, a) // into memory
			if roundedVerb.MatchString(verb) &&
				(boundText.MatchString(text) || boundValue.MatchString(value.String())) {
				list = append(list, value.String())
			}
		}
		return list
	}
	return nil
}

// literal returns the text of a string literal or of a sum that contains some.
func literal(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(x.Value); x.Kind == token.STRING && err == nil {
			return text
		}
	case *ast.BinaryExpr:
		return literal(x.X) + literal(x.Y)
	}
	return ""
}

func TestRoundedBoundsAreFound(t *testing.T) {
	for source, want := range map[string]bool{
		`fmt.Printf("ε ≤ %.4g", x)`:                               true,
		`fmt.Sprintf("%s: ε " + "= %-8.4g", name, x)`:             true,
		`fmt.Sprintf("costs %.3f of %g", p.Total().Upper, y)`:     true,
		`p("(%.6g, %.3g)-private", v.A, v.Delta)`:                 true,
		`line("promise", "δ = %.*g", 3, x)`:                       true,
		`fmt.Printf("%f", ledger.Epsilon())`:                      true,
		`fmt.Printf("ε ≤ %s", x)`:                                 false,
		`fmt.Printf("ε = %g, δ = %v", b.Epsilon, b.Delta)`:        false,
		`fmt.Printf("ε = %g, noise %.4g", b.Epsilon, b.Noise)`:    false,
		`fmt.Printf("100 %% of ε = %g at %.3g/s", b.Upper, rate)`: false,
	} {
		files := token.NewFileSet()
		e, err := parser.ParseExprFrom(files, "", source, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(roundedBounds(files, e.(*ast.CallExpr))) > 0; got != want {
			t.Errorf("%s: got %v, want %v", source, got, want)
		}
	}
	for _, page := range []string{`ε ≤ {{printf "%.4g" .Epsilon}}`, `(ε = {{number4 .Epsilon}}`,
		`<td>{{number6 .Guarantee.Delta}}`} {
		if !pageNumber.MatchString(page) {
			t.Errorf("%s is not found", page)
		}
	}
}
