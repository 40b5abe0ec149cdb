package main

import (
	"go/ast"
	"reflect"
	"regexp"
	"strconv"
	"testing"
)

// TestNamesInJSONAreOfOneStyle checks that names in JSON are in snake_case in every struct of the
// library.
func TestNamesInJSONAreOfOneStyle(t *testing.T) {
	style := regexp.MustCompile(`^(-|[a-z][a-z0-9]*(_[a-z0-9]+)*)?(,[a-z]+)*$`)
	tags := 0
	for _, files := range sources(t) {
		for _, f := range files {
			ast.Inspect(f.ast, func(n ast.Node) bool {
				field, ok := n.(*ast.Field)
				if !ok || field.Tag == nil {
					return true
				}
				text, err := strconv.Unquote(field.Tag.Value)
				if err != nil {
					t.Fatal(err)
				}
				if name, ok := reflect.StructTag(text).Lookup("json"); ok {
					if tags++; !style.MatchString(name) {
						t.Errorf("%s: the JSON name %s is not in snake_case", f.name, name)
					}
				}
				return true
			})
		}
	}
	if tags < 100 {
		t.Errorf("only %d tags seen: the walk is broken", tags)
	}
}
