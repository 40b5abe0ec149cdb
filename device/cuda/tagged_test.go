package cuda_test

import (
	"flag"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"testing"
)

var long = flag.Bool("long", false,
	"type-check the files with the build tag cuda; draw noise under a million keys")

// TestTaggedFilesTypeCheck type-checks the files with the build tag, without the headers for cgo.
// It does not check C names.
func TestTaggedFilesTypeCheck(t *testing.T) {
	if !*long {
		t.Skip("type-checks gorgonia.org/cu and its imports from source; see -long")
	}
	fset := token.NewFileSet()
	context := build.Default
	context.CgoEnabled, context.BuildTags = true, []string{"cuda"}
	from := withoutC{fset, context, importer.ForCompiler(fset, "source", nil).(types.ImporterFrom)}
	p, err := from.check(".", "github.com/seed7ba64551/privgen/device/cuda")
	if err != nil {
		t.Fatal(err)
	}
	if p.Scope().Lookup("gpu") == nil {
		t.Error("the files with the tag were not checked: gpu is not declared")
	}
}

// withoutC imports gorgonia.org/cu without its C headers, and other packages as usual.
type withoutC struct {
	fset    *token.FileSet
	context build.Context
	others  types.ImporterFrom
}

func (w withoutC) Import(path string) (*types.Package, error) { return w.ImportFrom(path, ".", 0) }

func (w withoutC) ImportFrom(path, dir string, mode types.ImportMode) (*types.Package, error) {
	if path != "gorgonia.org/cu" {
		return w.others.ImportFrom(path, dir, mode)
	}
	p, err := w.context.Import(path, dir, 0)
	if err != nil {
		return nil, err
	}
	return w.check(p.Dir, path)
}

func (w withoutC) check(dir, path string) (*types.Package, error) {
	p, err := w.context.ImportDir(dir, 0)
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	for _, name := range append(p.GoFiles, p.CgoFiles...) {
		f, err := parser.ParseFile(w.fset, dir+"/"+name, nil, 0)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	config := types.Config{FakeImportC: true, Importer: w}
	if path == "gorgonia.org/cu" {
		// ignore errors: without the C constants, tables of this package have duplicate keys
		config.Error = func(error) {}
		out, _ := config.Check(path, w.fset, files, nil)
		return out, nil
	}
	return config.Check(path, w.fset, files, nil)
}
