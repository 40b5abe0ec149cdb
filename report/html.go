package report

import (
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/seed7ba64551/privgen/accountant"
)

//go:embed page/page.html
var pageText string

//go:embed page/style.css
var styleText string

//go:embed schema.json
var schemaText []byte

// JSONSchema returns the JSON Schema (draft 2020-12) of a report's JSON form.
func JSONSchema() []byte { return append([]byte(nil), schemaText...) }

// page is the template of the page.
var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"style":    func() template.CSS { return template.CSS(styleText) },
	"sections": sections, "number4": number4, "upper": upper, "percent": percent,
	"join":    func(names []string) string { return strings.Join(names, " × ") },
	"has":     func(n Number) bool { return !n.IsNone() },
	"doubled": doubled, "shape": shapeOf, "qualityRows": qualityRows, "heatNames": heatNames,
	"worstPairs": worstPairs, "worstGroups": worstGroups, "complement": complement,
	"records": func(v float64) string { return thousands(math.Max(math.Round(v), 0)) },
	"png":     dataURL,

	"billChart": billChart, "columnChart": columnChart, "heatChart": heatChart,
	"threeChart": threeChart, "barsChart": barsChart, "classifierChart": classifierChart,
	"propensityChart": propensityChart, "riskChart": riskChart,
}).Parse(pageText))

// WriteHTML writes the report as one page without scripts. The page needs no other file. The page
// is laid out for paper and for screens at least 400 pixels wide, in light and dark colours.
//
// Errors: all errors of w.
func (r *Report) WriteHTML(w io.Writer) error {
	if r == nil {
		r = &Report{}
	}
	var b strings.Builder
	if err := page.Execute(&b, r); err != nil {
		return err
	}
	_, err := io.WriteString(w, unseen.ReplaceAllStringFunc(b.String(), func(s string) string {
		return strings.Trim(strconv.QuoteToASCII(s), `"`)
	}))
	return err
}

// unseen matches characters that nobody sees, such as those that reverse the text after them. Names
// and levels come from files, and none must look like another, so a page shows these as escapes.
var unseen = regexp.MustCompile(`[^\P{C}\n\t]|` + // and letters and marks that have no shape
	`[\x{34F}\x{115F}\x{1160}\x{17B4}\x{17B5}\x{180B}-\x{180F}\x{2800}\x{3164}\x{FE00}-\x{FE0F}` +
	`\x{FFA0}\x{E0100}-\x{E01EF}]`)

// section is an entry of the table of contents.
type section struct{ ID, Name string }

func sections(r *Report) []section {
	list := []section{{"guarantee", "Guarantee"}, {"bill", "Bill"}, {"records", "Records"}}
	for _, s := range []struct {
		section
		there bool
	}{{section{"columns", "Columns"}, r.Columns != nil},
		{section{"quality", "Shapes and pairs"}, r.Quality != nil},
		{section{"three-way", "Three-way tables"}, r.ThreeWay != nil},
		{section{"sets", "Sets"}, r.Sets != nil}, {section{"images", "Images"}, r.Images != nil},
		{section{"classifiers", "Classifiers"}, r.Classifiers != nil},
		{section{"ceiling", "Noise ceiling"}, r.Ceiling != nil},
		{section{"propensity", "Propensity"}, r.Propensity != nil},
		{section{"queries", "Counting queries"}, r.Queries != nil},
		{section{"risk", "Risk"}, r.Risk != nil},
		{section{"fidelity", "Released fidelity"}, r.Fidelity != nil}} {
		if s.there {
			list = append(list, s.section)
		}
	}
	return list
}

// number covers the numeric types of a report.
func number(v any) float64 {
	switch x := v.(type) {
	case Number:
		return float64(x)
	case float64:
		return x
	case int:
		return float64(x)
	}
	return math.NaN()
}

// number4 writes a number with up to four decimals, and a missing number as a dash.
func number4(v any) string {
	switch x := number(v); {
	case math.IsNaN(x):
		return "–"
	case math.IsInf(x, 0):
		return "∞"
	case x != 0 && (math.Abs(x) < 1e-3 || math.Abs(x) >= 1e6):
		return fmt.Sprintf("%.3g", x)
	case math.Abs(x) >= 100:
		return fmt.Sprintf("%.1f", x)
	default:
		return fmt.Sprintf("%.4f", x)
	}
}

// upper writes an upper bound, such as ε, with up to the given number of digits.
func upper(v any, digits int) string {
	switch x := number(v); {
	case math.IsNaN(x):
		return "–"
	case math.IsInf(x, 0):
		return "∞"
	default:
		return accountant.FormatUpper(x, digits)
	}
}

// percent writes a fraction as a percentage.
func percent(n Number) string {
	if n.IsNone() {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(n))
}

func complement(v float64) float64 { return 1 - v }

func dataURL(png []byte) template.URL {
	return template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(png))
}

// doubled reports whether the bound for a replaced record differs from the bound for one record.
func doubled(r *Risk) bool {
	for i := range min(len(r.Bound.TruePositive), len(r.SplitBound.TruePositive)) {
		if r.Bound.TruePositive[i] != r.SplitBound.TruePositive[i] {
			return true
		}
	}
	return false
}
