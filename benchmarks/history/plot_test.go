package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const docs = "../../docs"

// TestPictures checks that the pictures of docs/performance are what this program draws.
func TestPictures(t *testing.T) {
	dir := filepath.Join(docs, "performance")
	pictures, err := drawAll(dir)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.svg"))
	if err != nil || len(files) != len(pictures) {
		t.Errorf("got %d files, want %d; error %v", len(files), len(pictures), err)
	}
	page, err := os.ReadFile(filepath.Join(docs, "performance.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range pictures {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs (error %v): run go -C benchmarks/history run . plot -dir %s", name, err,
				dir)
		}
		shown := regexp.MustCompile(`!\[([^\]]{20,})\]\(performance/` + regexp.QuoteMeta(name) + `\)`)
		if !shown.Match(page) {
			t.Errorf("docs/performance.md does not show %s with a text in its place", name)
		}
		checkSVG(t, name, want)
	}
}

// checkSVG checks that a picture is XML with a title and a description, and that no text and no
// line begins outside of it.
func checkSVG(t *testing.T, name string, text []byte) {
	t.Helper()
	seen := map[string]int{}
	var width, height float64
	for d := xml.NewDecoder(bytes.NewReader(text)); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		seen[start.Name.Local]++
		for _, a := range start.Attr {
			x, err := strconv.ParseFloat(a.Value, 64)
			if err != nil {
				continue
			}
			switch a.Name.Local {
			case "width":
				width = max(width, x)
			case "height":
				height = max(height, x)
			case "x", "x1", "x2", "cx":
				if x < 0 || x > width {
					t.Errorf("%s: %s at x = %g, outside of the width %g", name, start.Name.Local, x, width)
				}
			case "y", "y1", "y2", "cy":
				if x < 0 || x > height {
					t.Errorf("%s: %s at y = %g, outside of the height %g", name, start.Name.Local, x, height)
				}
			}
		}
	}
	if seen["title"] != 1 || seen["desc"] != 1 || seen["text"] < 5 {
		t.Errorf("%s: got elements %v, want a title, a description and texts", name, seen)
	}
}

// folder writes one plot and one run into a folder.
func folder(t *testing.T, p plot) string {
	t.Helper()
	dir := t.TempDir()
	r := record{Results: map[string]map[string][]float64{
		"a": {"ms": {1, 2, 4}, "part": {0.5}}, "b": {"ms": {8}, "part": {0.25}}}}
	if err := os.Mkdir(filepath.Join(dir, "runs"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]any{"plots.json": []plot{p}, "runs/r.json": r} {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func example(kind string) plot {
	return plot{File: "p", Kind: kind, Title: "A & B", Description: "what it shows",
		X: axis{Unit: "ms", From: 1, To: 16, Log: true, Ticks: []float64{1, 4, 16}},
		Y: axis{Unit: "part", To: 1, Ticks: []float64{0, 1}},
		Series: []series{{Name: "s", Run: "r.json",
			Points: []point{{Label: "one", Result: "a"}, {Label: "two", Result: "b"}}}}}
}

// TestPositions checks that marks lie at the positions of medians.
func TestPositions(t *testing.T) {
	for _, kind := range []string{"dots", "sorted", "scatter"} {
		pictures, err := drawAll(folder(t, example(kind)))
		if err != nil {
			t.Fatal(err)
		}
		text := string(pictures["p.svg"])
		if !strings.Contains(text, "A &amp; B") {
			t.Errorf("%s: the title is missing:\n%s", kind, text)
		}
		marks := positions(t, text, `<circle[^>]* cx="([\d.]+)" cy="([\d.]+)"`)
		if len(marks) != 3 { // the first is in the legend
			t.Fatalf("%s: got %d marks, want 3", kind, len(marks))
		}
		first, second := marks[1], marks[2]
		if kind != "dots" { // .25 and .5 on an axis from 0 to 1
			near(t, kind+": distance in y", math.Abs(first[1]-second[1]), frameHeight/4.)
		}
		if kind == "sorted" {
			continue
		}
		ends := positions(t, text, `<text x="([\d.]+)" y="([\d.]+)" text-anchor="middle"[^>]*>(?:1|16)<`)
		if len(ends) != 2 {
			t.Fatalf("%s: got %d ticks 1 and 16, want 2:\n%s", kind, len(ends), text)
		}
		// on the logarithmic axis from 1 to 16, medians 2 and 8 lie at 1/4 and 3/4
		lo, hi := ends[0][0], ends[1][0]
		near(t, kind+": x of the first mark", first[0], lo+(hi-lo)/4)
		near(t, kind+": x of the second mark", second[0], lo+(hi-lo)*3/4)
	}
}

// near checks a position, which is rounded to a tenth.
func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 0.11 {
		t.Errorf("%s: got %g, want %g", what, got, want)
	}
}

// positions returns the two numbers of every match of a pattern.
func positions(t *testing.T, text, pattern string) (list [][2]float64) {
	t.Helper()
	for _, found := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		var at [2]float64
		if _, err := fmt.Sscan(found[1], &at[0]); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscan(found[2], &at[1]); err != nil {
			t.Fatal(err)
		}
		list = append(list, at)
	}
	return list
}

func TestPlotMistakes(t *testing.T) {
	for name, change := range map[string]func(p *plot){
		"kind":        func(p *plot) { p.Kind = "pie" },
		"title":       func(p *plot) { p.Title = "" },
		"description": func(p *plot) { p.Description = "" },
		"series":      func(p *plot) { p.Series = nil },
		"points":      func(p *plot) { p.Series[0].Points = nil },
		"run":         func(p *plot) { p.Series[0].Run = "none.json" },
		"result":      func(p *plot) { p.Series[0].Points[0].Result = "c" },
		"unit":        func(p *plot) { p.X.Unit = "s" },
		"axis":        func(p *plot) { p.X.To = 3 },
		"many series": func(p *plot) { p.Series = append(p.Series, make([]series, colours)...) },
	} {
		p := example("dots")
		change(&p)
		if _, err := drawAll(folder(t, p)); err == nil {
			t.Errorf("%s: the mistake is accepted", name)
		}
	}
	if _, err := drawAll(t.TempDir()); err == nil {
		t.Error("a folder without plots.json is accepted")
	}
}
