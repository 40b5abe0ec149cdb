package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
)

// changed returns all changes of a package in the files whose names match, and the texts of these
// files with all changes built in, by path.
func changed(dir string, files *regexp.Regexp, skipped map[string]int) (all []change,
	texts map[string]string, err error) {
	set, trees := token.NewFileSet(), map[string]*ast.File{}
	compiled, exports, err := listed(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range compiled {
		path := filepath.Join(dir, name)
		if trees[path], err = parser.ParseFile(set, path, nil, 0); err != nil {
			return nil, nil, err
		}
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{},
		Uses: map[*ast.Ident]types.Object{}}
	checker := types.Config{Importer: importer.ForCompiler(set, "gc",
		func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
	paths := slices.Sorted(maps.Keys(trees))
	var list []*ast.File
	for _, path := range paths {
		list = append(list, trees[path])
	}
	if _, err := checker.Check("checked", set, list, info); err != nil {
		return nil, nil, err
	}
	texts = map[string]string{filepath.Join(dir, "zz_mutants.go"): "package " + list[0].Name.Name +
		support}
	for i, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, nil, err
		}
		if files.MatchString(filepath.Base(path)) {
			f := &finder{set: set, text: string(text), info: info, all: &all, skipped: skipped}
			ast.Inspect(list[i], func(n ast.Node) bool { return n == nil || f.visit(n) })
			texts[path] = f.mutated()
		}
	}
	return all, texts, nil
}

// listed returns the names of a package's files for this processor, and the compiled packages that
// it imports, by path.
func listed(dir string) (names []string, exports map[string]string, err error) {
	c := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export,GoFiles,DepOnly", ".")
	c.Dir, c.Stderr = dir, os.Stderr
	output, err := c.Output()
	if err != nil {
		return nil, nil, fmt.Errorf("go list: %w", err)
	}
	exports = map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(output)); ; {
		var p struct {
			ImportPath, Export string
			GoFiles            []string
			DepOnly            bool
		}
		if err := d.Decode(&p); err == io.EOF {
			return names, exports, nil
		} else if err != nil {
			return nil, nil, err
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly {
			names = p.GoFiles
		}
	}
}
