package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"os"
	"path"
	"path/filepath"
	"strings"
)

//go:embed assets
var assets embed.FS

// Build writes the site of a repository into a folder and returns the number of its pages. Files
// that the folder already has are overwritten.
func Build(root, out string) (int, error) {
	s := &site{root: root, pages: map[string]*page{}, files: map[string]bool{}}
	if err := s.collect(); err != nil {
		return 0, err
	}
	layout, err := template.ParseFS(assets, "assets/page.html.tmpl")
	if err != nil {
		return 0, err
	}
	for _, p := range s.order {
		var b bytes.Buffer
		if err := layout.Execute(&b, s.view(p)); err != nil {
			return 0, fmt.Errorf("%s: %w", p.source, err)
		}
		if err := write(out, p.target, b.Bytes()); err != nil {
			return 0, err
		}
	}
	for file := range s.files {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
		if err != nil {
			return 0, err
		}
		if err := write(out, file, text); err != nil {
			return 0, err
		}
	}
	index, err := json.Marshal(s.index)
	if err != nil {
		return 0, err
	}
	// the index is a script instead of JSON, since pages read from disk may not fetch files
	if err := write(out, "index.js", append([]byte("const searchIndex = "), index...)); err != nil {
		return 0, err
	}
	for _, name := range []string{"style.css", "search.js"} {
		text, err := assets.ReadFile("assets/" + name)
		if err != nil {
			return 0, err
		}
		if err := write(out, name, text); err != nil {
			return 0, err
		}
	}
	return len(s.order), nil
}

func write(folder, name string, data []byte) error {
	name = filepath.Join(folder, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o644)
}

// view has the data of a page for the template.
type view struct {
	Title, Up string // Up leads from the page to the top of the site
	Groups    []viewGroup
	Body      template.HTML
}

type viewGroup struct {
	Name  string
	Pages []viewLink
}

type viewLink struct {
	Title, To string
	Here      bool
}

func (s *site) view(p *page) view {
	up := strings.Repeat("../", strings.Count(p.target, "/"))
	v := view{Title: p.title, Up: up, Body: template.HTML(p.body)}
	for _, g := range groups {
		group := viewGroup{Name: g.name}
		for _, other := range s.order {
			if other.group == g.name {
				group.Pages = append(group.Pages, viewLink{other.title, up + other.target, other == p})
			}
		}
		if len(group.Pages) > 0 {
			v.Groups = append(v.Groups, group)
		}
	}
	return v
}

// groups lists the groups of the navigation. A page belongs to the first group with a pattern that
// matches it. Pages that no pattern matches are reached by links only.
var groups = []struct {
	name     string
	patterns []string
}{
	{"Start", []string{"README.md", "docs/results.md"}},
	{"Tutorials", []string{"docs/tutorials/*.md"}},
	{"How to", []string{"docs/howto/*.md", "docs/command.md", "docs/report.md", "docs/scale.md"}},
	{"Reference", []string{"docs/reference/*.md", "docs/defaults.md", "docs/stability.md"}},
	{"How it works", []string{"docs/guarantee.md", "docs/design.md", "docs/durability.md",
		"docs/testing.md", "docs/mutation.md", "docs/hostile.md", "docs/method.md"}},
	{"Measurements", []string{"docs/performance.md", "docs/studies/*.md",
		"benchmarks/studies/README.md"}},
	{"Decisions", []string{"docs/adr/README.md", "docs/adr/*.md"}},
	{"Project", []string{"CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"}},
}

func groupOf(source string) string {
	for _, g := range groups {
		for _, pattern := range g.patterns {
			if ok, err := path.Match(pattern, source); ok && err == nil {
				return g.name
			}
		}
	}
	return ""
}
