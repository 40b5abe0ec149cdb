package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// command is one command line of a page.
type command struct {
	page string // name of the page, without folder and extension
	dir  string // working directory, relative to the repository
	args []string
}

func (c command) String() string { return strings.Join(c.args, " ") }

var (
	assignment = regexp.MustCompile(`^([A-Z_]+)="(.*)"$`)
	variable   = regexp.MustCompile(`\$([A-Z_]+)`)
)

// commandsOf returns the commands in the listings of a page that run a program or a test of the
// repository. A listing is a shell script of commands, assignments NAME="value" and cd FOLDER.
func commandsOf(path string) ([]command, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	page := strings.TrimSuffix(filepath.Base(path), ".md")
	var out []command
	dir, values, listing := "", map[string]string{}, false
	for line := range strings.Lines(strings.ReplaceAll(string(text), "\\\n", " ")) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			dir, listing = "", !listing
			continue
		}
		if !listing {
			continue
		}
		if m := assignment.FindStringSubmatch(line); m != nil {
			values[m[1]] = m[2]
			continue
		}
		if to, ok := strings.CutPrefix(line, "cd "); ok {
			dir = to
			continue
		}
		if !strings.HasPrefix(line, "go run ") && !strings.HasPrefix(line, "go test ") {
			continue
		}
		if line, err = expand(line, values); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		out = append(out, command{page, dir, words(line)})
	}
	if listing {
		return nil, fmt.Errorf("%s: the last listing has no end", path)
	}
	return out, nil
}

// expand replaces variables by their values.
func expand(line string, values map[string]string) (out string, err error) {
	out = variable.ReplaceAllStringFunc(line, func(name string) string {
		value, ok := values[name[1:]]
		if !ok {
			err = fmt.Errorf("%s: the variable %s has no value", line, name)
		}
		return value
	})
	return out, err
}

// words splits a line at spaces, and drops a comment and single quotes.
func words(line string) []string {
	line, _, _ = strings.Cut(line, " #")
	var out []string
	for _, w := range strings.Fields(line) {
		out = append(out, strings.Trim(w, "'"))
	}
	return out
}
