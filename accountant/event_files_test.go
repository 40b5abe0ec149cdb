package accountant

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestAnEventIsOneFile: a new event is a file, a line in eventTypes and its tests. So all methods
// of an event are in the file of its type, and no type switch has a case for an event.
func TestAnEventIsOneFile(t *testing.T) {
	isEvent := map[string]bool{}
	for _, e := range eventTypes {
		isEvent[reflect.TypeOf(e).Name()] = true
	}
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	home, methods := map[string]string{}, map[string][]string{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeSpec:
				home[n.Name.Name] = name
			case *ast.FuncDecl:
				if n.Recv != nil {
					if of, ok := n.Recv.List[0].Type.(*ast.Ident); ok {
						methods[of.Name] = append(methods[of.Name], name)
					}
				}
			case *ast.TypeSwitchStmt:
				for _, clause := range n.Body.List {
					for _, x := range clause.(*ast.CaseClause).List {
						if of, ok := x.(*ast.Ident); ok && isEvent[of.Name] {
							t.Errorf("%s: a type switch has a case for %s", name, of.Name)
						}
					}
				}
			}
			return true
		})
	}
	for event := range isEvent {
		for _, file := range methods[event] {
			if file != home[event] || !strings.HasPrefix(file, "event_") {
				t.Errorf("%s is in %s and has a method in %s", event, home[event], file)
			}
		}
	}
}
