package main

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"net/url"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

func escape(s string) string { return html.EscapeString(s) }

// renderDocument turns Markdown into HTML, its links into links of the site, and its sections into
// entries of the search index.
func (s *site) renderDocument(p *page, source []byte) error {
	md := goldmark.New(goldmark.WithExtensions(extension.GFM),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(&blocks{}, 100))))
	tree := md.Parser().Parse(text.NewReader(source),
		parser.WithContext(parser.NewContext(parser.WithIDs(&anchors{seen: map[string]int{}}))))
	var faults []error
	err := ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			to, err := s.link(p, string(n.Destination))
			n.Destination, faults = []byte(to), append(faults, err)
		case *ast.Image:
			to := path.Join(path.Dir(p.source), string(n.Destination))
			s.files[to] = true
		}
		return ast.WalkContinue, nil
	})
	if err := errors.Join(append(faults, err)...); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := md.Renderer().Render(&b, source, tree); err != nil {
		return err
	}
	// wide tables scroll on their own
	p.body = strings.NewReplacer("<table>", `<div class="wide"><table>`,
		"</table>", "</table></div>").Replace(b.String())
	s.search(p, tree, source)
	return nil
}

// link returns the address in the site of a document's link.
func (s *site) link(p *page, to string) (string, error) {
	u, err := url.Parse(to)
	if err != nil {
		return "", err
	}
	if u.Scheme != "" || u.Path == "" {
		return to, nil // another site, or a heading of the same page
	}
	source := path.Join(path.Dir(p.source), u.Path)
	info, err := os.Stat(s.path(source))
	if err != nil || strings.HasPrefix(source, "..") {
		return "", fmt.Errorf("link to %s: want a file of the repository", to)
	}
	if info.IsDir() {
		if _, err := os.Stat(s.path(source + "/README.md")); err == nil {
			source += "/README.md"
		}
	}
	up := strings.Repeat("../", strings.Count(p.target, "/"))
	out := up + s.add(source).target
	if u.Fragment != "" {
		out += "#" + u.Fragment
	}
	return out, nil
}

// anchors generates the names of headings as GitHub does.
type anchors struct{ seen map[string]int }

var punctuation = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

func (a *anchors) Generate(value []byte, _ ast.NodeKind) []byte {
	id := strings.ToLower(strings.TrimSpace(string(value)))
	id = strings.ReplaceAll(punctuation.ReplaceAllString(id, ""), " ", "-")
	n := a.seen[id]
	a.seen[id]++
	if n > 0 {
		id += "-" + strconv.Itoa(n)
	}
	return []byte(id)
}

func (a *anchors) Put(value []byte) { a.seen[string(value)]++ }

// search adds the sections of a document to the index, and sets the page's title.
func (s *site) search(p *page, tree ast.Node, source []byte) {
	var now *section
	for n := tree.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok {
			title := plain(n, source)
			if p.title == "" {
				p.title = title
			}
			id, _ := h.AttributeString("id")
			raw, _ := id.([]byte)
			s.index = append(s.index, section{Page: p.title, Title: title,
				To: p.target + "#" + string(raw), Ranked: max(4-h.Level, 1)})
			now = &s.index[len(s.index)-1]
			continue
		}
		if now != nil {
			now.Text = strings.TrimSpace(now.Text + " " + plain(n, source))
		}
	}
}

// plain returns the text of a node.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(n.Segment.Value(source))
				if n.SoftLineBreak() || n.HardLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.FencedCodeBlock:
			if entering {
				b.Write(n.Lines().Value(source))
			}
		default:
			if !entering && n.Type() == ast.TypeBlock {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

// blocks renders fenced blocks: formulas as MathML, all others unchanged.
type blocks struct{}

func (b *blocks) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindFencedCodeBlock, b.fenced)
}

func (*blocks) fenced(w util.BufWriter, source []byte, n ast.Node, entering bool) (
	ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	block := n.(*ast.FencedCodeBlock)
	code := string(block.Lines().Value(source))
	if string(block.Language(source)) != "math" {
		_, err := fmt.Fprintf(w, "<pre><code>%s</code></pre>\n", escape(code))
		return ast.WalkContinue, err
	}
	formula, err := MathML(code)
	if err != nil {
		return ast.WalkStop, err
	}
	_, err = w.WriteString(formula + "\n")
	return ast.WalkContinue, err
}
