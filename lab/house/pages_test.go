package main

import (
	"bufio"
	"go/parser"
	"go/token"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// page is a document with its code blocks.
type page struct {
	path   string
	text   string
	blocks []codeBlock
}

// codeBlock is a fenced block: its language, and the file that a comment before it names.
type codeBlock struct {
	line                 int
	language, from, code string
}

var origin = regexp.MustCompile(`^<!-- from (\S+) -->$`)

// pages reads README.md, CONTRIBUTING.md, SECURITY.md, the page about studies and everything below
// docs.
func pages(t *testing.T) (out []page) {
	t.Helper()
	paths := []string{"README.md", "CONTRIBUTING.md", "SECURITY.md",
		filepath.Join("lab", "studies", "README.md")}
	err := filepath.WalkDir("docs", func(p string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(p, ".md") {
			paths = append(paths, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, parsePage(path, string(text)))
	}
	if len(out) < 20 {
		t.Fatalf("only %d pages: the walk is broken", len(out))
	}
	return out
}

func parsePage(path, text string) page {
	p := page{path: path, text: text}
	var open *codeBlock
	from := ""
	lines := bufio.NewScanner(strings.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		switch {
		case open != nil && strings.TrimSpace(line) == "```":
			p.blocks = append(p.blocks, *open)
			open, from = nil, ""
		case open != nil:
			open.code += line + "\n"
		case strings.HasPrefix(line, "```"):
			open = &codeBlock{line: n, language: line[3:], from: from}
		case origin.MatchString(line):
			from = origin.FindStringSubmatch(line)[1]
		case strings.TrimSpace(line) != "":
			from = ""
		}
	}
	return p
}

// fault describes the mistake in a code block, or returns "" if there is none. If a block names a
// file, it must be a verbatim part of that file. Whole programs, examples and tests must name a
// file that go test compiles. Other Go blocks are fragments, and must parse.
func (b codeBlock) fault() string {
	if b.from != "" {
		source, err := os.ReadFile(b.from)
		if err != nil {
			return err.Error()
		}
		if !strings.Contains("\n"+string(source), "\n"+b.code) {
			return "is not a part of " + b.from
		}
		return ""
	}
	if b.language != "go" {
		return ""
	}
	if whole.MatchString(b.code) {
		return "is a whole program, example or test: quote a file that go test compiles"
	}
	if fragment(b.code) {
		return ""
	}
	return "does not parse as Go"
}

var whole = regexp.MustCompile(`(?m)^package |^func (main|Example|Test)`)

// fragment reports whether text is a list of declarations or of statements. An ellipsis marks code
// that a page leaves out.
func fragment(text string) bool {
	text = strings.NewReplacer("{…}", "{}", "{ … }", "{}", "(…)", "()", "…", "").Replace(text)
	for _, frame := range []string{"package p\n" + text, "package p\nfunc f() {\n" + text + "\n}"} {
		_, err := parser.ParseFile(token.NewFileSet(), "", frame, parser.SkipObjectResolution)
		if err == nil {
			return true
		}
	}
	return false
}

// TestCodeInPages checks every code block of the documents.
func TestCodeInPages(t *testing.T) {
	quoted := 0
	for _, p := range pages(t) {
		for _, b := range p.blocks {
			if fault := b.fault(); fault != "" {
				t.Errorf("%s:%d: the block %s", p.path, b.line, fault)
			}
			if b.from != "" {
				quoted++
			}
		}
	}
	if quoted < 5 {
		t.Errorf("only %d blocks name a file: the search is broken", quoted)
	}
}

// TestCodeInPagesCanFail proves that the check of code blocks finds mistakes.
func TestCodeInPagesCanFail(t *testing.T) {
	for _, text := range []string{
		"<!-- from examples/quickstart/main.go -->\n```go\nfunc main() { lost() }\n```\n",
		"<!-- from examples/quickstart/lost.go -->\n```go\nfunc main() {\n```\n",
		"<!-- from examples/quickstart/output.txt -->\n```text\nε = 0\n```\n",
		"```go\npackage main\n\nfunc main() {}\n```\n",
		"```go\nfunc ExampleLost() {}\n```\n",
		"```go\nx := := 1\n```\n",
	} {
		p := parsePage("made.md", text)
		if len(p.blocks) != 1 || p.blocks[0].fault() == "" {
			t.Errorf("no fault is found in %q", text)
		}
	}
}

var link = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)`)

// TestLinksInPages follows every link to a file of the repository, and to a heading of a page.
func TestLinksInPages(t *testing.T) {
	links := 0
	for _, p := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(p.text, -1) {
			if fault := brokenLink(p.path, m[1]); fault != "" {
				t.Errorf("%s: the link to %s %s", p.path, m[1], fault)
			}
			links++
		}
	}
	if links < 30 {
		t.Errorf("only %d links: the search is broken", links)
	}
	for _, broken := range []string{"lost.md", "docs/results.md#lost"} {
		if brokenLink("README.md", broken) == "" {
			t.Errorf("no fault is found in a link to %s", broken)
		}
	}
}

func brokenLink(from, to string) string {
	u, err := url.Parse(to)
	if err != nil {
		return err.Error()
	}
	if u.Scheme != "" {
		return "" // another site
	}
	target := from
	if u.Path != "" {
		target = filepath.Join(filepath.Dir(from), u.Path)
	}
	info, err := os.Stat(target)
	if err != nil {
		return "leads nowhere"
	}
	if u.Fragment == "" || info.IsDir() {
		return ""
	}
	text, err := os.ReadFile(target)
	if err != nil {
		return err.Error()
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") && anchor(line) == u.Fragment {
			return ""
		}
	}
	return "names a heading that the page does not have"
}

var punctuation = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// anchor returns the name by which pages link to a heading.
func anchor(heading string) string {
	heading = strings.ToLower(strings.TrimSpace(strings.TrimLeft(heading, "#")))
	return strings.ReplaceAll(punctuation.ReplaceAllString(heading, ""), " ", "-")
}
