package records_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

// The files of pins hold digests of what was read, encoded, decoded and written of random tables
// when the files were written. Whoever means to change one of these writes them anew and says why.
var updatePins = flag.Bool("update-pins", false, "write the files of pins")

// comparePins compares lines with those of a file, for a processor whose math.Log and math.Exp
// round as those of the machine that wrote it.
func comparePins(t *testing.T, name string, got []string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *updatePins {
		if err := os.WriteFile(file, []byte(strings.Join(got, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("other processors round logarithms otherwise")
	}
	want := strings.Split(strings.TrimSuffix(string(must(os.ReadFile(file))(t)), "\n"), "\n")
	if len(got) != len(want) {
		t.Errorf("%d lines, want the %d of %s", len(got), len(want), file)
	}
	wrong, of := 0, ""
	for i := range min(len(got), len(want)) {
		if !strings.HasPrefix(got[i], " ") {
			of = got[i]
		}
		if got[i] == want[i] {
			continue
		}
		if wrong++; wrong > 5 {
			t.Fatal("and more lines")
		}
		t.Errorf("%s:%d: of %s\n got %s\nwant %s", file, i+1, of, got[i], want[i])
	}
}

// A pinner draws tables and collects what is said of them.
type pinner struct {
	*rand.Rand
	t     *testing.T
	lines []string
}

// say writes a name, short numbers, a refusal in one line, and a digest of anything longer.
func (p *pinner) say(what string, err error, results ...any) {
	line, h := "  "+what+":", sha256.New()
	if err != nil {
		line += fmt.Sprintf(" %.100s", strings.ReplaceAll(err.Error(), "\n", " + "))
		fmt.Fprintln(h, err)
	}
	for _, r := range results {
		text := fmt.Sprintf("%v", r)
		if b, ok := r.([]byte); ok {
			text = string(b)
		}
		if len(text) < 10 {
			line += " " + strings.ReplaceAll(text, "\n", " + ")
		} else {
			fmt.Fprintln(h, text)
		}
	}
	p.lines = append(p.lines, fmt.Sprintf("%s #%.4x", line, h.Sum(nil)))
}

func (p *pinner) rarely(n int) bool { return p.IntN(n) == 0 }

func (p *pinner) pick(list ...string) string { return list[p.IntN(len(list))] }

var pinnedDay = time.Date(2026, 3, 1, 12, 30, 0, 0, time.UTC)

// column draws a column of any kind and with any options.
func (p *pinner) column(name string) records.Column {
	levels := []string{"a", "b", "c d", "é", "x,y", "=1"}[:2+p.IntN(5)]
	lo := float64(p.IntN(9) - 4)
	hi := lo + float64(1+p.IntN(40))/4
	c := records.Numeric(name, lo, hi)
	switch p.IntN(11) {
	case 0:
		c = c.WithStep([]float64{0.25, 0.1, 1, 3}[p.IntN(4)])
	case 1:
		c = c.Logarithmic()
	case 2:
		c = records.Integer(name, int(lo), int(lo)+p.IntN(300))
		if p.rarely(2) {
			c = c.Logarithmic()
		}
	case 3:
		c = records.Ordinal(name, levels...)
	case 4:
		c = records.Categorical(name, levels...)
		if p.rarely(2) {
			c = c.WithOther(levels[p.IntN(len(levels))])
		}
		if p.rarely(2) {
			c = c.WithAlias(levels[0], "A.", "first")
		}
	case 5:
		c = records.Flag(name, "no", "yes")
	case 6, 7:
		step := []time.Duration{time.Second, time.Minute, 24 * time.Hour, time.Millisecond}[p.IntN(4)]
		c = records.Datetime(name, pinnedDay, pinnedDay.Add(time.Duration(p.IntN(900))*time.Hour), step)
		if p.rarely(2) {
			c = c.WithParts(records.CalendarParts(p.IntN(8)))
		}
		if p.rarely(3) {
			c = c.WithFormat(p.pick("2006-01-02", "02.01.2006 15:04", "15:04", "?"))
		}
	case 8:
		c = records.Duration(name, -time.Minute, time.Duration(p.IntN(9))*time.Hour,
			[]time.Duration{time.Second, time.Minute, 7 * time.Second}[p.IntN(3)])
		if p.rarely(2) {
			c = c.Logarithmic()
		}
	case 9:
		c = records.Hashed(name, 2+p.IntN(6), []string{"aspirin", "b"}[:p.IntN(3)]...)
		if p.rarely(2) {
			c = c.WithOther("other")
		}
	case 10:
		c = records.Identifier(name, []records.IdentifierRule{records.Sequence(int64(p.IntN(99))),
			records.UUID(), records.Pattern("V-##-??")}[p.IntN(3)])
	}
	if p.rarely(3) {
		c = c.WithMissing()
		if p.rarely(2) {
			c = c.WithAlias("", "none", "-")
		}
	}
	if p.rarely(9) {
		c = c.WithBounds(lo+0.3, hi-0.2)
	}
	if p.rarely(9) {
		c = c.WithLevels("b", "z")
	}
	return c
}

func (p *pinner) columns() (list []records.Column) {
	first := records.Flag("first", "0", "1")
	for i := range 1 + p.IntN(6) {
		c := p.column(fmt.Sprint("c", i))
		for _, err := records.NewSchema(first, c); err != nil && !p.rarely(25); {
			c = p.column(c.Name())
			_, err = records.NewSchema(first, c)
		}
		list = append(list, c)
	}
	switch p.IntN(5) {
	case 0:
		list = append(list, records.Target("t", -1, float64(p.IntN(4))))
	case 1, 2:
		list = append(list, records.Label("l", "no", "yes", "maybe").WithAlias("yes", "Y"))
	}
	return list
}

// constraints draws rules of the columns, some of which make no sense.
func (p *pinner) constraints(s records.Schema) (all []records.Constraint) {
	list := s.Columns()
	name := func() string { return list[p.IntN(len(list))].Name() }
	for range p.IntN(16) {
		a, b := name(), name()
		c := []records.Constraint{records.Ascending(a, b), records.StrictlyAscending(a, b),
			records.Unique(a), records.Unique(a, b), records.Determines([]string{a, b}),
			records.Within(a, -2, 3), records.Only(a, "a", "b"), records.Only(a, 1, 2),
			records.Combinations([]string{a, b}, []string{"a", "yes"}, []string{"b", ""}),
			records.Within(a, pinnedDay, pinnedDay.Add(time.Hour)), records.Within(a, 0, time.Hour),
			records.Determines([]string{a, b}, []string{"a", "no"})}[p.IntN(12)]
		if p.rarely(3) {
			c = c.OrMissing()
		}
		if p.rarely(3) {
			c = c.Repaired()
		}
		if s.WithConstraints(c).Validate() == nil || p.rarely(40) {
			all = append(all, c)
		}
	}
	return all
}

// cell draws a text, which may be outside the bounds, no value or missing.
func (p *pinner) cell(c records.Column) string {
	if p.rarely(8) {
		return p.pick("", "?", "junk", "1e400", "NaN", "-", "none", " ", "a\"b", "-0", "0x1p3", "1_0")
	}
	lo, hi := c.Bounds()
	v := lo + (hi-lo)*(1.2*p.Float64()-0.1)
	switch c.Kind() {
	case records.DatetimeColumn:
		from, to := c.Times()
		at := from.Add(time.Duration(float64(to.Sub(from)) * (1.2*p.Float64() - 0.1)))
		layout := time.RFC3339
		if c.Format() != "" && p.rarely(2) {
			layout = c.Format()
		}
		return at.Format(p.pick(layout, layout, "2006-01-02", time.RFC3339Nano, "2006-01-02 15:04:05"))
	case records.DurationColumn:
		d := time.Duration(v * 1e9)
		return p.pick(d.String(), fmt.Sprint(d.Seconds()), fmt.Sprintf("%dh%dm", p.IntN(3), p.IntN(70)))
	case records.HashedColumn:
		return p.pick("aspirin", "b", "other", fmt.Sprint("text ", p.IntN(9)), "A")
	case records.IdentifierColumn:
		return p.pick("V-12-AB", "7", "")
	}
	if levels := c.Levels(); len(levels) > 0 {
		return p.pick(append(levels, levels[0]+" ", "A.", "first", "Y", "other")...)
	}
	return p.pick(fmt.Sprint(v), fmt.Sprint(v), fmt.Sprintf("%.1f", v), fmt.Sprint(int(v)),
		fmt.Sprintf(" %g", v), fmt.Sprintf("%e", v))
}

// file draws the text of a table.
func (p *pinner) file(list []records.Column, layout records.CSV) string {
	comma := ","
	if layout.Comma != 0 {
		comma = string(layout.Comma)
	}
	order := p.Perm(len(list))
	if !layout.Header {
		slices.Sort(order)
	}
	var b strings.Builder
	if layout.Header {
		for _, i := range order {
			b.WriteString(list[i].Name() + comma)
		}
		b.WriteString("more\n")
	}
	for range 1 + p.IntN(14) {
		var row []string
		for _, i := range order {
			text := p.cell(list[i])
			if strings.ContainsAny(text, comma+"\"") || p.rarely(7) {
				text = `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
			}
			row = append(row, text)
		}
		if layout.Header {
			row = append(row, "x")
		}
		switch p.IntN(12) {
		case 0:
			row = row[:len(row)-1]
		case 1:
			row = append(row, `"open`)
		case 2:
			b.WriteString(p.pick("\n", "# a comment\n", "   \n"))
		}
		b.WriteString(strings.Join(row, comma) + p.pick("\n", "\n", "\r\n"))
	}
	return b.String()
}

// frame says all that there is to say of a table.
func (p *pinner) frame(what string, f *records.Frame) {
	var b device.Batch
	f.Range(0, f.Len(), &b)
	var flat []any
	for i := range b.Rows {
		for _, v := range b.Dense.Row(i) {
			flat = append(flat, math.Float32bits(v))
		}
	}
	var cells []any
	for i := range f.Len() {
		for j := range f.Schema().Columns() {
			d, isD := f.Duration(i, j)
			at, isT := f.Time(i, j)
			w, isW := f.Whole(i, j)
			cells = append(cells, f.Value(i, j), f.Number(i, j), f.Level(i, j), f.Problem(i, j),
				f.Stray(i, j), d, isD, at, isT, w, isW)
		}
		cells = append(cells, string(f.AppendJSON(nil, i)), f.Label(i))
	}
	index := slices.Clone(b.Index)
	if f.Len() > 0 {
		f.Gather([]int32{int32(f.Len() - 1), 0, 0}, &b)
	}
	p.say(what, records.Check(f), f.Len(), cellsOf(f), cells, flat, b.Labels, index, b.Index,
		b.Dense.Data)
}

// data says what there is to say of any data.
func (p *pinner) data(what string, d records.Data) {
	if f, ok := d.(*records.Frame); ok {
		p.frame(what, f)
		return
	}
	var b device.Batch
	d.Range(0, d.Len(), &b)
	text := fmt.Sprint(b.Rows, b.Dense, b.Labels, b.Index)
	if b.Dense.Data == nil {
		var z records.Nonzeros
		z.Range(d, 0, d.Len())
		text = fmt.Sprint(z.Rows, z.Places, z.Values, z.Labels)
	}
	p.say(what, nil, d.Len(), d.Schema(), text)
}

func (p *pinner) bytes(what string, write func(w io.Writer) error) []byte {
	var out bytes.Buffer
	err := write(&out)
	p.say(what, err, out.Len(), out.Bytes())
	return out.Bytes()
}

func (p *pinner) table(seed int) {
	list := p.columns()
	s, err := records.NewSchema(list...)
	if err == nil {
		s = s.WithConstraints(p.constraints(s)...)
		err = s.Validate()
	}
	var shown []string
	for _, c := range list {
		shown = append(shown, c.String(), fmt.Sprint(c.Bounds()), fmt.Sprint(c.WholeBounds()),
			fmt.Sprint(c.Durations()), fmt.Sprint(c.Step(), c.LogUnit(), c.Other(), c.Levels()))
	}
	p.lines = append(p.lines, fmt.Sprintf("%d %v %v", seed, s, s.Constraints()))
	p.say("columns", err, shown)
	if err != nil {
		return
	}
	text := must(json.Marshal(s))(p.t)
	back, err := records.ReadSchema(bytes.NewReader(text))
	p.say("schema", err, text, s.Blocks(), s.MaxNorm(), s.Dim(), back.Equal(s),
		records.Difference(s.WithoutLabels(), s))
	met, joint, err := records.Conditions(s, s.Constraints())
	p.say("conditions", err, met, err, joint)
	layout := records.CSV{Header: p.rarely(2), FirstRecord: true}
	if p.rarely(4) {
		layout.Comma, layout.Missing, layout.Comment = ';', []string{"junk", "?"}, '#'
	}
	file := p.file(list, layout)
	var strays []string
	layout.Strays = func(column int, problem, text string) {
		strays = append(strays, fmt.Sprint(column, problem, text))
	}
	f, err := layout.ReadFrame(strings.NewReader(file), s)
	p.say("file", err, file, len(strays), strays)
	if err != nil {
		return
	}
	p.frame("read", f)
	p.encodings(s, f)
	p.bytes("CSV", func(w io.Writer) error { return layout.WriteFrame(w, f) })
	lines := p.bytes("JSON", func(w io.Writer) error { return records.JSONLines{}.WriteFrame(w, f) })
	again, err := records.JSONLines{}.ReadFrame(bytes.NewReader(lines), s)
	p.say("JSON is read", err, cellsOf(again))
	for part, err := range layout.Stream(strings.NewReader(file), s, 4) {
		p.say("stream", err, part.Len(), cellsOf(part))
	}
	p.frame("some", f.Take([]int32{0, int32(f.Len() - 1), 0}).Slice(1, 3))
	both, err := records.Concat(s, f, records.Clamped(f), f.Slice(0, 1))
	p.say("concat", err)
	if c, ok := records.AsFrame(both); ok && err == nil {
		p.frame("concat", c)
	}
	recoded, err := records.Recode(f, s, func(row, column int, text string, level int) int {
		return (level + row) % 3
	})
	p.say("recode", err, recoded != nil && recoded.Len() == f.Len())
	named, err := records.WithIdentifiers(f, 5, uint64(seed))
	if c, ok := named.(*records.Frame); ok && err == nil {
		p.frame("identifiers", c)
	}
	none := f.Slice(0, 0)
	named, err = records.WithIdentifiers(none, 5, uint64(seed))
	p.say("no rows", err, named == records.Data(none))
	p.persons(f, layout, file, s)
	p.enforced(f, s)
}

// encodings reads back what is encoded, and numbers that no record has.
func (p *pinner) encodings(s records.Schema, f *records.Frame) {
	flat, _ := f.Encoded().Flat()
	labels := f.Labels()
	again, err := records.DecodeFlat(s, flat, labels...)
	p.say("decode", err)
	if err == nil {
		p.frame("decoded", again)
	}
	var z records.Nonzeros
	z.Range(f, 0, f.Len())
	z.Gather(f, []int32{int32(f.Len() - 1), 0})
	again, err = records.DecodeNonzeros(s, &z)
	p.say("nonzeros", err, z.Rows, z.Places, z.Values, z.Labels)
	if err == nil {
		p.frame("nonzeros", again)
	}
	drawn := make([]float32, 6*s.Dim())
	for i := range drawn {
		drawn[i] = float32(p.NormFloat64())
		if p.rarely(20) {
			drawn[i] = []float32{float32(math.NaN()), float32(math.Inf(1)), -1e30, 1}[p.IntN(4)]
		}
	}
	var classes []int32
	if s.Classes() > 0 {
		classes = []int32{0, 1, 2, -1, 9, 0}
	}
	again, err = records.DecodeFlat(s, drawn, classes...)
	p.say("decode drawn", err)
	if err == nil {
		p.frame("drawn", again)
	}
	s.Clamp(drawn[:s.Dim()])
	p.say("clamp", nil, drawn[:s.Dim()])
}

func (p *pinner) persons(f *records.Frame, layout records.CSV, file string, s records.Schema) {
	keys := make([]string, f.Len())
	for i := range keys {
		keys[i] = p.pick("ann", "bob", "eve")
	}
	most := 1 + p.IntN(3)
	people, err := records.GroupBy(f, keys, most)
	if err != nil {
		p.say("persons", err)
		return
	}
	var spans []any
	for i := range people.Len() {
		lo, hi := people.Span(i)
		spans = append(spans, lo, hi, people.Share(lo))
	}
	rows, shares := records.RowsOf(people)
	part, parts := records.PartOf(records.WithPart(people, 2, 3))
	p.say("persons", records.Check(people), people.Len(), spans, rows.Len(), shares,
		people.AppendRows(nil, []int32{0}), records.UnitOf(people), part, parts,
		records.CheckUnitOf("x", people, "record"), records.CheckPersons("x", people, s))
	p.data("rows of persons", people.Slice(0, 1).Rows())
	if layout.Header {
		read, err := layout.ReadPersons(strings.NewReader(file), s, "more", most)
		if err == nil {
			p.data("read persons", read.Rows())
		} else {
			p.say("read persons", err)
		}
	}
}

func (p *pinner) enforced(f *records.Frame, s records.Schema) {
	e, err := records.NewEnforcer(s, s.Constraints()...)
	if err != nil {
		p.say("enforce", err)
		return
	}
	for _, most := range []int{2, 100} {
		kept, err := e.Keep(f, most)
		if c, ok := kept.(*records.Frame); ok && err == nil {
			p.frame("kept", c)
		} else {
			p.say("kept", err)
		}
		p.say("acceptance", nil, e.Kept(), e.Tried(), e.Acceptance())
	}
}

// TestPinsOfTables: random tables of all kinds of columns, read from random files.
func TestPinsOfTables(t *testing.T) {
	p := &pinner{t: t}
	for seed := range 110 {
		p.Rand = rand.New(rand.NewPCG(uint64(seed), 881))
		p.table(seed)
	}
	comparePins(t, "pins_tables.txt", p.lines)
}

// TestPinsOfLinkedTables: random rows of customers, accounts and transactions.
func TestPinsOfLinkedTables(t *testing.T) {
	p := &pinner{t: t}
	for seed := range 24 {
		p.Rand = rand.New(rand.NewPCG(uint64(seed), 882))
		d := bank(t)
		d.Children[0].Most, d.Children[0].Ordered = 1+seed%3, seed%2 == 0
		if seed%4 == 1 {
			d.Children[0].Ordered, d.Children[0].Gaps = true, "limit"
			d.Children[0].Constraints = []records.Constraint{records.Within("limit", 1, 8)}
		}
		p.lines = append(p.lines, fmt.Sprint(seed, " tables"))
		p.say("tables", d.Validate(), must(json.Marshal(d))(t), d.Full())
		if d.Validate() != nil {
			continue
		}
		l := randomHeap(p.Rand).read(t, d)
		p.say("records", records.Check(l), l.Len(), l.Unit(), l.Schema())
		var b device.Batch
		l.Range(0, l.Len(), &b)
		l.Gather([]int32{0}[:min(1, l.Len())], &b)
		p.say("encoded", nil, b.Rows, b.Dense.Data, b.Labels)
		for i := range d.All() {
			rows, parents := l.Table(i)
			p.say("parents", nil, i, parents)
			p.frame("rows", rows)
			p.data("keyed", l.Keyed(i, [][]int{nil, {seed, 2 * seed, 7}}[seed%2]))
			if i == len(d.All())-1 {
				continue
			}
			seen := l.Seen(i)
			s, known, own := d.Seen(i)
			p.say("seen", nil, seen.Len(), known, s, own, s.Constraints())
			p.data("seen", seen.Rows())
		}
		written := map[string]*bytes.Buffer{}
		err := records.CSV{}.WriteTables(func(name string) (io.WriteCloser, error) {
			written[name] = &bytes.Buffer{}
			return nopCloser{written[name]}, nil
		}, func(yield func(*records.Linked, error) bool) { yield(l, nil) })
		p.say("written", err, written)
		p.grown(d, l)
	}
	comparePins(t, "pins_linked.txt", p.lines)
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// grown draws children for the roots that were read.
func (p *pinner) grown(d records.Tables, l *records.Linked) {
	roots, _ := l.Table(0)
	grown, err := records.Grow(d, roots, func(i int, known *records.Nonzeros) (*records.Frame, error) {
		s, n, own := d.Seen(i)
		p.say("known", nil, i, n, s.Dim(), known.Rows, known.Places, known.Values)
		flat := make([]float32, known.Rows*own.Dim())
		for k := range flat {
			flat[k] = p.Float32()
		}
		return records.DecodeFlat(own, flat)
	})
	if err != nil {
		p.say("grown", err)
		return
	}
	for i := range d.All() {
		rows, parents := grown.Table(i)
		p.say("grown parents", nil, i, parents)
		p.frame("grown", rows)
	}
}

// TestPinsOfSets: random transactions and visits.
func TestPinsOfSets(t *testing.T) {
	p := &pinner{t: t}
	for seed := range 40 {
		p.Rand = rand.New(rand.NewPCG(uint64(seed), 883))
		s := records.Sets(5+p.IntN(30), 1+p.IntN(6))
		if p.rarely(3) {
			s = s.WithLabels("a", "b", "c")
		}
		var file, visits strings.Builder
		visits.WriteString("user;item\n")
		for range p.IntN(14) {
			for k := range p.IntN(9) {
				if k > 0 {
					file.WriteString(p.pick(" ", " ", "\t", "  "))
				}
				item := p.pick(fmt.Sprint(p.IntN(40)), fmt.Sprint(p.IntN(5)), fmt.Sprint(p.IntN(5)), "x",
					"-1", "1e1")
				file.WriteString(item)
				fmt.Fprintf(&visits, "%s;%s\n", p.pick("ann", "bob", "", " eve", `"ann"`), item)
			}
			file.WriteString(p.pick("\n", "\n", "\r\n", "\n\n"))
		}
		p.lines = append(p.lines, fmt.Sprint(seed, " ", s))
		form, err := json.Marshal(s)
		p.say("schema", err, form, s.MaxNorm())
		read, err := records.ReadTransactions(strings.NewReader(file.String()), s)
		p.set("read", s, read, err)
		for part, err := range records.StreamTransactions(strings.NewReader(file.String()), s, 3) {
			p.set("stream", s, part, err)
		}
		read, err = records.Visits{Comma: ';', Header: true, User: "user", Item: "item"}.Read(
			strings.NewReader(visits.String()), s)
		p.set("visits", s, read, err)
		read, err = records.Visits{Comma: ';', Column: 1}.Read(strings.NewReader(visits.String()), s)
		p.set("visits by place", s, read, err)
		items := make([]uint32, p.IntN(12))
		for i := range items {
			items[i] = uint32(p.IntN(9))
		}
		p.say("cut", nil, records.CutSet(slices.Clone(items), s.MaxItems()))
		b := must(records.NewSetBuilder(s))(t)
		p.say("add", b.Add(items), b.Len())
		read, err = b.Table([]int32{2}[:min(s.Classes(), 1)]...)
		p.set("built", s, read, err)
	}
	comparePins(t, "pins_sets.txt", p.lines)
}

func (p *pinner) set(what string, s records.Schema, d *records.SetTable, err error) {
	if err != nil {
		p.say(what, err)
		return
	}
	var all [][]uint32
	err = records.EachSet(d, func(_ int, items []uint32) error {
		all = append(all, slices.Clone(items))
		return nil
	})
	var b device.Batch
	d.Range(0, d.Len(), &b)
	p.say(what, err, d.Len(), all, d.Unit(), d.Labels(), records.Check(d))
	if b.Sparse != nil {
		p.say("  batch", nil, b.Sparse.Offsets, b.Sparse.Items, b.Index)
	}
	if s.Classes() == 0 {
		p.bytes("  written", func(w io.Writer) error { return records.WriteTransactions(w, d) })
	}
	if d.Len() > 1 {
		p.say("  some", nil, d.Take([]int32{1, 0}).Slice(1, 2).Items(0), d.WithoutLabels().Labels())
	}
	if e, err := records.NewEnforcer(s, records.HasItems(1), records.LacksItems(2, 3)); err == nil {
		kept, err := e.Keep(d, 3)
		p.say("  kept", err, e.Acceptance(), e.Kept(), kept.Len())
	}
}

// TestPinsOfVectors: vectors and images, and the files that hold them.
func TestPinsOfVectors(t *testing.T) {
	p := &pinner{t: t}
	for seed := range 40 {
		p.Rand = rand.New(rand.NewPCG(uint64(seed), 884))
		lo := float64(p.IntN(5) - 3)
		s := []records.Schema{records.Binary(1 + p.IntN(5)), records.Interval(1+p.IntN(4), lo, lo+2.5),
			records.Image(2, 1+p.IntN(3)), records.RGBImage(1, 2), records.BinaryImage(2, 2),
			records.Interval(0, 1, 0)}[p.IntN(6)]
		var labels []int32
		n := 1 + p.IntN(5)
		if p.rarely(2) {
			s = s.WithLabels("x", "y", "z")
			for range n {
				labels = append(labels, int32(p.IntN(3)))
			}
			if p.rarely(4) {
				s, labels[0] = s.WithUnknown("?"), 7
			}
		}
		p.lines = append(p.lines, fmt.Sprint(seed, " ", s))
		form, err := json.Marshal(s)
		p.say("schema", err, form, s.MaxNorm(), s.Height(), s.Width(), s.Channels(), s.IsBinary())
		flat := make([]float32, n*max(s.Dim(), 0))
		levels := make([]uint8, len(flat))
		for i := range flat {
			flat[i], levels[i] = float32(lo+4*p.Float64()-1), uint8(p.IntN(256))
			if p.rarely(15) {
				flat[i] = float32(math.NaN())
			}
		}
		d, err := records.FromFlat(s, flat, labels...)
		p.vectors("flat", d, err)
		d, err = records.FromBytes(s, levels, labels...)
		p.vectors("bytes", d, err)
		if err != nil {
			continue
		}
		p.vectors("binary", records.Binarize(d, 0.4), nil)
		p.vectors("some", d.Take([]int32{int32(n - 1), 0}).Slice(0, 1), nil)
		p.say("by label", nil, d.RowsByLabel(), d.WithoutLabels().Labels())
		text := p.bytes("CSV", func(w io.Writer) error { return records.CSV{}.Write(w, d) })
		text = append(text, "1,2\nx,y,z\n"...)
		d2, err := records.CSV{FirstRecord: true}.Read(bytes.NewReader(text), s)
		p.vectors("CSV is read", d2, err)
		npy := p.bytes("NPY", func(w io.Writer) error { return records.WriteNPY(w, d) })
		d2, err = records.ReadNPY(bytes.NewReader(npy), s.WithoutLabels())
		p.vectors("NPY is read", d2, err)
		npz := p.bytes("NPZ", func(w io.Writer) error { return records.WriteNPZ(w, d) })
		d2, err = records.ReadNPZ(bytes.NewReader(npz), int64(len(npz)), s)
		p.vectors("NPZ is read", d2, err)
		var images, names bytes.Buffer
		err = records.WriteIDX(&images, &names, d)
		p.say("IDX", err, images.Bytes(), names.Bytes())
		d2, err = records.ReadIDX(&images, &names, s)
		p.vectors("IDX is read", d2, err)
	}
	comparePins(t, "pins_vectors.txt", p.lines)
}

func (p *pinner) vectors(what string, d *records.Table, err error) {
	if err != nil {
		p.say(what, err)
		return
	}
	var all []any
	for i := range d.Len() {
		all = append(all, d.Row(nil, i), d.Label(i))
	}
	var b device.Batch
	d.Gather([]int32{int32(d.Len() - 1), 0}, &b)
	p.say(what, records.Check(d), d.Len(), all, b.Dense.Data, b.Labels, b.Index)
	d.Range(d.Len()/2, d.Len(), &b)
	p.say("  half", nil, b.Rows, b.Dense.Data, b.Labels, b.Index)
}
