package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// site is the set of pages of a repository.
type site struct {
	root  string
	order []*page // in the order of the navigation
	pages map[string]*page
	files map[string]bool // pictures and other files that are copied unchanged
	index []section
}

// page is one page: a document, or a source file that a document links.
type page struct {
	source, target string // paths in the repository and in the site, with slashes
	title, group   string
	body           string // HTML
}

// section is an entry of the search index: a heading and the text below it.
type section struct {
	Page   string `json:"page"`
	Title  string `json:"title"`
	To     string `json:"to"`
	Text   string `json:"text"`
	Ranked int    `json:"rank"` // weight of the heading in a search
}

// collect reads the documents in the root folder, the documents below docs, and all files that they
// link to.
func (s *site) collect() error {
	var found []string
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md",
		"benchmarks/studies/README.md"} {
		if _, err := os.Stat(s.path(name)); err == nil {
			found = append(found, name)
		}
	}
	err := filepath.WalkDir(s.path("docs"), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(p, ".md") {
			return err
		}
		rel, err := filepath.Rel(s.root, p)
		found = append(found, filepath.ToSlash(rel))
		return err
	})
	if err != nil {
		return err
	}
	for _, source := range found {
		s.add(source)
	}
	for i := 0; i < len(s.order); i++ { // rendering a page may add pages that it links to
		if err := s.render(s.order[i]); err != nil {
			return fmt.Errorf("%s: %w", s.order[i].source, err)
		}
	}
	slices.SortStableFunc(s.order, func(a, b *page) int { return placeOf(a) - placeOf(b) })
	return nil
}

// placeOf returns the position of a page by the patterns of the navigation. Pages of one pattern
// have the same position.
func placeOf(p *page) int {
	place := 0
	for _, g := range groups {
		for _, pattern := range g.patterns {
			if ok, _ := path.Match(pattern, p.source); ok {
				return place
			}
			place++
		}
	}
	return place
}

func (s *site) path(name string) string { return filepath.Join(s.root, filepath.FromSlash(name)) }

// add gives a file of the repository a page, once.
func (s *site) add(source string) *page {
	if p := s.pages[source]; p != nil {
		return p
	}
	p := &page{source: source, target: targetOf(source), group: groupOf(source)}
	s.pages[source] = p
	s.order = append(s.order, p)
	return p
}

// targetOf returns the path in the site of the page of a file.
func targetOf(source string) string {
	folder, name := path.Split(source)
	switch {
	case name == "README.md":
		return folder + "index.html"
	case strings.HasSuffix(name, ".md"):
		return folder + strings.TrimSuffix(name, ".md") + ".html"
	}
	return "source/" + source + ".html"
}

// render fills in title and body.
func (s *site) render(p *page) error {
	info, err := os.Stat(s.path(p.source))
	if err != nil {
		return err
	}
	if info.IsDir() {
		return s.renderFolder(p)
	}
	text, err := os.ReadFile(s.path(p.source))
	if err != nil {
		return err
	}
	if strings.HasSuffix(p.source, ".md") {
		return s.renderDocument(p, text)
	}
	p.title = p.source
	p.body = "<h1>" + escape(p.source) + "</h1>\n<pre><code>" + escape(string(text)) +
		"</code></pre>\n"
	return nil
}

// renderFolder lists the files of a folder that a document links.
func (s *site) renderFolder(p *page) error {
	entries, err := os.ReadDir(s.path(p.source))
	if err != nil {
		return err
	}
	p.title = p.source
	p.body = "<h1>" + escape(p.source) + "</h1>\n<ul>\n"
	for _, e := range entries {
		p.body += "<li><code>" + escape(e.Name()) + "</code></li>\n"
	}
	p.body += "</ul>\n"
	return nil
}
