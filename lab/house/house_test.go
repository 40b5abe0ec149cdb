package main

import (
	"go/token"
	"os"
	"testing"
)

// TestMain runs the tests in the folder of the library.
func TestMain(m *testing.M) {
	root, err := moduleRoot()
	if err == nil {
		err = os.Chdir(root)
	}
	if err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// parsed returns the library's files other than tests, by package, with their positions.
func parsed(t *testing.T) (map[string][]source, *token.FileSet) {
	t.Helper()
	all, fset, err := sourcesOf(".")
	if err != nil {
		t.Fatal(err)
	}
	return all, fset
}

func sources(t *testing.T) map[string][]source {
	t.Helper()
	all, _ := parsed(t)
	return all
}
