package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/seed7ba64551/privgen/report"
)

func pageOf(t testing.TB, r *report.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// figures lists the figures that each report must have, in addition to the figures of its columns.
var figures = map[string][]string{
	"table": {"fig-bill", "fig-column-0", "fig-column-7", "fig-heat", "fig-three", "fig-classifiers",
		"fig-propensity", "fig-risk"},
	"released": {"fig-bill", "fig-column-0", "fig-column-7", "fig-risk"},
	"bare":     {"fig-column-0", "fig-heat", "fig-three", "fig-propensity", "fig-risk"},
	"sets":     {"fig-bill", "fig-sizes", "fig-items", "fig-propensity", "fig-risk"},
	"images": {"fig-bill", "fig-images-real", "fig-images-synthetic", "fig-mean-real",
		"fig-mean-synthetic", "fig-classifiers", "fig-propensity", "fig-risk"},
	"wide": {"fig-bill", "fig-column-44", "fig-heat", "fig-three", "fig-propensity", "fig-risk"},
}

// outline holds what parse found on a page.
type outline struct {
	ids     map[string]int
	drawn   map[string]bool // figures with a drawing or an image
	links   []string
	scripts int
}

// parse reads the page as a tree of elements. An element that is not closed, or is closed twice, is
// an error.
func parse(text string) (outline, error) {
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict, d.Entity = false, xml.HTMLEntity
	void := map[string]bool{"meta": true, "link": true, "img": true, "br": true} // never closed
	out := outline{ids: map[string]int{}, drawn: map[string]bool{}}
	var open []string
	figure := ""
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			if len(open) > 0 {
				return out, fmt.Errorf("not closed: %q", open)
			}
			return out, nil
		}
		if err != nil {
			return out, err
		}
		switch e := token.(type) {
		case xml.StartElement:
			if !void[e.Name.Local] {
				open = append(open, e.Name.Local)
			}
			attr := map[string]string{}
			for _, a := range e.Attr {
				attr[a.Name.Local] = a.Value
			}
			if id, has := attr["id"]; has {
				out.ids[id]++
			}
			switch e.Name.Local {
			case "figure":
				figure = attr["id"]
			case "svg", "img":
				out.drawn[figure] = true
			case "script":
				out.scripts++
			case "a":
				out.links = append(out.links, attr["href"])
			}
		case xml.EndElement:
			if len(open) == 0 || open[len(open)-1] != e.Name.Local {
				return out, fmt.Errorf("</%s> closes %q", e.Name.Local, open)
			}
			open = open[:len(open)-1]
			if e.Name.Local == "figure" {
				figure = ""
			}
		}
	}
}

// TestPagesAreWhole checks that every page can be parsed and has all required figures. It must use
// each id once and have only links to places on the page. It must not contain a script or the
// address of another file.
func TestPagesAreWhole(t *testing.T) {
	for name, of := range made() {
		text := pageOf(t, of(t))
		o, err := parse(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for id, n := range o.ids {
			if n != 1 {
				t.Errorf("%s: %d elements with id %s", name, n, id)
			}
			if strings.HasPrefix(id, "fig-") && !o.drawn[id] {
				t.Errorf("%s: figure %s is empty", name, id)
			}
		}
		for _, id := range figures[name] {
			if o.ids[id] != 1 {
				t.Errorf("%s: no figure %s", name, id)
			}
		}
		for _, href := range o.links {
			if !strings.HasPrefix(href, "#") || o.ids[href[1:]] != 1 {
				t.Errorf("%s: a link to %s", name, href)
			}
		}
		if o.scripts > 0 || len(o.links) < 4 {
			t.Errorf("%s: %d scripts, %d links", name, o.scripts, len(o.links))
		}
		for _, bad := range []string{"http:", "https:", "<script", "NaN", "%!", "@import",
			"javascript:"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s: the page holds %q", name, bad)
			}
		}
	}
}

// TestParseFails checks that parse finds mistakes.
func TestParseFails(t *testing.T) {
	for _, text := range []string{"<p><b></p>", "<div>", "</p>", "<table><tr></table>"} {
		if _, err := parse("<html>" + text + "</html>"); err == nil {
			t.Errorf("%s passes", text)
		}
	}
}

// TestNotPrivateOnce checks that a report of real records says once on the page, and once in JSON,
// that it is not private. A report of released numbers must say instead that it may be published.
func TestNotPrivateOnce(t *testing.T) {
	for name, of := range made() {
		r := of(t)
		text := pageOf(t, r)
		want, public := 1, 0
		if name == "released" {
			want, public = 0, 1
		}
		if n := strings.Count(text, report.Caveat); n != want {
			t.Errorf("%s: the page states %d times that it is not private", name, n)
		}
		if n := strings.Count(text, "It may be published"); n != public {
			t.Errorf("%s: the page says %d times that it may be published", name, n)
		}
		if j := checkSchema(t, r); (j["caveat"] == report.Caveat) != (want == 1) ||
			j["public"] != (public == 1) {
			t.Errorf("%s: caveat %v, public %v", name, j["caveat"], j["public"])
		}
	}
}

// TestReleasedReadsNoRealRecords checks that an input with real records is an error. A report of
// released numbers must have no comparison with real records.
func TestReleasedReadsNoRealRecords(t *testing.T) {
	in := whole(t)
	for name, change := range map[string]func(*report.Input){
		"real":     func(i *report.Input) { i.HeldOut, i.Second = nil, nil },
		"held-out": func(i *report.Input) { i.Real, i.Second = nil, nil },
		"second":   func(i *report.Input) { i.Real, i.HeldOut = nil, nil },
	} {
		i := in
		change(&i)
		if _, err := report.Released(t.Context(), i, quick()); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	r := made()["released"](t)
	if r.Quality != nil || r.ThreeWay != nil || r.Classifiers != nil || r.Propensity != nil ||
		r.Queries != nil || len(r.Risk.Attacks) > 0 || r.Risk.Closest != nil || r.Sizes.Real != 0 {
		t.Errorf("a report of released numbers compares with real records: %+v", r)
	}
	for _, c := range r.Columns {
		for _, b := range c.Bars {
			if !b.Real.IsNone() {
				t.Errorf("%s: %s has a real share", c.Name, b.Label)
			}
		}
	}
}

// TestEveryNumberIsOnThePage checks that all numbers of the JSON form are on the page. Numbers of
// charts are there as percentages.
func TestEveryNumberIsOnThePage(t *testing.T) {
	spaces := regexp.MustCompile(`\s+`)
	for name, of := range made() {
		r := of(t)
		text := spaces.ReplaceAllString(pageOf(t, r), " ")
		count := 0
		walk(reflect.ValueOf(*r), "report", func(path string, n report.Number) {
			if n.IsNone() {
				return
			}
			count++
			switch {
			case strings.HasSuffix(path, ".Fidelity.Records"):
				if !strings.Contains(text, fmt.Sprintf("About %.0f real records", float64(n))) {
					t.Errorf("%s: %s = %v is not on the page", name, path, float64(n))
				}
				return
			case strings.Contains(path, ".Fidelity.") && strings.HasSuffix(path, "Noise"):
				n = 1 - n // the page shows the similarity, not the distance
			}
			if !strings.Contains(text, report.Number4(n)) && !strings.Contains(text, report.Percent(n)) &&
				!strings.Contains(text, fmt.Sprintf("%.1f %%", 100*float64(n))) {
				t.Errorf("%s: %s = %v is not on the page", name, path, float64(n))
			}
		})
		for _, s := range r.Promise.Words {
			if !strings.Contains(text, strings.NewReplacer("'", "&#39;").Replace(s)) {
				t.Errorf("%s: the words %q are not on the page", name, s)
			}
		}
		if count < 10 {
			t.Errorf("%s: only %d numbers were looked for", name, count)
		}
	}
}

// walk visits the numbers that must be on the page as text. It leaves out the points of curves, the
// edges of bins, and the details of pairs and of groups of columns.
func walk(v reflect.Value, path string, each func(string, report.Number)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			walk(v.Elem(), path, each)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			walk(v.Index(i), fmt.Sprintf("%s[%d]", path, i), each)
		}
	case reflect.Struct:
		if n := v.Type().Name(); n == "Curve" || n == "Guarantee" {
			return
		}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			switch v.Type().Name() + "." + f.Name {
			case "Bar.From", "Bar.To", "Pair.Real", "Pair.Synthetic", "Pair.Association",
				"QualityScores.Pairs", "ThreeWay.Groups":
				continue // not text; see numbers_test.go
			case "Quality.HeldOut":
				h := v.Field(i)
				if !h.IsNil() { // only the means are on the page
					for _, name := range []string{"ColumnShapes", "ColumnPairTrends", "AllPairs", "Score"} {
						each(path+".HeldOut."+name, h.Elem().FieldByName(name).Interface().(report.Number))
					}
				}
				continue
			}
			walk(v.Field(i), path+"."+f.Name, each)
		}
	case reflect.Float64:
		each(path, report.Number(v.Float()))
	}
}

func TestNumberInJSON(t *testing.T) {
	for _, text := range []string{"null", "1.5", `"+Inf"`, `"-Inf"`, "0"} {
		var n report.Number
		if err := json.Unmarshal([]byte(text), &n); err != nil {
			t.Error(err)
		}
		if back, err := json.Marshal(n); err != nil || string(back) != text {
			t.Errorf("%s became %s (%v)", text, back, err)
		}
	}
	var n report.Number
	if err := json.Unmarshal([]byte(`"five"`), &n); err == nil {
		t.Error("a word was read as a number")
	}
}

// TestNothingUnseenIsOnThePage: names and levels that come from files hold no character that turns
// the text around it, or that looks like nothing.
func TestNothingUnseenIsOnThePage(t *testing.T) {
	const turned = "pay\u202eroll\u2066\u200b\u0007\u034f\u3164\ufe0f\u2800"
	r := &report.Report{Title: turned, Columns: []report.Column{{Name: turned, Kind: "levels",
		Bars: []report.Bar{{Label: turned, Real: 0.5, Synthetic: 0.4}}}}}
	text := pageOf(t, r)
	if i := strings.IndexFunc(text, func(r rune) bool {
		return r != '\n' && r != '\t' && unicode.In(r, unicode.C)
	}); i >= 0 {
		t.Errorf("the page has %+q", text[max(i-20, 0):i+9])
	}
	if n := strings.Count(text, `pay\u202eroll\u2066\u200b\a\u034f\u3164\ufe0f\u2800`); n < 4 {
		t.Errorf("%d names are shown", n)
	}
}
