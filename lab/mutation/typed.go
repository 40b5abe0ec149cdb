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
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

// changesOf returns all changes of a package in the files whose names match.
func changesOf(dir string, files *regexp.Regexp) (all []change, err error) {
	set := token.NewFileSet()
	var names []string
	var trees []*ast.File
	compiled, exports, err := listed(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range compiled {
		tree, err := parser.ParseFile(set, filepath.Join(dir, name), nil, 0)
		if err != nil {
			return nil, err
		}
		names, trees = append(names, name), append(trees, tree)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{},
		Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	checker := types.Config{Importer: importer.ForCompiler(set, "gc",
		func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
	of, err := checker.Check("checked", set, trees, info)
	if err != nil {
		return nil, err
	}
	for i, tree := range trees {
		if !files.MatchString(names[i]) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, names[i]))
		if err != nil {
			return nil, err
		}
		f := &finder{set: set, text: string(text), info: info, of: of}
		ast.Inspect(tree, func(n ast.Node) bool { return n == nil || f.visit(n) })
		all = append(all, f.found...)
	}
	return all, nil
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
