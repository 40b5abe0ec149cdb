package main

import (
	"html"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var repository = filepath.Join("..", "..")

// built builds the site of this repository for a test.
func built(t *testing.T) (folder string, pages map[string]string) {
	t.Helper()
	folder, pages = t.TempDir(), map[string]string{}
	n, err := Build(repository, folder)
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(folder, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(p, ".html") {
			return err
		}
		text, err := os.ReadFile(p)
		pages[p] = string(text)
		return err
	})
	if err != nil || len(pages) != n || n < 40 {
		t.Fatalf("Build reports %d pages, but wrote %d files; error %v", n, len(pages), err)
	}
	return folder, pages
}

var reference = regexp.MustCompile(`(?:href|src)="([^"]*)"`)

// TestLinksOfTheSite: every link leads to an existing file and heading of the site, no page loads
// anything from the network, and the navigation has every document of docs.
func TestLinksOfTheSite(t *testing.T) {
	_, pages := built(t)
	links := 0
	for path, text := range pages {
		for _, m := range reference.FindAllStringSubmatch(text, -1) {
			links++
			if fault := fault(pages, path, html.UnescapeString(m[1])); fault != "" {
				t.Errorf("%s: the link %s %s", path, m[1], fault)
			}
		}
		for _, loaded := range []string{`src="http`, `stylesheet" href="http`} {
			if strings.Contains(text, loaded) {
				t.Errorf("%s loads something from the network", path)
			}
		}
	}
	if links < 2000 {
		t.Errorf("only %d links: the search is broken", links)
	}
	any := ""
	for path := range pages {
		any = path
	}
	for _, broken := range []string{"lost.html", "#lost"} {
		if fault(pages, any, broken) == "" {
			t.Errorf("a broken link to %s is not detected", broken)
		}
	}
}

func fault(pages map[string]string, from, to string) string {
	u, err := url.Parse(to)
	if err != nil {
		return err.Error()
	}
	if u.Scheme != "" {
		return ""
	}
	target := from
	if u.Path != "" {
		target = filepath.Join(filepath.Dir(from), filepath.FromSlash(u.Path))
	}
	if _, err := os.Stat(target); err != nil {
		return "leads nowhere"
	}
	if u.Fragment != "" && !strings.Contains(pages[target], `id="`+html.EscapeString(u.Fragment)+`"`) {
		return "names a heading that the page does not have"
	}
	return ""
}

// TestNavigationHasEveryDocument: every page below docs belongs to a group of the navigation.
func TestNavigationHasEveryDocument(t *testing.T) {
	s := &site{root: repository, pages: map[string]*page{}, files: map[string]bool{}}
	if err := s.collect(); err != nil {
		t.Fatal(err)
	}
	titles := map[string]string{}
	for _, p := range s.order {
		if strings.HasPrefix(p.source, "docs/") && strings.HasSuffix(p.source, ".md") && p.group == "" &&
			filepath.Base(p.source) != "README.md" {
			t.Errorf("%s is in no group of the navigation", p.source)
		}
		if p.title == "" {
			t.Errorf("%s has no title", p.source)
		}
		if other := titles[p.title]; other != "" && p.group != "" {
			t.Errorf("%s and %s have the same title %q", p.source, other, p.title)
		}
		titles[p.title] = p.source
	}
}

// TestBuildRefusesBrokenPages: broken links and invalid formulas are errors.
func TestBuildRefusesBrokenPages(t *testing.T) {
	for _, text := range []string{"# A\n\n[lost](lost.md)\n", "# A\n\n[out](../../lost.md)\n",
		"# A\n\n```math\n\\frac{1}\n```\n", "# A\n\n```math\n\\lost\n```\n"} {
		root := t.TempDir()
		if err := os.Mkdir(filepath.Join(root, "docs"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, "docs", "a.md"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Build(root, t.TempDir()); err == nil {
			t.Errorf("Build accepts the invalid page %q", text)
		}
	}
}

func TestMathML(t *testing.T) {
	for tex, want := range map[string]string{
		"x_i^2":            "<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>",
		`\frac{a}{12}`:     "<mfrac><mrow><mi>a</mi></mrow><mrow><mn>12</mn></mrow></mfrac>",
		`\sqrt P < 1`:      "<msqrt><mi>P</mi></msqrt><mo>&lt;</mo><mn>1</mn>",
		`\sum_i r_i`:       "<munder><mo>∑</mo><mi>i</mi></munder><msub><mi>r</mi><mi>i</mi></msub>",
		`\text{if } x`:     "<mtext>if </mtext><mi>x</mi>",
		`\left(a\right)`:   "<mo>(</mo><mi>a</mi><mo>)</mo>",
		`\lVert r \rVert.`: "<mo>‖</mo><mi>r</mi><mo>‖</mo><mn>.</mn>",
	} {
		got, err := MathML(tex)
		if err != nil || got != `<math display="block"><mrow>`+want+"</mrow></math>" {
			t.Errorf("%s is %s, %v", tex, got, err)
		}
	}
	for _, tex := range []string{`\unknown`, `\frac{1}`, `{a`, `a}`, `\text a`, `x_`} {
		if got, err := MathML(tex); err == nil {
			t.Errorf("%s is %s", tex, got)
		}
	}
}
