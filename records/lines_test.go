package records_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

// badLines returns lines with which one person might try to change how the lines of others are
// read.
func badLines() []string {
	return []string{`mallory,"7`, `"mallory,7`, `"`, `""`, `"""`, `mallory,"7""`, `'mallory,7`,
		`mallory\,7`, `mallory,7\`, "mallory", "mallory,,,,,,", "mallory,7\r",
		"\r", "mallory,7\rx,5", "#mallory", "\x00", "\x1f\x8b", "\x1f\x8b\x08\x00", "PK\x03\x04",
		"\ufeffmallory,7", "\xff\xfe", "\u2028", "\v", "\f", "\x1a", "mallory,7;",
		"mallory\t7", "NaN", "-", "x,x", "1e999,1", ",", "mallory,\"7\"x", `mallory," 7" `, `mallory, "7`,
		"--5", "5-", strings.Repeat("9,", 3000),
		strings.Repeat("x", 70_000), strings.Repeat(`"`, 70_001), strings.Repeat("1 ", 1<<20),
		strings.Repeat("9", 3<<20) + ",1", `{"a":`, "nan,nan", "0,", "u1\",1", `{"n":1,"k":"y","m":`,
		`{"n":[[{"a`, `{"n":1}}}`, `]`, `{"n":1,"n":2}`, `{"n":"\`, `{"n":"\ud800"}`, "/*", `{}{}`,
		`"u99,1,y,0.1`, `u99,"1`}
}

// lineReader reads lines of one kind. good returns a valid line, and rows returns the text of each
// record, in order.
type lineReader struct {
	good func(i int) string
	rows func(t *testing.T, text string) []string
}

func lineReaders(t *testing.T) map[string]lineReader {
	vectors := records.Interval(2, 0, 1000).WithLabels("a", "b")
	table := must(records.NewSchema(records.Integer("n", 0, 1000),
		records.Categorical("k", "x", "y").WithMissing(), records.Numeric("m", 0, 1).WithMissing()))(t)
	sets := func(s *records.SetTable) (rows []string) {
		for i := range s.Len() {
			rows = append(rows, fmt.Sprint(s.Items(i)))
		}
		return rows
	}
	cells := func(frames ...*records.Frame) (rows []string) {
		for _, f := range frames {
			for i := range f.Len() {
				rows = append(rows, fmt.Sprint(f.Value(i, 0), f.Value(i, 1), f.Value(i, 2)))
			}
		}
		return rows
	}
	wide := func(i int) string { return fmt.Sprintf(`%d, "y",0.%d`, i, i%7) }
	object := func(i int) string { return fmt.Sprintf(`{"n": %d, "k":"y","m":0.%d}`, i, i%7) }
	items := records.Sets(1000, 5)
	return map[string]lineReader{
		"vectors": {func(i int) string {
			return fmt.Sprintf("%d,%d,b", i, i+1)
		}, func(t *testing.T, text string) (rows []string) {
			v := must(records.CSV{FirstRecord: true}.Read(strings.NewReader(text), vectors))(t)
			for i := range v.Len() {
				rows = append(rows, fmt.Sprint(v.Row(nil, i), v.Label(i)))
			}
			return rows
		}},
		"table": {wide, func(t *testing.T, text string) []string {
			return cells(must(records.CSV{}.ReadFrame(strings.NewReader(text), table))(t))
		}},
		"table by names": {func(i int) string {
			return wide(i) + ",\"a, b\""
		}, func(t *testing.T, text string) []string {
			return cells(
				must(records.CSV{Header: true}.ReadFrame(strings.NewReader("n,k,m,note\n"+text), table))(t))
		}},
		"stream of a table": {wide, func(t *testing.T, text string) []string {
			var frames []*records.Frame
			for f, err := range (records.CSV{}).Stream(strings.NewReader(text), table, 3) {
				frames = append(frames, must(f, err)(t))
			}
			return cells(frames...)
		}},
		"persons": {func(i int) string {
			return fmt.Sprintf("u%d,%s", i/2*2, wide(i))
		}, func(t *testing.T, text string) (rows []string) {
			p := must(records.CSV{Header: true}.ReadPersons(strings.NewReader("who,n,k,m\n"+text), table,
				"who", 3))(t)
			f, _ := records.AsFrame(p.Rows())
			for i := range p.Len() { // each row of a person gives one text
				lo, hi := p.Span(i)
				for row := lo; row < hi; row++ {
					rows = append(rows, fmt.Sprint(f.Value(row, 0), f.Value(row, 1), f.Value(row, 2),
						(row-lo)*2/(hi-lo)))
				}
			}
			return rows
		}},
		"objects": {object, func(t *testing.T, text string) []string {
			return cells(must(records.JSONLines{}.ReadFrame(strings.NewReader(text), table))(t))
		}},
		"transactions": {func(i int) string {
			return fmt.Sprintf("%d %d", i, i+1)
		}, func(t *testing.T, text string) []string {
			return sets(must(records.ReadTransactions(strings.NewReader(text), items))(t))
		}},
		"stream of transactions": {func(i int) string {
			return fmt.Sprintf("%d;%d", i, i+1)
		}, func(t *testing.T, text string) (rows []string) {
			for s, err := range records.StreamTransactions(strings.NewReader(text), items, 3) {
				rows = append(rows, sets(must(s, err)(t))...)
			}
			return rows
		}},
		"visits": {func(i int) string {
			return fmt.Sprintf("u%d,%d", i, i)
		}, func(t *testing.T, text string) []string {
			return sets(must(records.Visits{Column: 1}.Read(strings.NewReader(text), items))(t))
		}},
		"visits by names": {func(i int) string {
			return fmt.Sprintf(`1,%d,"u %d"`, i, i)
		}, func(t *testing.T, text string) []string {
			v := records.Visits{Header: true, User: "who", Item: "what"}
			return sets(must(v.Read(strings.NewReader("when,what,who\n"+text), items))(t))
		}},
	}
}

// TestNoLineChangesHowAnotherIsRead adds one line anywhere in a file: the records of the other
// lines do not change, and the line itself makes at most one record.
func TestNoLineChangesHowAnotherIsRead(t *testing.T) {
	const n = 12
	for name, r := range lineReaders(t) {
		var good []string
		for i := range n {
			good = append(good, r.good(i))
		}
		without := r.rows(t, strings.Join(good, "\n")+"\n")
		if len(without) != n {
			t.Fatalf("%s: got %d records from %d lines", name, len(without), n)
		}
		for _, bad := range badLines() {
			for _, at := range []int{0, 5, n} {
				with := r.rows(t, strings.Join(slices.Insert(slices.Clone(good), at, bad), "\n")+"\n")
				if more := len(with) - n; more < 0 || more > 1 ||
					!slices.Equal(slices.Delete(slices.Clone(with), at, at+more), without) {
					t.Errorf("%s: %.40q as line %d makes %d records of %d: %.99q", name, bad, at,
						len(with), n+1, with)
				}
			}
		}
	}
}

// TestSeveralBadLinesOfOnePersonAreOneRecord: bad lines with one person's name make one record.
func TestSeveralBadLinesOfOnePersonAreOneRecord(t *testing.T) {
	text := "mallory,\"7\nbob,1\nmallory\n \"mallory\" " +
		",5\nmallory,x\nmallory,1,2,3\nmallory,\"4\"\"\n" + strings.Repeat("mallory,", 1<<18) + "\n"
	s := must(records.Visits{Column: 1}.Read(strings.NewReader(text), records.Sets(9, 9)))(t)
	if s.Len() != 2 || !slices.Equal(s.Items(0), []uint32{1, 5}) ||
		!slices.Equal(s.Items(1), []uint32{1}) {
		t.Errorf("got %d persons with items %v and %v", s.Len(), s.Items(0), s.Items(1))
	}
	long := strings.Repeat("x", 2<<20)
	cut := must(records.Visits{Column: 1}.Read(strings.NewReader(long+",5\n,6\n"+long+"y,7\n"),
		records.Sets(9, 9)))(t)
	if cut.Len() != 0 {
		t.Errorf("lines with names that are too long make %d persons, want 0", cut.Len())
	}
	nameless := must(
		records.Visits{UserColumn: 1}.Read(
			strings.NewReader("7\n8\n\"\n3,\n2, \t\n"+strings.Repeat("4", 2<<20)+",ann\n4,ann\n"),
			records.Sets(9, 9)))(t)
	if nameless.Len() != 1 || !slices.Equal(nameless.Items(0), []uint32{4}) {
		t.Errorf("got %d persons, want Ann only", nameless.Len())
	}
}

// TestManyVisitsOfFewAreSorted compares the grouping with a map of maps.
func TestManyVisitsOfFewAreSorted(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	want, order := map[int]map[uint32]bool{}, []int{}
	for range 20_000 {
		who, item := int(rng.ExpFloat64()*5), uint32(rng.IntN(300))
		if want[who] == nil {
			want[who], order = map[uint32]bool{}, append(order, who)
		}
		want[who][item] = true
		fmt.Fprintf(&text, "%d,%d\n", who, item)
	}
	s := must(records.Visits{Column: 1}.Read(strings.NewReader(text.String()),
		records.Sets(300, 300)))(t)
	if s.Len() != len(order) {
		t.Fatalf("got %d persons, want %d", s.Len(), len(order))
	}
	for i, who := range order {
		if items := s.Items(i); len(items) != len(want[who]) ||
			slices.ContainsFunc(items, func(item uint32) bool {
				return !want[who][item]
			}) {
			t.Errorf("person %d has %v", who, items)
		}
	}
}

// FuzzLines divides the fuzzer's input into lines, and inserts one more line. The records of the
// other lines must not change.
func FuzzLines(f *testing.F) {
	for _, bad := range badLines() {
		if len(bad) < 100 {
			f.Add("1,x,2\n\"3\",y,4\n5 6", bad, 1)
		}
	}
	f.Fuzz(func(t *testing.T, text, line string, at int) {
		lines := strings.Split(strings.ReplaceAll(text, "\n\n", "\n"), "\n")
		line, _, _ = strings.Cut(line, "\n")
		if len(lines) > 50 {
			return
		}
		at = 1 + int(uint(at)%uint(len(lines)))
		head := "5,5,5\n" // no byte order mark, compression or header
		for name, r := range lineReaders(t) {
			without := r.rows(t, head+strings.Join(lines, "\n")+"\n")
			with := r.rows(t, head+strings.Join(slices.Insert(slices.Clone(lines), at-1, line), "\n")+"\n")
			if strings.HasPrefix(name, "visits") {
				continue // the line may belong to a person in the data
			}
			more := len(with) - len(without)
			same := more == 0 && slices.Equal(with, without)
			for i := range with {
				same = same || more == 1 && slices.Equal(slices.Delete(slices.Clone(with), i, i+1), without)
			}
			if !same {
				t.Fatalf("%s: %q between %q makes %q of %q", name, line, lines, with, without)
			}
		}
	})
}
