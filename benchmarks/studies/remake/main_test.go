package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var root = filepath.Join("..", "..", "..")

// TestEveryStudyStatesItsCommand checks that every page states commands, since its numbers could
// not be made again otherwise.
func TestEveryStudyStatesItsCommand(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root, "docs", "studies", "*.md"))
	if err != nil || len(pages) < 8 {
		t.Fatalf("got %d pages, want at least 8; error %v", len(pages), err)
	}
	for _, page := range pages {
		commands, err := commandsOf(page)
		if err != nil {
			t.Error(err)
		}
		if len(commands) == 0 {
			t.Errorf("%s states no command", page)
		}
	}
}

// TestCommandsParse checks every command of the pages against the flags in the source of its
// program: the flag exists, and its value has the right form. It builds nothing.
func TestCommandsParse(t *testing.T) {
	commands, err := find(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, c := range commands {
		if c.args[1] != "run" {
			continue
		}
		checked++
		if mistake := check(t, c); mistake != "" {
			t.Errorf("%s: the command %v is wrong: %s", c.page, c, mistake)
		}
	}
	if checked < 35 {
		t.Errorf("only %d commands were found, so the search is broken", checked)
	}
	for _, wrong := range []string{"-epsilon x", "-runs 1.5", "-nonsense 1", "extra"} {
		c := command{page: "test", args: words("go run ./benchmarks/studies/mix " + wrong)}
		if check(t, c) == "" {
			t.Errorf("%v is accepted", c)
		}
	}
}

// check returns a description of the mistake in a go run command, or "".
func check(t *testing.T, c command) string {
	flags := flagsOf(t, filepath.Join(root, c.dir, c.args[2]))
	if len(flags) == 0 {
		return "the command names no program"
	}
	for i := 3; i < len(c.args); i++ {
		name, ok := strings.CutPrefix(c.args[i], "-")
		kind, known := flags[name]
		switch {
		case !ok:
			return c.args[i] + " is not a flag"
		case !known:
			return "the program has no flag -" + name
		case kind == "Bool":
			continue
		case i+1 == len(c.args):
			return "-" + name + " has no value"
		}
		i++
		value := c.args[i]
		var err error
		switch kind {
		case "Int", "Uint64":
			_, err = strconv.Atoi(value)
		case "Float64":
			_, err = strconv.ParseFloat(value, 64)
		}
		if err != nil || value == "…" || strings.HasPrefix(value, "-") {
			return "-" + name + " " + value + ": want a value of kind " + kind
		}
	}
	return ""
}

var kinds = []string{"Int", "Uint64", "Float64", "String", "Bool", "Text", "Func"}

var known = map[string]map[string]string{} // the flags of programs, by folder

const module = "github.com/seed7ba64551/privgen/"

// flagsOf returns the kinds of the flags of a program. It finds calls such as f.IntVar(&c.n, "n",
// 1, "usage") or f.Int("n", 1, "usage") in the program's source. It also searches the packages of
// internal/examples that the program imports.
func flagsOf(t *testing.T, folder string) map[string]string {
	if flags, ok := known[folder]; ok {
		return flags
	}
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	flags := map[string]string{}
	known[folder] = flags
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range file.Imports {
			name := strings.Trim(i.Path.Value, `"`)
			if shared := module + "internal/examples/"; strings.HasPrefix(name, shared) {
				of := flagsOf(t, filepath.Join(root, strings.TrimPrefix(name, module)))
				for name, kind := range of { // the program's own flags come first
					if flags[name] == "" {
						flags[name] = kind
					}
				}
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			of, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			kind, isVar := strings.CutSuffix(of.Sel.Name, "Var")
			at := 0
			if isVar {
				at = 1
			}
			if !slices.Contains(kinds, kind) || len(call.Args) <= at {
				return true
			}
			if name, ok := call.Args[at].(*ast.BasicLit); ok && name.Kind == token.STRING {
				if plain, err := strconv.Unquote(name.Value); err == nil {
					flags[plain] = kind
				}
			}
			return true
		})
	}
	return flags
}
