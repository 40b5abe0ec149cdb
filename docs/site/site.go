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

// site is what the pages of a repository make.
type site struct {
	root  string
	order []*page // as the navigation shows them
	pages map[string]*page
	files map[string]bool // pictures and other files that pages show, as they are
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
	Ranked int    `json:"rank"` // 1 for a page's first heading, less for others
}

// collect reads the documents at the top, those below docs, and everything they link.
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
	for i := 0; i < len(s.order); i++ { // rendering a page may add those that it links
		if err := s.render(s.order[i]); err != nil {
			return fmt.Errorf("%s: %w", s.order[i].source, err)
		}
	}
	slices.SortStableFunc(s.order, func(a, b *page) int { return placeOf(a) - placeOf(b) })
	return nil
}

// placeOf orders pages by the patterns of the navigation; those of one pattern keep their order.
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

// targetOf is where the page of a file stands in the site.
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
