package ledger

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
)

// Guarantee states what an auditor needs to know about everything reserved on a ledger. It has a
// text and a JSON form.
type Guarantee struct {
	Epsilon  float64             `json:"epsilon"` // published: the upper end
	Delta    float64             `json:"delta"`
	Relation accountant.Relation `json:"relation"`
	Unit     string              `json:"unit"` // whose presence or content is protected
	// RowsPerUnit is the largest number of rows read of one unit; 0 if a unit is a single row.
	RowsPerUnit int      `json:"rows_per_unit,omitempty"`
	Lower       float64  `json:"lower"`
	Budget      float64  `json:"budget_epsilon"`
	Accountant  string   `json:"accountant"`
	Samplers    []string `json:"samplers"`
	// Parts are the groups of disjoint parts, with what was declared about them.
	Parts      []Parts          `json:"parts,omitempty"`
	NoiseClass []NoiseClass     `json:"noise_class"`
	Entries    []GuaranteeEntry `json:"entries"`
	NotCovered []string         `json:"not_covered"`
	// NotPrivate, if not empty, is the reason why there is no guarantee.
	NotPrivate string `json:"not_private,omitempty"`
	// Kept says where the ledger is stored; nil for a ledger in memory.
	Kept *Kept `json:"kept,omitempty"`
}

// GuaranteeEntry is one entry of the ledger. It holds the event in words, and also the JSON form
// that [MarshalEvent] writes. The price can be recomputed from the JSON form.
type GuaranteeEntry struct {
	Purpose     string          `json:"purpose"`
	Description string          `json:"description"`
	Event       json.RawMessage `json:"event"`
	Reserved    int             `json:"reserved"`
	Spent       int             `json:"spent"`
	NoiseClass  []NoiseClass    `json:"noise_class,omitempty"`
	// Late says that some or all uses of the entry were reserved after a first release.
	Late bool `json:"late,omitempty"`
	// Lines are the journal lines that reserved the entry.
	Lines *LineSpan `json:"lines,omitempty"`
}

// Guarantee returns what the ledger promises about everything reserved so far.
func (l *Ledger) Guarantee() Guarantee {
	l = l.original()
	unread := l.shared.refresh()
	l.quote()
	l.shared.state.Lock()
	defer l.shared.state.Unlock()
	r, err := l.priceFull()
	if unread != nil { // the reservations of other processes are unknown
		r, err = accountant.Price{Bound: infinite}, unread
	}
	g := Guarantee{Epsilon: r.Upper, Delta: l.budget.Delta, Relation: l.budget.Relation,
		Unit: l.shared.root.unitName(), Lower: r.Lower,
		Budget: l.budget.Epsilon, Accountant: r.Engine, NotPrivate: l.shared.notPrivate(),
		Kept: l.shared.journal.kept()}
	if err != nil {
		g.Accountant = "none: " + err.Error()
	}
	if r.AtEdge {
		g.Accountant += "; the best order is the smallest or the largest one tried"
	}
	classes := map[NoiseClass]bool{}
	g.collect(l, "", classes)
	if len(g.Entries) > 0 {
		g.Samplers = accountant.Samplers(l.event(nil, nil, 0))
	}
	for _, c := range []NoiseClass{ExactNoise, RealNoise} {
		if classes[c] {
			g.NoiseClass = append(g.NoiseClass, c)
		}
	}
	g.NotCovered = g.exceptions(l.filter != 0)
	return g
}

func (g *Guarantee) collect(l *Ledger, prefix string, classes map[NoiseClass]bool) {
	for _, en := range l.entries {
		for _, c := range en.notes {
			classes[c] = true
		}
		g.Entries = append(g.Entries,
			GuaranteeEntry{prefix + en.purpose, accountant.Describe(en.event), json.RawMessage(en.key),
				en.reserved, en.spent, append([]NoiseClass(nil), en.notes...), en.late, en.lines.copied()})
	}
	names := groupNames(l.groups)
	for k, p := range l.groups {
		named := p.Parts
		named.Purpose = prefix + names[k]
		g.Parts = append(g.Parts, named)
		for i, c := range p.children {
			g.collect(c, fmt.Sprintf("%s%s%d of %d: ", named.Purpose, partMark, i+1, p.N), classes)
		}
	}
}

// groupNames numbers groups of one name: whoever reads the entries must not take parts of two
// groups, which compose, for parts of one.
func groupNames(groups []*partGroup) []string {
	names, taken, last := make([]string, len(groups)), map[string]bool{}, map[string]int{}
	for i, p := range groups {
		name := p.Purpose
		for taken[name] {
			last[p.Purpose]++
			name = fmt.Sprintf("%s (%d)", p.Purpose, last[p.Purpose]+1)
		}
		names[i], taken[name] = name, true
	}
	return names
}

func (g *Guarantee) exceptions(filtered bool) []string {
	out := []string{
		"inputs declared public: schema, bounds, levels, vocabulary, nominal sizes, sampling rates, " +
			"numbers of steps, initial and pre-trained values",
		"choices of hyper-parameters, models or seeds that were made by looking at results on these " +
			"records outside this ledger",
		"quality reports that compare with the real records",
		"running time, memory use and other side channels",
		"anything computed from these records outside this ledger",
	}
	if text := (accountant.Budget{Epsilon: g.Epsilon, Delta: g.Delta}).Caution(0); text != "" {
		out = append(out, text)
	}
	late := false
	for _, e := range g.Entries {
		late = late || e.Late
	}
	if late && !filtered {
		out = append(out,
			"events reserved after a first release (marked *): covered if their parameters and their "+
				"number were fixed before it")
	}
	return out
}

// margin returns the largest relative excess of the published ε over the smallest ε that holds;
// +Inf if unknown.
func (g Guarantee) margin() float64 {
	if g.Lower <= 0 {
		if g.Epsilon == 0 {
			return 0
		}
		return math.Inf(1)
	}
	return g.Epsilon/g.Lower - 1
}

// String returns the guarantee as text for an auditor.
func (g Guarantee) String() string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		head := fmt.Sprintf("%-12s ", name)
		b.WriteString(param.Lines("  "+head+param.OneLine(fmt.Sprintf(format, args...))+"\n", head))
	}
	if g.NotPrivate != "" {
		bar := strings.Repeat("!", 78)
		fmt.Fprintf(&b,
			"%s\n!!! NOT PRIVATE: %s\n!!! The lines below WOULD hold for the same run with secret "+
				"noise.\n%s\n", bar, param.OneLine(g.NotPrivate), bar)
	}
	b.WriteString("Differential privacy guarantee\n")
	line("promise", "ε = %s, δ = %s", accountant.FormatUpper(g.Epsilon, 6),
		accountant.FormatUpper(g.Delta, 3))
	line("relation", "%s: %s", g.Relation, g.Relation.Meaning(g.Unit))
	line("unit", "%s", g.Units())
	if g.Kept != nil {
		line("ledger", "%s", g.Kept)
	}
	line("budget", "ε = %g at the same δ (%s used)", g.Budget, percent(g.Epsilon, g.Budget))
	switch m := g.margin(); {
	case math.IsInf(m, 1):
		line("accountant", "%s; upper bound", g.Accountant)
	default:
		line("accountant", "%s; upper bound, at most %s%% above the smallest ε that holds",
			g.Accountant, accountant.FormatUpper(100*m, 2))
	}
	for _, s := range g.Samplers {
		line("sampler", "%s", s)
	}
	for _, p := range g.Parts {
		line("parts", "%s", p.text())
	}
	if len(g.NoiseClass) == 0 {
		line("noise", "class not stated")
	}
	for _, c := range g.NoiseClass {
		line("noise", "%s", c.meaning())
	}
	b.WriteString("Set aside (all of it counts, used or not)\n")
	if len(g.Entries) == 0 {
		b.WriteString("  nothing\n")
	}
	for i := 0; i < len(g.Entries); {
		alike := alikeParts(g.Entries[i:])
		b.WriteString(param.Lines(g.Entries[i].lines(alike), ""))
		i += alike
	}
	b.WriteString("Not covered\n")
	for _, s := range g.NotCovered {
		b.WriteString(param.Lines(fmt.Sprintf("  - %s\n", param.OneLine(s)), "- "))
	}
	return b.String()
}

// alikeParts returns the number of leading entries that are consecutive parts of one group and
// otherwise equal.
func alikeParts(entries []GuaranteeEntry) int {
	first, ok := partNameOf(entries[0].Purpose)
	if !ok {
		return 1
	}
	for n := 1; n < len(entries); n++ {
		next := entries[n]
		if next.Purpose != first.before+strconv.Itoa(first.number+n)+first.after {
			return n
		}
		next.Purpose = entries[0].Purpose
		if !reflect.DeepEqual(next, entries[0]) {
			return n
		}
	}
	return len(entries)
}

// lines describes the entry. If alike > 1, the text covers that many equal consecutive parts.
func (e GuaranteeEntry) lines(alike int) string {
	var b strings.Builder
	mark, taken := "", "taken"
	if p, ok := partNameOf(e.Purpose); alike > 1 && ok {
		e.Purpose = fmt.Sprintf("%ss %d to %d%s", strings.TrimSuffix(p.before, " "), p.number,
			p.number+alike-1, p.after)
		taken = "in each part, taken"
	}
	if e.Late {
		mark = " *"
	}
	fmt.Fprintf(&b, "  %s%s\n      %d × %s\n      %s: %d", param.OneLine(e.Purpose), mark, e.Reserved,
		param.OneLine(e.Description), taken, e.Spent)
	for _, c := range e.NoiseClass {
		fmt.Fprintf(&b, "; noise: %s", param.OneLine(string(c)))
	}
	if e.Lines != nil {
		fmt.Fprintf(&b, "; %s", e.Lines)
	}
	b.WriteByte('\n')
	return b.String()
}

// percent returns part ÷ whole as a percentage that is rounded up to one decimal.
func percent(part, whole float64) string {
	tenths := 1000 * part / whole
	if !(whole > 0) || math.IsInf(tenths, 0) {
		return "–"
	}
	// The quotient is rounded: the smallest sufficient number of tenths is near it.
	tenths = max(math.Floor(tenths)-1, 0)
	for range 3 {
		if !below(tenths, whole, 1000, part) {
			break
		}
		tenths++
	}
	return fmt.Sprintf("%.1f%%", tenths/10)
}

// below reports whether a·b < c·d, without rounding.
func below(a, b, c, d float64) bool {
	left, right := a*b, c*d
	if left != right {
		return left < right
	}
	return math.FMA(a, b, -left) < math.FMA(c, d, -right)
}

// MarshalJSON writes the guarantee. An infinite ε, which JSON cannot represent, is the
// string "inf".
func (g Guarantee) MarshalJSON() ([]byte, error) {
	type plain Guarantee
	return json.Marshal(struct {
		plain
		Epsilon jsonFloat `json:"epsilon"`
		Lower   jsonFloat `json:"lower"`
	}{plain(g), jsonFloat(g.Epsilon), jsonFloat(g.Lower)})
}

type jsonFloat float64

func (f jsonFloat) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(f), 1) {
		return []byte(`"inf"`), nil
	}
	return json.Marshal(float64(f))
}

func (f *jsonFloat) UnmarshalJSON(data []byte) error {
	if string(data) == `"inf"` {
		*f = jsonFloat(math.Inf(1))
		return nil
	}
	return param.Decode(data, (*float64)(f))
}
