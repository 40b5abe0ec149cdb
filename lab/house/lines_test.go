package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

const longestLine = 100 // characters; a tab counts as one

// TestLinesFitTheScreen checks that lines of code, comments and documents have at most longestLine
// characters. A line may be longer if it has one literal, link or command that cannot be broken.
// Lines of generated code, tables and listings may also be longer.
func TestLinesFitTheScreen(t *testing.T) {
	unbreakable := regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`?|https?://[^ )]+|\\$ .*")
	read := 0
	err := filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := e.Name(); e.IsDir() && (name == ".git" || name == "testdata" || name == "out") {
			return filepath.SkipDir
		}
		code := strings.HasSuffix(path, ".go")
		if !code && !strings.HasSuffix(path, ".md") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil || code && generated.Match(text) {
			return err
		}
		read++
		listing := false
		for i, line := range strings.Split(string(text), "\n") {
			if !code && strings.HasPrefix(strings.TrimSpace(line), "```") {
				listing = !listing
			}
			if utf8.RuneCountInString(line) <= longestLine || listing {
				continue
			}
			switch trimmed := strings.TrimSpace(line); {
			case !code && strings.HasPrefix(trimmed, "|"): // a row of a table
			case strings.HasPrefix(trimmed, "//go:generate"), strings.HasPrefix(trimmed, "// Output:"):
			case utf8.RuneCountInString(longestOut(unbreakable, line)) <= longestLine/2:
			default:
				t.Errorf("%s:%d has %d characters", path, i+1, utf8.RuneCountInString(line))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if read < 500 {
		t.Fatalf("only %d files were read", read)
	}
}

// longestOut returns the line without its longest unbreakable part.
func longestOut(unbreakable *regexp.Regexp, line string) string {
	longest := ""
	for _, s := range unbreakable.FindAllString(line, -1) {
		if len(s) > len(longest) {
			longest = s
		}
	}
	return strings.Replace(line, longest, "", 1)
}
