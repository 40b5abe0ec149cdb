package main

import (
	"bytes"
	"flag"
	"go/ast"
	"go/doc"
	"go/printer"
	"go/token"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

var updateAPI = flag.Bool("update-api", false, "write lab/house/testdata/api.txt")

const apiFile = "lab/house/testdata/api.txt"

// TestExportedAPI compares the exported names of every public package, with their signatures, with
// a file, so that a change of the API is visible in review. After an intended change:
//
//	go -C lab test ./house -run TestExportedAPI -update-api
func TestExportedAPI(t *testing.T) {
	got := exportedAPI(t)
	if *updateAPI {
		if err := os.MkdirAll(path.Dir(apiFile), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(apiFile, []byte(strings.Join(got, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(apiFile)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for _, line := range got {
		if _, found := slices.BinarySearch(want, line); !found {
			t.Errorf("exported, but not in lab/house/testdata/api.txt: %s", line)
		}
	}
	for _, line := range want {
		if _, found := slices.BinarySearch(got, line); !found {
			t.Errorf("in lab/house/testdata/api.txt, but not exported: %s", line)
		}
	}
	if len(got) < 1000 {
		t.Errorf("only %d lines: the walk is broken", len(got))
	}
}

// exportedAPI returns one line for each exported name, sorted.
func exportedAPI(t *testing.T) []string {
	t.Helper()
	all, fset := parsed(t)
	var lines []string
	for pkg, files := range all {
		if isInternal(pkg) || len(files) == 0 ||
			files[0].ast.Name.Name == "main" {
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
		name := "privgen"
		if pkg != "" {
			name = pkg
		}
		lines = append(lines, packageAPI(fset, name, d)...)
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

func packageAPI(fset *token.FileSet, pkg string, d *doc.Package) (lines []string) {
	add := func(node any) {
		lines = append(lines, pkg+": "+oneLine(fset, node))
	}
	funcs := func(list []*doc.Func) {
		for _, f := range list {
			f.Decl.Doc, f.Decl.Body = nil, nil
			add(f.Decl)
		}
	}
	values := func(list []*doc.Value) {
		for _, v := range list {
			for _, s := range v.Decl.Specs {
				for _, n := range s.(*ast.ValueSpec).Names {
					if n.IsExported() {
						lines = append(lines, pkg+": "+v.Decl.Tok.String()+" "+n.Name)
					}
				}
			}
		}
	}
	funcs(d.Funcs)
	values(d.Consts)
	values(d.Vars)
	for _, typ := range d.Types {
		for _, s := range typ.Decl.Specs {
			if spec := s.(*ast.TypeSpec); spec.Name.Name == typ.Name {
				lines = append(lines, typeAPI(fset, pkg, spec)...)
			}
		}
		funcs(typ.Funcs)
		funcs(typ.Methods)
		values(typ.Consts)
		values(typ.Vars)
	}
	return lines
}

// typeAPI returns a line for the type, and one for each exported field or method of an interface.
func typeAPI(fset *token.FileSet, pkg string, spec *ast.TypeSpec) []string {
	head := pkg + ": type " + spec.Name.Name
	var fields *ast.FieldList
	kind := ""
	switch typ := spec.Type.(type) {
	case *ast.StructType:
		fields, kind = typ.Fields, " struct"
	case *ast.InterfaceType:
		fields, kind = typ.Methods, " interface"
	default:
		return []string{head + " " + oneLine(fset, spec.Type)}
	}
	lines := []string{head + kind}
	for _, f := range fields.List {
		if len(f.Names) == 0 {
			lines = append(lines, head+kind+", "+oneLine(fset, f.Type))
		}
		for _, n := range f.Names {
			if n.IsExported() {
				lines = append(lines, head+kind+", "+n.Name+" "+oneLine(fset, f.Type))
			}
		}
	}
	return lines
}

// oneLine prints a node without comments and line breaks.
func oneLine(fset *token.FileSet, node any) string {
	var b bytes.Buffer
	if err := printer.Fprint(&b, fset, node); err != nil {
		return err.Error()
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
