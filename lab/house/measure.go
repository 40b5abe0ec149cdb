package main

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

const module = "github.com/seed7ba64551/privgen"

// house holds the numbers of the root module.
type house struct {
	lines, names, edges, entries, rootFiles int
	public                                  []string
	perPackage                              map[string]int // lines
}

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// measure counts the module in the working directory.
func measure() (house, error) {
	h := house{perPackage: map[string]int{}}
	all, _, err := sourcesOf(".")
	if err != nil {
		return h, err
	}
	for pkg, files := range all {
		edges := map[string]bool{}
		for _, f := range files {
			n, err := linesOf(f.name)
			if err != nil {
				return h, err
			}
			h.lines += n
			h.perPackage[pkg] += n
			for _, spec := range f.ast.Imports {
				if to, err := strconv.Unquote(spec.Path.Value); err == nil &&
					(to == module || strings.HasPrefix(to, module+"/")) {
					edges[to] = true
				}
			}
		}
		if files[0].ast.Name.Name == "main" {
			continue
		}
		h.edges += len(edges)
		if isInternal(pkg) {
			continue
		}
		h.public = append(h.public, pkg)
		h.names += exported(files)
	}
	h.entries, h.rootFiles, err = topFolder(".")
	return h, err
}

func isInternal(pkg string) bool { return strings.Contains("/"+pkg+"/", "/internal/") }

// topFolder counts the entries of a folder that git would keep, and its Go files, tests included.
func topFolder(dir string) (entries, files int, err error) {
	list, err := os.ReadDir(dir)
	for _, e := range list {
		if e.Name() == ".git" || e.Name() == "out" {
			continue
		}
		entries++
		if strings.HasSuffix(e.Name(), ".go") {
			files++
		}
	}
	return entries, files, err
}

// linesOf counts the lines of a file that hold a token other than a comment.
func linesOf(file string) (int, error) {
	text, err := os.ReadFile(file)
	if err != nil || generated.Match(text) {
		return 0, err
	}
	at := token.NewFileSet().AddFile(file, -1, len(text))
	var s scanner.Scanner
	s.Init(at, text, nil, 0)
	seen := map[int]bool{}
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			return len(seen), nil
		}
		if tok == token.SEMICOLON && literal == "\n" { // inserted by the scanner
			continue
		}
		for i := range 1 + strings.Count(literal, "\n") {
			seen[at.Line(pos)+i] = true
		}
	}
}

// exported counts the exported names of a package, and the exported methods of its exported types.
func exported(files []source) (n int) {
	for _, f := range files {
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d))) {
					n++
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						if s.Name.IsExported() {
							n++
						}
					case *ast.ValueSpec:
						for _, name := range s.Names {
							if name.IsExported() {
								n++
							}
						}
					}
				}
			}
		}
	}
	return n
}

// receiver returns the name of the type that a method belongs to.
func receiver(d *ast.FuncDecl) string {
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// source is a file of a package, parsed.
type source struct {
	name string
	ast  *ast.File
}

// sourcesOf returns the files of a module other than tests, parsed, by package folder. It leaves
// out nested modules, test data and hidden folders.
func sourcesOf(root string) (map[string][]source, *token.FileSet, error) {
	out, fset := map[string][]source{}, token.NewFileSet()
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if p != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || isModule(p)) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(fset, p, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return err
		}
		pkg := path.Dir(filepath.ToSlash(p))
		if pkg == "." {
			pkg = ""
		}
		out[pkg] = append(out[pkg], source{p, f})
		return nil
	})
	return out, fset, err
}

func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
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
		if err == nil && strings.HasPrefix(string(text), "module "+module+"\n") {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("the library is not in this folder or above: run the command in a clone")
		}
		dir = up
	}
}
