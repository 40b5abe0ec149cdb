package privgen_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

// TestDocsStateWhatApplies looks for exported names whose documentation lacks a required section:
//
//   - Errors, for functions and methods whose last result is an error;
//   - Guarantee, for functions that take a ledger and for draws of a mechanism.Grant;
//   - Units, as a comment, for fields that are noise multipliers, clip norms or standard
//     deviations.
func TestDocsStateWhatApplies(t *testing.T) {
	all, fset := parsed(t)
	for pkg, files := range all {
		if isExample(pkg) || strings.Contains(pkg, "internal") {
			continue
		}
		var trees []*ast.File
		for _, f := range files {
			trees = append(trees, f.ast)
		}
		d, err := doc.NewFromFiles(fset, trees, path.Join(module, pkg))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range lacking(path.Join("privgen", pkg), d) {
			t.Errorf("%s is not stated in the documentation", m)
		}
	}
}

// TestLackingDocsAreFound proves that the search finds all missing sections and no others.
func TestLackingDocsAreFound(t *testing.T) {
	const source = `package p

// Open opens.
func Open() error { return nil }

// Read reads. Errors: io.EOF.
func Read() error { return nil }

// Fit fits.
func Fit(l *accountant.Ledger) {}

// Draw draws. Guarantee: of the grant.
func (g *Grant) Draw() {}

// Add adds. Errors: none.
func (g *Grant) Add() error { return nil }

// Grant is a grant.
type Grant struct {
	ClipNorm float64
	Std      float64 // in units of a sum
}
`
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, "p.go", source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	d, err := doc.NewFromFiles(fset, []*ast.File{tree}, "p")
	if err != nil {
		t.Fatal(err)
	}
	got := lacking("p", d)
	slices.Sort(got)
	want := []string{"p.Fit: Guarantee", "p.Grant.Add: Guarantee", "p.Grant.ClipNorm: Units",
		"p.Open: Errors"}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// lacking lists the missing sections of a package's exported names, in the form "name: section".
func lacking(pkg string, d *doc.Package) (out []string) {
	look := func(name, text string, decl *ast.FuncDecl, grant bool) {
		if returnsError(decl) && !states(text, "Errors:", "Err", "error", "implements", "calls") {
			out = append(out, pkg+"."+name+": Errors")
		}
		if (grant && returnsError(decl) || takesLedger(decl)) &&
			!states(text, "Guarantee", "implements", "calls") {
			out = append(out, pkg+"."+name+": Guarantee")
		}
	}
	for _, f := range d.Funcs {
		look(f.Name, f.Doc, f.Decl, false)
	}
	for _, typ := range d.Types {
		for _, m := range append(typ.Methods, typ.Funcs...) {
			if !obvious(m.Name) {
				look(typ.Name+"."+m.Name, m.Doc, m.Decl, typ.Name == "Grant")
			}
		}
		for _, field := range bareFields(typ) {
			out = append(out, pkg+"."+typ.Name+"."+field+": Units")
		}
	}
	return out
}

func states(text string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// returnsError reports whether the last result of a function is an error.
func returnsError(f *ast.FuncDecl) bool {
	if f.Type.Results == nil {
		return false
	}
	last, ok := f.Type.Results.List[len(f.Type.Results.List)-1].Type.(*ast.Ident)
	return ok && last.Name == "error"
}

// takesLedger reports whether a parameter of a function is an *accountant.Ledger.
func takesLedger(f *ast.FuncDecl) bool {
	return slices.ContainsFunc(f.Type.Params.List, func(p *ast.Field) bool {
		star, ok := p.Type.(*ast.StarExpr)
		if !ok {
			return false
		}
		of, ok := star.X.(*ast.SelectorExpr)
		return ok && of.Sel.Name == "Ledger"
	})
}

// bareFields returns the fields of a struct that have a unit and no comment.
func bareFields(typ *doc.Type) (out []string) {
	for _, spec := range typ.Decl.Specs {
		s, ok := spec.(*ast.TypeSpec).Type.(*ast.StructType)
		if !ok {
			continue
		}
		for _, f := range s.Fields.List {
			for _, name := range f.Names {
				switch name.Name {
				case "NoiseMultiplier", "ClipNorm", "Std", "Sensitivity", "SumStd", "CountStd":
					if f.Doc.Text()+f.Comment.Text() == "" {
						out = append(out, name.Name)
					}
				}
			}
		}
	}
	return out
}
