package main

import (
	"go/ast"
	"go/doc"
	"path"
	"strings"
	"testing"
)

// TestEveryExportedNameIsDocumented checks all exported names except fields of structs and methods
// of interfaces, which are read together with their type.
func TestEveryExportedNameIsDocumented(t *testing.T) {
	names := 0
	all, fset := parsed(t)
	for pkg, files := range all {
		var trees []*ast.File
		for _, f := range files {
			trees = append(trees, f.ast)
		}
		d, err := doc.NewFromFiles(fset, trees, path.Join(module, pkg))
		if err != nil {
			t.Fatal(err)
		}
		missing := func(name, text string) {
			if names++; strings.TrimSpace(text) == "" {
				t.Errorf("%s: %s has no documentation", d.ImportPath, name)
			}
		}
		missing("the package", d.Doc)
		for _, f := range d.Funcs {
			missing(f.Name, f.Doc)
		}
		for _, v := range append(d.Consts, d.Vars...) {
			missing(v.Names[0], v.Doc+specDocs(v.Decl))
		}
		for _, typ := range d.Types {
			missing(typ.Name, typ.Doc)
			for _, m := range append(typ.Methods, typ.Funcs...) {
				if !obvious(m.Name) {
					missing(typ.Name+"."+m.Name, m.Doc)
				}
			}
		}
	}
	if names < 200 {
		t.Fatalf("only %d names seen: the walk is broken", names)
	}
}

// specDocs returns the comments inside a group of constants or variables.
func specDocs(d *ast.GenDecl) string {
	var b strings.Builder
	for _, s := range d.Specs {
		if v, ok := s.(*ast.ValueSpec); ok {
			b.WriteString(v.Doc.Text() + v.Comment.Text())
		}
	}
	return b.String()
}

// obvious reports whether a method implements an interface of the standard library, whose
// documentation describes it.
func obvious(name string) bool {
	switch name {
	case "Error", "String", "Unwrap", "MarshalJSON", "UnmarshalJSON", "MarshalText", "UnmarshalText",
		"Format", "LogValue", "Len", "Less", "Swap":
		return true
	}
	return false
}
