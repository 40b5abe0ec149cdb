package records_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

// bank describes customers, their accounts in order, and the transactions of an account.
func bank(t testing.TB) records.Tables {
	s := func(columns ...records.Column) records.Schema {
		return must(records.NewSchema(columns...))(t)
	}
	return records.Tables{Name: "customers", Key: "customer",
		Schema: s(records.Categorical("region", "n", "s"), records.Label("class", "a", "b")),
		Children: []records.Tables{{Name: "accounts", Key: "account", Parents: []string{"customer"},
			Most:    2,
			Ordered: true, Schema: s(records.Integer("limit", 0, 9), records.Flag("open", "no", "yes")),
			Children: []records.Tables{{Name: "transactions", Parents: []string{"customer", "account"},
				Most: 2, Schema: s(records.Numeric("amount", 0, 1))}}}}}
}

// A heap holds files whose rows are in any order, with keys that may be wrong.
type heap [3][][]string

var heads = [3]string{"customer,region,class", "account,customer,open,limit",
	"amount,customer,account"}

var heapKeys = []string{"0", ":1", "1", "0:"}

// randomHeap returns rows of up to four customers, of which any may lack a key, have one twice, or
// have too many rows. Keys of accounts are the same for different customers, and some keys are made
// alike by a colon between a customer's and an account's.
func randomHeap(rng *rand.Rand) (h heap) {
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	key := func(n int) string {
		if rng.IntN(8) == 0 {
			return ""
		}
		return pick("", " ") + heapKeys[rng.IntN(n)]
	}
	for range rng.IntN(6) {
		h[0] = append(h[0], []string{key(4), pick("n", "s", "?"), pick("a", "b", "x")})
	}
	for range rng.IntN(14) {
		h[1] = append(h[1], []string{key(3), key(4), pick("no", "yes"), pick("1", "7", "", "12")})
	}
	for range rng.IntN(20) {
		h[2] = append(h[2], []string{pick("0.5", "2"), key(4), key(3)})
	}
	return h
}

// without returns the rows that do not name a root.
func (h heap) without(root string) (out heap) {
	at := [3]int{0, 1, 1}
	for i, rows := range h {
		for _, row := range rows {
			if strings.TrimSpace(row[at[i]]) != root {
				out[i] = append(out[i], row)
			}
		}
	}
	return out
}

func (h heap) read(t testing.TB, d records.Tables) *records.Linked {
	folder := fstest.MapFS{}
	for i, one := range d.All() {
		name := one.Name
		text := heads[i] + "\n"
		for _, row := range h[i] {
			text += strings.Join(row, ",") + "\n"
		}
		folder[name+".csv"] = &fstest.MapFile{Data: []byte(text)}
	}
	return must(records.CSV{}.ReadTables(folder, d))(t)
}

// linked returns the same rows, joined from Go values.
func (h heap) linked(t testing.TB, d records.Tables) *records.Linked {
	schemas := []records.Schema{d.Schema, d.Children[0].Schema, d.Children[0].Children[0].Schema}
	places := [3][]int{{1, 2}, {3, 2}, {0}}
	keys := [3]int{0, 0, -1}
	parents := [3][]int{{}, {1}, {1, 2}}
	var all []records.Keyed
	for i, rows := range h {
		k := records.Keyed{Parents: make([][]string, len(parents[i]))}
		b := must(records.NewFrameBuilder(schemas[i]))(t)
		if keys[i] >= 0 {
			k.Keys = []string{}
		}
		for _, row := range rows {
			var values []any
			for _, at := range places[i] {
				var v any = row[at]
				if v == "" || v == "?" {
					v = nil
				}
				values = append(values, v)
			}
			if err := b.Append(values...); err != nil {
				t.Fatal(err)
			}
			for level, at := range parents[i] {
				k.Parents[level] = append(k.Parents[level], row[at])
			}
			if keys[i] >= 0 {
				k.Keys = append(k.Keys, row[keys[i]])
			}
		}
		k.Rows = b.Frame()
		all = append(all, k)
	}
	return must(records.Link(d, all...))(t)
}

// contributions returns what each root adds to the weighted counts of all views: every row that the
// systems read, with its weight. The keys are not read, so roots are told apart by what they add.
func contributions(l *records.Linked) (all []string, seen [][]map[string]float64) {
	var b device.Batch
	l.Range(0, l.Len(), &b)
	for i := range l.Len() {
		all = append(all, fmt.Sprint(b.Dense.Row(i), b.Labels[i]))
	}
	for i := range 2 {
		p := l.Seen(i)
		rows, shares := records.RowsOf(p)
		var z records.Nonzeros
		z.Range(rows, 0, rows.Len())
		var of []map[string]float64
		for k := range p.Len() {
			lo, hi := p.Span(k)
			counts := map[string]float64{}
			for r := lo; r < hi; r++ {
				places, values := z.Row(r)
				counts[fmt.Sprint(places, values)] += shares.Of(r)
			}
			of = append(of, counts)
		}
		seen = append(seen, of)
	}
	return all, seen
}

// TestARootContributesAtMostOneRecord: for any rows, also such that violate every rule about keys,
// the data without one root are the data without one record of the root's table, and without at
// most one person of each other table, whose weights add up to 1. Every other record and person is
// the same.
func TestARootContributesAtMostOneRecord(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 1))
	most := 0
	for i := range 2000 {
		h, d := randomHeap(rng), bank(t)
		if i%2 == 1 {
			d.Children[0].Gaps = "limit"
		}
		l := h.read(t, d)
		roots, seen := contributions(l)
		if other := h.linked(t, d); !reflect.DeepEqual(roots, left(contributions(other))) ||
			!reflect.DeepEqual(seen, right(contributions(other))) {
			t.Fatalf("Link and ReadTables differ on %v", h)
		}
		root := heapKeys[rng.IntN(4)]
		fewer := h.without(root).read(t, d)
		if n := l.Len() - fewer.Len(); n < 0 || n > 1 {
			t.Fatalf("%d records fewer without %s in %v", n, root, h)
		}
		rest, others := contributions(fewer)
		if !oneLess(roots, rest) {
			t.Fatalf("without %s of %v: %v became %v", root, h, roots, rest)
		}
		for i := range seen {
			for _, counts := range seen[i] {
				sum := 0.0
				for _, w := range counts {
					sum += w
				}
				if sum != 1 {
					t.Fatalf("weights that add up to %v in %v", sum, h)
				}
			}
			if !oneLess(seen[i], others[i]) {
				t.Fatalf("table %d without %s of %v: %v became %v", i+1, root, h, seen[i], others[i])
			}
			most = max(most, len(seen[i])-len(others[i]))
		}
	}
	if most != 1 {
		t.Fatal("no root had rows in another table")
	}
}

func left[A, B any](a A, _ B) A  { return a }
func right[A, B any](_ A, b B) B { return b }

// oneLess reports whether b is a without at most one element.
func oneLess[T any](a, b []T) bool {
	if len(a) == len(b) {
		return reflect.DeepEqual(a, b) || len(a) == 0
	}
	for i := range a {
		less := slices.Delete(slices.Clone(a), i, i+1)
		if len(less) == len(b) && (len(b) == 0 || reflect.DeepEqual(less, b)) {
			return true
		}
	}
	return false
}

// TestRowsSeeWhatPrecedesThem: a row is read with its parent's columns, its position, and the
// columns of the row before it, which are missing in a first row.
func TestRowsSeeWhatPrecedesThem(t *testing.T) {
	h := heap{{{"1", "s", "b"}, {"2", "n", "a"}}, {{"x", "2", "yes", "3"}, {"x", "1", "no", "5"},
		{"y", "1", "yes", "7"}}, {{"0.25", "1", "y"}, {"1", "2", "x"}}}
	d := bank(t)
	l := h.read(t, d)
	s, known, own := d.Seen(0)
	names := func(s records.Schema) (list []string) {
		for _, c := range s.Columns() {
			list = append(list, c.Name())
		}
		return list
	}
	if got := strings.Join(names(s), "|"); known != 7 || len(own.Columns()) != 3 || got !=
		"customers region|customers class|customers number of accounts|position|previous limit|"+
			"previous open|previous number of transactions|limit|open|number of transactions" {
		t.Fatal(got, known)
	}
	rows, _ := records.RowsOf(l.Seen(0))
	var b device.Batch
	rows.Range(0, rows.Len(), &b)
	for i, want := range [][]any{{"s", "b", 2, 1, nil, nil, nil, 5, "no", 0},
		{"s", "b", 2, 2, 5, "no", 0, 7, "yes", 1}, {"n", "a", 1, 1, nil, nil, nil, 3, "yes", 1}} {
		f := must(records.FromValues(s, want))(t)
		if got := b.Dense.Row(i); !slices.Equal(got, f.Row(nil, 0)) {
			t.Errorf("row %d is %v, want %v", i, got, f.Row(nil, 0))
		}
	}
	if p := l.Seen(1).Schema().RowsPerPerson(); p != 4 {
		t.Errorf("at most %d transactions of a customer, want 4", p)
	}
}

// stays describes stays of patients, ordered by a column of moments or of whole numbers.
func stays(t testing.TB, at records.Column) records.Tables {
	return records.Tables{Name: "patients", Key: "patient", Children: []records.Tables{{Name: "visits",
		Parents: []string{"patient"}, Most: 4, Ordered: true, Gaps: "at",
		Schema: must(records.NewSchema(at, records.Flag("ill", "no", "yes")))(t)}}}
}

// TestGapsAreReadInOrder: rows are put in the order of their times, those of the same time in that
// of the file, and a row is read with its gap.
func TestGapsAreReadInOrder(t *testing.T) {
	start := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	text := "patient,at,ill\n"
	for _, row := range []string{"x,2025-01-05,no", "y,2025-01-03,yes", "x,2025-01-02,yes",
		"x,2025-01-05,yes", "x,2024-01-05,no", "y,2025-12-31,no"} {
		text += row + "\n"
	}
	d := stays(t, records.Datetime("at", start, start.AddDate(0, 0, 9), 24*time.Hour))
	l := must(records.CSV{}.ReadTables(fstest.MapFS{"visits.csv": {Data: []byte(text)}}, d))(t)
	rows, _ := l.Table(1)
	day, gap, ill := "", "", ""
	for r := range rows.Len() {
		m, _ := rows.Time(r, 0)
		day += fmt.Sprint(m.Day(), " ")
		gap += fmt.Sprint(rows.Number(r, 2), " ")
		ill += fmt.Sprint(rows.Level(r, 1), " ")
	}
	if day != "1 2 5 5 3 10 " || gap != "NaN 1 3 0 NaN 7 " || ill != "0 1 0 1 1 0 " {
		t.Error(day, gap, ill)
	}
	if c := rows.Schema().Columns()[2]; c.Name() != "gap of at" || c.LogUnit() == 0 {
		t.Error(c)
	} else if lo, hi := c.WholeBounds(); lo != 0 || hi != 9 {
		t.Error(lo, hi)
	}
}

// TestDrawnTimesIncrease: a drawn row follows the row before by its drawn gap. If that passes the
// upper bound or is missing, it stays where it was drawn, but not before the row before.
func TestDrawnTimesIncrease(t *testing.T) {
	start := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, at := range []records.Column{records.Integer("at", -20, 79),
		records.Datetime("at", start, start.Add(99*time.Hour), time.Hour)} {
		d := stays(t, at)
		_, _, own := d.Seen(0)
		lo, _ := at.Bounds()
		unit := 1.0
		if at.Kind() == records.DatetimeColumn {
			unit = 3600
		}
		rng := rand.New(rand.NewPCG(22, 1))
		var roots [][]any
		for range 500 {
			roots = append(roots, []any{rng.IntN(5)})
		}
		type drawn struct {
			at  float64
			gap any
		}
		var all [][]drawn // of each step
		l := must(records.Grow(d, must(records.FromValues(d.Full(), roots...))(t),
			func(_ int, known *records.Nonzeros) (*records.Frame, error) {
				var rows [][]any
				step := make([]drawn, known.Rows)
				for i := range step {
					step[i] = drawn{at: float64(rng.IntN(100)), gap: rng.IntN(60)}
					if rng.IntN(8) == 0 {
						step[i].gap = nil
					}
					rows = append(rows, []any{lo + unit*step[i].at, rng.IntN(2) == 0, step[i].gap})
				}
				all = append(all, step)
				return records.FromValues(own, rows...)
			}))(t)
		rows, up := l.Table(1)
		place, was, late := 0, 0.0, 0
		next := make([]int, len(all)) // the row of each step that belongs to the next parent
		for r := range rows.Len() {
			if place++; r == 0 || up[r] != up[r-1] {
				place = 0
			}
			from := all[place][next[place]]
			next[place]++
			want, gap := from.at, "NaN"
			if place > 0 {
				if g, ok := from.gap.(int); ok && was+float64(g) <= 99 {
					want = was + float64(g)
				} else {
					want = max(from.at, was)
					late++
				}
				gap = fmt.Sprint(want - was)
			}
			if have := (rows.Number(r, 0) - lo) / unit; have != want || fmt.Sprint(rows.Number(r,
				2)) != gap {
				t.Fatalf("row %d is at %v with gap %v, want %v and %v", r, have, rows.Number(r, 2), want, gap)
			}
			was = want
		}
		if late < 50 || rows.Len() < 500 {
			t.Errorf("%d gaps of %d rows pass the bound", late, rows.Len())
		}
	}
}

// TestLinesThatCannotBeReadNameNoRow: files with lines that have too few fields for a key, too
// many, or too long a text, are read like files without them.
func TestLinesThatCannotBeReadNameNoRow(t *testing.T) {
	h := heap{{{"1", "s", "b"}, {"2", "n", "a"}}, {{"x", "2", "yes", "3"}, {"y", "1", "yes", "7"}},
		{{"0.25", "1", "y"}, {"1", "2", "x"}}}
	d := bank(t)
	want := fmt.Sprint(contributions(h.read(t, d)))
	for _, wrong := range [][]string{{""}, {"1"}, {"1", "2"}, {"x", "2", "yes", "3", "4"},
		{"x", "2", strings.Repeat("y", 1<<20), "3"}} {
		for i := range h {
			if len(wrong) == len(h[i][0]) {
				continue
			}
			odd := h
			odd[i] = append([][]string{wrong}, h[i]...)
			if got := fmt.Sprint(contributions(odd.read(t, d))); got != want {
				t.Errorf("table %d with a line of %d fields: %s, want %s", i, len(wrong), got, want)
			}
		}
	}
}

// TestLinkNeedsAllKeys: rows without keys are refused, a table without rows needs none, and neither
// depends on other tables.
func TestLinkNeedsAllKeys(t *testing.T) {
	d := bank(t)
	d.Children[0].Children = nil
	root := must(records.FromValues(d.Schema, []any{"n", "a"}))(t)
	row := must(records.FromValues(d.Children[0].Schema, []any{1, "no"}))(t)
	none := must(records.FromValues(d.Children[0].Schema))(t)
	keys := []string{"1"}
	for i, own := range []records.Keyed{{Rows: row, Keys: keys, Parents: [][]string{nil}},
		{Rows: row, Parents: [][]string{keys}}, {Rows: none, Keys: keys, Parents: [][]string{nil}}} {
		if _, err := records.Link(d, records.Keyed{Rows: root, Keys: keys}, own); err == nil {
			t.Errorf("keys %d: no error", i)
		}
	}
	for _, own := range []records.Keyed{{Rows: none, Parents: [][]string{nil}},
		{Rows: none, Keys: []string{}, Parents: [][]string{{}}}} {
		must(records.Link(d, records.Keyed{Rows: root, Keys: keys}, own))(t)
	}
}

// TestLinkedDataAreKnown: tables are recognised as made from what they were joined of, every table
// is checked, and a ledger of records never takes them.
func TestLinkedDataAreKnown(t *testing.T) {
	d := bank(t)
	d.Children[0].Children = nil
	root := must(records.FromValues(d.Schema, []any{"n", "a"}))(t)
	row := must(records.FromValues(d.Children[0].Schema, []any{99, "no"}))(t)
	keys := []string{"1"}
	l := must(records.Link(d, records.Keyed{Rows: root, Keys: keys},
		records.Keyed{Rows: row, Keys: keys, Parents: [][]string{keys}}))(t)
	first, _ := l.Table(0)
	for i, public := range []records.Data{root, row, first, l, l.Seen(0)} {
		for k, private := range []records.Data{l, l.Seen(0)} {
			if !records.DeclarePublic(public).Overlaps(private) {
				t.Errorf("public records %d are not recognised among private ones %d", i, k)
			}
		}
	}
	if records.DeclarePublic(row).Overlaps(first) || records.DeclarePublic(must(records.FromValues(
		d.Schema))(t)).Overlaps(l) {
		t.Error("other records are taken for private ones")
	}
	if err := records.Check(l); err == nil || !strings.Contains(err.Error(), "table accounts") {
		t.Errorf("a limit of 99 passes the check: %v", err)
	}
	if records.CheckUnitOf("data", records.WithUnit(l, records.UnitRecord),
		records.UnitRecord) == nil {
		t.Error("customers pass for records")
	}
	if err := records.CheckUnitOf("data", l, records.UnitUser); err != nil {
		t.Error(err)
	}
}

// TestTablesAreWrittenAsTheyAreRead: files written from rows, in several parts, hold the same rows.
func TestTablesAreWrittenAsTheyAreRead(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 1))
	for i := range 200 {
		d := bank(t)
		if i%2 == 1 {
			d.Children[0].Gaps = "limit"
		}
		parts := []*records.Linked{randomHeap(rng).read(t, d), randomHeap(rng).read(t, d)}
		folder := fstest.MapFS{}
		err := records.CSV{}.WriteTables(func(name string) (io.WriteCloser, error) {
			return mapped{folder, name, new(bytes.Buffer)}, nil
		}, func(yield func(*records.Linked, error) bool) {
			_ = yield(parts[0], nil) && yield(parts[1], nil)
		})
		if err != nil {
			t.Fatal(err)
		}
		back := must(records.CSV{}.ReadTables(folder, d))(t)
		roots, seen := contributions(back)
		at := 0
		for _, part := range parts {
			some, other := contributions(part)
			if !slices.Equal(roots[at:at+len(some)], some) {
				t.Fatal("other rows of the root")
			}
			at += len(some)
			for i, persons := range other {
				if !reflect.DeepEqual(seen[i][:len(persons)], persons) && len(persons) > 0 {
					t.Fatalf("other rows of table %d", i+1)
				}
				seen[i] = seen[i][len(persons):]
			}
		}
	}
}

type mapped struct {
	folder fstest.MapFS
	name   string
	*bytes.Buffer
}

func (m mapped) Close() error {
	m.folder[m.name] = &fstest.MapFile{Data: m.Bytes()}
	return nil
}

// TestBareRoots: a log has no file of users, who are the names in it.
func TestBareRoots(t *testing.T) {
	d := records.Tables{Name: "users", Key: "user", Children: []records.Tables{{Name: "log",
		Parents: []string{"user"}, Most: 3, Ordered: true,
		Schema: must(records.NewSchema(records.Categorical("page", "a", "b")))(t)}}}
	l := must(records.CSV{}.ReadTables(fstest.MapFS{"log.csv": {Data: []byte(
		"user,page\nx,a\ny,b\n,a\nx,b\nx,b\nx,a\n")}}, d))(t)
	if rows, up := l.Table(1); l.Len() != 2 || rows.Len() != 4 || !slices.Equal(up, []int32{0, 0, 0,
		1}) {
		t.Fatal(l.Len(), rows.Len(), up)
	}
	if roots, _ := l.Table(0); roots.Number(0, 0) != 3 || roots.Number(1, 0) != 1 {
		t.Fatal("wrong numbers of rows")
	}
}

// TestRowsObeyConstraints: drawn rows obey constraints on their own columns, on their parent's and
// on those of the row before; rows that cannot are an error.
func TestRowsObeyConstraints(t *testing.T) {
	s := func(columns ...records.Column) records.Schema {
		return must(records.NewSchema(columns...))(t)
	}
	d := records.Tables{Name: "stays", Key: "stay", Schema: s(records.Integer("from", 0, 50),
		records.Integer("to", 0, 99)),
		Children: []records.Tables{{Name: "days", Parents: []string{"stay"}, Most: 4, Ordered: true,
			Schema: s(records.Integer("day", 0, 99).WithMissing(), records.Flag("ill", "no", "yes")),
			Constraints: []records.Constraint{records.Ascending("stays from", "day", "stays to"),
				records.Ascending("previous day", "day"),
				records.Combinations([]string{"previous ill", "ill"}, []string{"", "no"},
					[]string{"no", "no"}, []string{"no", "yes"}, []string{"yes", "yes"})}}}}
	rng := rand.New(rand.NewPCG(21, 1))
	var rows [][]any
	for range 200 {
		from := rng.IntN(50)
		rows = append(rows, []any{from, from + 20 + rng.IntN(20), rng.IntN(5)})
	}
	roots := must(records.FromValues(d.Full(), rows...))(t)
	_, _, own := d.Seen(0)
	draw := func(_ int, known *records.Nonzeros) (*records.Frame, error) {
		var rows [][]any
		for range known.Rows {
			var day any = rng.IntN(100)
			if rng.IntN(10) == 0 {
				day = nil
			}
			rows = append(rows, []any{day, rng.IntN(2) == 0})
		}
		return records.FromValues(own, rows...)
	}
	text := must(json.Marshal(d))(t)
	var again records.Tables
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	for _, d := range []records.Tables{d, again} {
		l := must(records.Grow(d, roots, draw))(t)
		days, of := l.Table(1)
		ill := 0
		for r := range days.Len() {
			day := days.Number(r, 0)
			if day < roots.Number(int(of[r]), 0) || day > roots.Number(int(of[r]), 1) {
				t.Fatalf("day %v is outside the stay", day)
			}
			first := r == 0 || of[r] != of[r-1]
			if first && days.Level(r, 1) == 1 || !first && days.Level(r, 1) < days.Level(r-1, 1) ||
				!first && day < days.Number(r-1, 0) {
				t.Fatalf("row %d does not follow the row before", r)
			}
			ill += days.Level(r, 1)
		}
		if days.Len() < 300 || ill == 0 {
			t.Fatalf("%d days, %d of them ill", days.Len(), ill)
		}
	}
	d.Children[0].Constraints = append(d.Children[0].Constraints, records.Within("day", 98, 99))
	if _, err := records.Grow(d, roots.Slice(0, 1), draw); err == nil {
		t.Error("rows that cannot be drawn are no error")
	}
	draws, drawn := 0, 0
	rare := func(_ int, known *records.Nonzeros) (*records.Frame, error) {
		draws, drawn = draws+1, drawn+known.Rows
		return records.FromValues(own, slices.Repeat([][]any{{draws % 100, draws%3000 == 98}},
			known.Rows)...)
	}
	d.Children[0].Constraints = []records.Constraint{records.Within("day", 98, 98),
		records.Only("ill", "yes")}
	d.Children[0].Most = 50
	// eight rows at a time: each counts, though they are drawn together
	wide := must(records.FromValues(d.Full(), slices.Repeat([][]any{{0, 0, 7}}, 8)...))(t)
	if _, err := records.Grow(d, wide, rare); err == nil || drawn > 100*8*7+1<<16+8 || drawn < 1<<16 {
		t.Errorf("every row takes 3,000 draws: %d draws of %d rows, error %v", draws, drawn, err)
	}
	for name, c := range map[string]records.Constraint{"unique": records.Unique("day"),
		"repaired": records.Ascending("previous day", "day").Repaired(),
		"unknown":  records.Within("stays day", 1, 2),
		"fixed":    records.Determines([]string{"ill", "day"})} {
		d.Children[0].Constraints = []records.Constraint{c}
		if d.Validate() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestTablesValidate: each mistake in a description is an error.
func TestTablesValidate(t *testing.T) {
	for name, change := range map[string]func(*records.Tables){
		"no key":       func(d *records.Tables) { d.Key = "" },
		"rows of root": func(d *records.Tables) { d.Most = 2 },
		"no inner key": func(d *records.Tables) { d.Children[0].Key = "" },
		"one parent": func(d *records.Tables) {
			d.Children[0].Children[0].Parents = []string{"account"}
		},
		"most": func(d *records.Tables) { d.Children[0].Most = 0 },
		"most together": func(d *records.Tables) {
			d.Children[0].Most,
				d.Children[0].Children[0].Most = 100, 41
		},
		"ordered of one": func(d *records.Tables) { d.Children[0].Most = 1 },
		"gaps of rows without order": func(d *records.Tables) {
			d.Children[0].Ordered, d.Children[0].Gaps = false, "limit"
		},
		"gaps of levels":   func(d *records.Tables) { d.Children[0].Gaps = "open" },
		"gaps of nothing":  func(d *records.Tables) { d.Children[0].Gaps = "day" },
		"gaps of the root": func(d *records.Tables) { d.Gaps = "region" },
		"constraints of the root beside its schema": func(d *records.Tables) {
			d.Constraints = []records.Constraint{records.Only("region", d.Schema.Columns()[0].Levels()[0])}
		},
		"gaps of missing times": func(d *records.Tables) {
			d.Children[0].Gaps = "limit"
			d.Children[0].Schema = must(records.NewSchema(records.Integer("limit", 0, 9).WithMissing()))(t)
		},
		"gaps beyond float64": func(d *records.Tables) {
			d.Children[0].Gaps = "limit"
			d.Children[0].Schema = must(records.NewSchema(records.Datetime("limit", time.Unix(0, 0),
				time.Unix(1<<24, 0), time.Nanosecond)))(t)
		},
		"gaps just beyond float64": func(d *records.Tables) {
			d.Children[0].Gaps = "limit"
			d.Children[0].Schema = must(records.NewSchema(records.Integer("limit", 0, 1).
				WithBounds(-1<<53, 1)))(t)
		},
		"gaps of moments just beyond float64": func(d *records.Tables) {
			d.Children[0].Gaps = "limit"
			d.Children[0].Schema = must(records.NewSchema(records.Datetime("limit", time.Unix(0, 0),
				time.Unix(0, 1<<53+1), time.Nanosecond)))(t)
		},
		"name of a path": func(d *records.Tables) { d.Children[0].Name = "../accounts" },
		"most of one": func(d *records.Tables) {
			d.Children[0].Most, d.Children[0].Children = 4097,
				nil
		},
		"name with a last blank": func(d *records.Tables) { d.Children[0].Name = "accounts " },
		"name of no text":        func(d *records.Tables) { d.Children[0].Name = "a\xff" },
		"name with a long s":     func(d *records.Tables) { d.Children[0].Name = "cu\u017ftomers" },
		"name in capitals":       func(d *records.Tables) { d.Children[0].Name = "CUSTOMERS" },
		"copied levels": func(d *records.Tables) {
			names := make([]string, 30_000)
			for i := range names {
				names[i] = fmt.Sprint(i)
			}
			d.Schema = must(records.NewSchema(records.Categorical("place", names...)))(t)
			widen(d, 3)
		},
		"name twice":     func(d *records.Tables) { d.Children[0].Name = "customers" },
		"a key's column": func(d *records.Tables) { d.Key = "region" },
		"bare child":     func(d *records.Tables) { d.Children[0].Schema = records.Schema{} },
		"label below":    func(d *records.Tables) { d.Children[0].Schema = d.Schema },
		"persons":        func(d *records.Tables) { d.Schema = d.Schema.ByPerson(3) },
		"images":         func(d *records.Tables) { d.Schema = records.Image(2, 2) },
		"known name": func(d *records.Tables) {
			d.Children[0].Schema = must(records.NewSchema(records.Flag("position", "0", "1")))(t)
		},
		"bare without":    func(d *records.Tables) { d.Schema, d.Children = records.Schema{}, nil },
		"too deep":        func(d *records.Tables) { deepen(&d.Children[0].Children[0], 3) },
		"too many tables": func(d *records.Tables) { widen(d, 32) },
	} {
		d := bank(t)
		if err := d.Validate(); err != nil {
			t.Fatal(err)
		}
		if change(&d); d.Validate() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	text := must(json.Marshal(bank(t)))(t)
	var back records.Tables
	if err := json.Unmarshal(text, &back); err != nil || !back.Equal(bank(t)) || !slices.Equal(
		back.Children[0].Children[0].Parents, []string{"customer", "account"}) {
		t.Fatal(err, string(text))
	}
	for _, bad := range []string{`{"name":"a","Name":"b"}`, `{"name":"a","more":1}`,
		strings.Repeat(`{"children":[`, 40) + strings.Repeat(`]}`, 40)} {
		if json.Unmarshal([]byte(bad), &back) == nil {
			t.Errorf("%s was read", bad)
		}
	}
}

func deepen(t *records.Tables, levels int) {
	t.Key = "key"
	child := *t
	child.Name, child.Parents, child.Most = t.Name+"1", append(slices.Clone(t.Parents), "key"), 1
	child.Parents[len(child.Parents)-1] = fmt.Sprint("key", levels)
	t.Key = fmt.Sprint("key", levels)
	if levels > 1 {
		deepen(&child, levels-1)
	}
	t.Children = []records.Tables{child}
}

func widen(t *records.Tables, n int) {
	child := t.Children[0].Children[0]
	child.Parents = child.Parents[:1]
	for i := range n {
		child.Name = fmt.Sprint("t", i)
		t.Children = append(t.Children, child)
	}
}
