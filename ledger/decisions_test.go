package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
)

// TestDecisionsRememberNothing reserves at random in a ledger and its parts until little is left.
// Each decision is that of a ledger that has just been read from its file: what is remembered from
// earlier requests only saves work.
func TestDecisionsRememberNothing(t *testing.T) {
	events := []accountant.Event{accountant.Gaussian{NoiseMultiplier: 30},
		accountant.Gaussian{NoiseMultiplier: 90}, accountant.Laplace{Scale: 60}}
	refused, granted := 0, 0
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 7))
		veto := errors.New("veto")
		var answer error
		l := New(accountant.Budget{Epsilon: 0.6, Delta: 1e-6},
			WithPolicy(func(Request) error { return answer }))
		must[[]*Ledger](t)(l.Disjoint(Parts{Purpose: "parts", N: 2, Fixed: seed%2 == 0}))
		places := func(l *Ledger) []*Ledger { return append([]*Ledger{l}, l.groups[0].children...) }
		at, e, n := 0, events[0], 1
		for range 60 {
			if rng.IntN(3) == 0 { // otherwise as before
				at, e, n = rng.IntN(3), events[rng.IntN(3)], 1+rng.IntN(2)
			}
			answer = nil
			if rng.IntN(5) == 0 {
				answer = veto
			}
			text := must[[]byte](t)(json.Marshal(l))
			fresh := must[*Ledger](t)(Unmarshal(text))
			_, want := places(fresh)[at].Reserve("x", e, n)
			_, got := places(l)[at].Reserve("x", e, n)
			if want == nil && answer != nil {
				want = veto
			}
			if (want == nil) != (got == nil) || want != nil && got.Error() != want.Error() {
				t.Errorf("ledger %d, %d of %s: got %v, want %v", seed, n, accountant.Describe(e), got, want)
			}
			if got == nil {
				granted++
			} else {
				refused++
			}
		}
	}
	if refused < 60 || granted < 60 {
		t.Errorf("%d requests are refused and %d granted: not an example", refused, granted)
	}
}

// TestHistoryChecksEveryLine: an auditor who reads the lines one by one gets an error at a line
// that was changed, however it was, and for a ledger that does not exist.
func TestHistoryChecksEveryLine(t *testing.T) {
	m := &memory{journals: map[string]*memoryLines{}}
	s := NewStore(m)
	l := must[*Ledger](t)(s.Create(t.Context(), "people", Terms{Budget: journalBudget}))
	for range 3 {
		if err := l.Spend("count", journalEvent); err != nil {
			t.Fatal(err)
		}
	}
	history := func(name string) (n int, err error) {
		for _, err = range s.History(t.Context(), name) {
			if err != nil {
				return n, err
			}
			n++
		}
		return n, nil
	}
	lines := m.journals["people"].lines
	if n, err := history("people"); n != len(lines) || err != nil {
		t.Fatal(n, err)
	}
	for i := range lines {
		for what, change := range map[string]func(l *JournalLine){
			"text":   func(l *JournalLine) { l.Text = append(l.Text[:len(l.Text):len(l.Text)], ' ') },
			"hash":   func(l *JournalLine) { l.Hash = strings.Repeat("0", hashLength) },
			"number": func(l *JournalLine) { l.Line += 7 },
		} {
			good := lines[i]
			change(&lines[i])
			if n, err := history("people"); !errors.Is(err, ErrDamaged) || n != i {
				t.Errorf("the %s of line %d is changed: %d lines are sound, %v", what, i+1, n, err)
			}
			lines[i] = good
		}
	}
	if _, err := history("others"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a ledger that does not exist: %v", err)
	}
	if _, err := history("../people"); err == nil {
		t.Error("a name with a path is read")
	}
	if err := must[Journal](t)(m.Journal(t.Context(), "people", Write)).(Trimmer).Trim(t.Context(),
		2); err == nil || len(m.journals["people"].lines) != len(lines) {
		t.Errorf("lines before one that is no snapshot are removed: %v", err)
	}
}

// TestClosingTwice: a ledger may be closed again, and a ledger in memory too.
func TestClosingTwice(t *testing.T) {
	_, l := busy(t)
	m := New(journalBudget)
	if err := errors.Join(l.Close(), l.Close(), m.Close(), m.Close()); err != nil {
		t.Error(err)
	}
}

// TestDeepestParts: parts as deep as a ledger opens them can be saved and read, and none are opened
// below them.
func TestDeepestParts(t *testing.T) {
	l := New(journalBudget)
	at, depth := l, 0
	for {
		parts, err := at.Disjoint(Parts{Purpose: "p", N: 1})
		if err != nil {
			break
		}
		at, depth = parts[0], depth+1
	}
	if err := at.Spend("x", journalEvent); err != nil || depth != maxPartDepth {
		t.Errorf("parts are %d deep, want %d: %v", depth, maxPartDepth, err)
	}
	text := must[[]byte](t)(json.Marshal(l))
	back, err := Unmarshal(text)
	if err != nil || back.Epsilon() != l.Epsilon() {
		t.Fatal(err)
	}
	inner := strings.Replace(string(text), `"version":1,`, "", 1)
	deeper := string(text[:strings.Index(string(text), `"ledgers":[`)]) + `"ledgers":[` + inner +
		`]}]}`
	wrong := (*param.Error)(nil)
	if _, err := Unmarshal([]byte(deeper)); !errors.As(err, &wrong) {
		t.Errorf("parts that are deeper by one: %v", err)
	}
}

// TestGuaranteesComeBack: the guarantee of every event, under its relations and for both units, is
// read as it was written. One of an invalid budget, or of a smaller δ, is refused.
func TestGuaranteesComeBack(t *testing.T) {
	for name, x := range everyEvent(t) {
		relations := []accountant.Relation{x.r}
		if x.r == accountant.AddOrRemoveOne {
			relations = append(relations, accountant.ReplaceOne)
		}
		for i, r := range relations {
			unit := []string{recordUnit, userUnit}[i]
			l := New(accountant.Budget{Epsilon: 40, Delta: 1e-5, Relation: r}, WithUnit(unit))
			if _, err := l.Reserve("x", x.e, 3); errors.Is(err, accountant.ErrUnsupported) {
				continue
			} else if err != nil {
				t.Errorf("%s, %v: %v", name, r, err)
				continue
			}
			g := l.Guarantee()
			text := must[[]byte](t)(json.Marshal(g))
			var back Guarantee
			if err := json.Unmarshal(text, &back); err != nil || back.Epsilon != g.Epsilon ||
				back.Relation != r || back.Unit != unit {
				t.Errorf("%s, %v: %v, read back\n%+v\nwant\n%+v", name, r, err, back, g)
			}
			for _, bad := range [][2]string{{fmt.Sprintf(`"epsilon":%v,`, mustJSON(t, g.Epsilon)),
				fmt.Sprintf(`"epsilon":%v,`, mustJSON(t, g.Lower*0.9))}, {`"delta":0.00001,`,
				`"delta":-1,`},
				{`"budget_epsilon":40`, `"budget_epsilon":-40`}, {`"unit":"` + unit, `"unit":"household`}} {
				if g.Lower == 0 && strings.HasPrefix(bad[1], `"eps`) {
					continue // any ε may be
				}
				changed := strings.Replace(string(text), bad[0], bad[1], 1)
				if err := json.Unmarshal([]byte(changed), new(Guarantee)); err == nil ||
					changed == string(text) {
					t.Errorf("%s, %v: with %s: %v", name, r, bad[1], err)
				}
			}
		}
	}
	for _, good := range []string{`"epsilon":0`, `"epsilon":0,"unit":"user"`, `"epsilon":"inf"`} {
		text := `{` + good + `,"delta":0,"relation":"add_or_remove_one"}` // the zero value, and a fault
		if err := json.Unmarshal([]byte(text), new(Guarantee)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, bad := range []string{`"unit":"household"`, `"unit":"user","rows_per_unit":-1`,
		`"unit":"record","rows_per_unit":2`, `"noise_class":["none"]`} {
		text := `{"epsilon":0,"delta":0,"relation":"add_or_remove_one",` + bad + `}`
		if err := json.Unmarshal([]byte(text), new(Guarantee)); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}

func mustJSON(t *testing.T, x float64) string {
	return string(must[[]byte](t)(json.Marshal(x)))
}

// TestFilterOrders: the smallest and the largest order of a filter.
func TestFilterOrders(t *testing.T) {
	for order, good := range map[float64]bool{1.01: false, 1.02: true, 1e6: true, 1e6 + 1: false,
		math.Inf(1): false, math.NaN(): false, -2: false} {
		_, err := New(journalBudget, WithFilter(order)).Reserve("x", accountant.Gaussian{
			NoiseMultiplier: 1e9}, 1)
		if (err == nil) != good {
			t.Errorf("a filter of order %v: %v", order, err)
		}
	}
}

// TestRefusalsSayTheNumbers: a refusal states what is reserved, what the request would bring it to,
// and how many uses would fit.
func TestRefusalsSayTheNumbers(t *testing.T) {
	b := accountant.Budget{Epsilon: 0.5, Delta: 1e-6}
	for held := range 12 {
		l := New(b)
		if held > 0 {
			must[*Reservation](t)(l.Reserve("held", journalEvent, held))
		}
		before := l.Epsilon().Upper
		_, err := l.Reserve("x", journalEvent, 40)
		var r *Refusal
		if !errors.As(err, &r) {
			t.Fatal(err)
		}
		with := must[accountant.Bound](t)(accountant.Epsilon(accountant.Repeated{Event: journalEvent,
			Count: held + 40}, b.Delta, b.Relation)).Upper
		if math.Abs(r.Spent-before) > 1e-9 || math.Abs(r.Asked-with) > 1e-9 || r.Allowed != b.Epsilon ||
			r.Purpose != "x" || r.Limit != "the budget" {
			t.Errorf("%d uses are held: %+v, want %v and %v", held, r, before, with)
		}
		words := map[int]string{0: "no use would fit", 1: "1 use would fit"}[r.Fits]
		if words == "" {
			words = fmt.Sprintf("%d uses would fit", r.Fits)
		}
		if !strings.Contains(r.Error(), "; "+words) {
			t.Errorf("%d fit: %s", r.Fits, r)
		}
		if _, err := l.Reserve("x", journalEvent, r.Fits+1); err == nil {
			t.Errorf("%d uses are held, and more than %d fit", held, r.Fits)
		}
		if r.Fits > 0 {
			if _, err := l.Reserve("x", journalEvent, r.Fits); err != nil {
				t.Errorf("%d uses are held: %d do not fit: %v", held, r.Fits, err)
			}
		}
		whole := Transaction{Lines: []Line{{Purpose: "y", Event: journalEvent, Count: 40}}}
		if _, err := l.ReserveAll(whole); !errors.As(err, &r) || r.Fits != -1 || r.Asked <= b.Epsilon ||
			strings.Contains(r.Error(), "would fit") || math.Abs(r.Spent-l.Epsilon().Upper) > 1e-9 {
			t.Errorf("a transaction: %v", err)
		}
	}
	for _, limit := range []float64{0.5, 1, 1.0000001, 123.456} {
		for _, more := range []float64{1e-13, 1e-9, 1e-5, 1e-4, 0.01, 3} {
			x := limit * (1 + more)
			shown, err := strconv.ParseFloat(beyond(x, limit), 64)
			if err != nil || shown < x || shown-limit > 2*(x-limit)+1e-14*limit {
				t.Errorf("%v beyond %v is %s", x, limit, beyond(x, limit))
			}
		}
	}
}

// TestEpsilonSoFarIsABound: the cost of the uses taken so far is above that of their events, not
// far above it, never above that of everything reserved, and never falls.
func TestEpsilonSoFarIsABound(t *testing.T) {
	b := accountant.Budget{Epsilon: 4, Delta: 1e-6}
	for name, events := range map[string][]accountant.Event{
		"gaussian": {accountant.Gaussian{NoiseMultiplier: 20}},
		"sampled": {accountant.PoissonSampled{Probability: 0.02,
			Event: accountant.Gaussian{NoiseMultiplier: 1}}},
		"mixed": {accountant.Gaussian{NoiseMultiplier: 25}, accountant.Laplace{Scale: 40},
			accountant.PoissonSampled{Probability: 0.01, Event: accountant.Gaussian{NoiseMultiplier: 2}}},
	} {
		l := New(b)
		var uses []*Reservation
		for i, e := range events {
			uses = append(uses, must[*Reservation](t)(l.Reserve(fmt.Sprint(i), e, 60)))
		}
		all, last := l.Epsilon(), 0.0
		if e := l.EpsilonSoFar(); e != 0 {
			t.Errorf("%s: nothing was taken, and ε = %v", name, e)
		}
		for n := range 60 {
			for i, r := range uses {
				if err := r.Spend(); err != nil {
					t.Fatal(err)
				}
				if n > 2 && n%9 > 0 {
					continue
				}
				taken, more := accountant.Composed{}, accountant.Composed{}
				for k := range events {
					count := n
					if k <= i {
						count++
					}
					if count > 0 {
						taken.Events = append(taken.Events, accountant.Repeated{Event: events[k], Count: count})
						more.Events = append(more.Events, accountant.Repeated{Event: events[k],
							Count: min(60, count*5/4+1)})
					}
				}
				exact := must[accountant.Bound](t)(accountant.Epsilon(taken, b.Delta, b.Relation))
				most := must[accountant.Bound](t)(accountant.Epsilon(more, b.Delta, b.Relation))
				got := l.EpsilonSoFar()
				if got < exact.Lower || got < last || got > all.Upper*(1+1e-9) || got > most.Upper*1.001 {
					t.Errorf("%s, %d and %d: ε so far is %v after %v, the events cost %v, a quarter more %v",
						name,
						n, i, got, last, exact, most)
				}
				last = got
			}
		}
		if last < 0.999*all.Upper {
			t.Errorf("%s: all is taken, and ε so far is %v, want %v", name, last, all.Upper)
		}
	}
}

// TestNamesOfLedgers: the characters that names may have, the first ones, and their lengths.
func TestNamesOfLedgers(t *testing.T) {
	const good = "abcdefghijklmnopqrstuvwxyz0123456789-_."
	for c := range rune(300) {
		for at, name := range []string{string(c), "a" + string(c)} {
			want := strings.ContainsRune(good, c) && (at > 0 || !strings.ContainsRune("-_.", c))
			if err := ValidateName(name); (err == nil) != want {
				t.Errorf("%q: %v", name, err)
			}
		}
	}
	for n, want := range map[int]bool{0: false, 1: true, 128: true, 129: false} {
		if err := ValidateName(strings.Repeat("x", n)); (err == nil) != want {
			t.Errorf("a name of %d bytes: %v", n, err)
		}
	}
}

// TestMostEntries: a ledger holds as many entries as a guarantee that is read may have, and no
// more.
func TestMostEntries(t *testing.T) {
	const each = valuesOfEntry + 2 // of an event with one number
	lines := make([]Line, mostReadValues/each)
	for i := range lines {
		lines[i] = Line{Purpose: strconv.Itoa(i), Event: accountant.Pure{Epsilon: 1e-9}, Count: 1}
	}
	l := New(journalBudget)
	must[[]*Reservation](t)(l.ReserveAll(Transaction{Lines: lines[1:]}))
	two := Transaction{Lines: []Line{{Purpose: "x", Event: lines[0].Event, Count: 1},
		{Purpose: "y", Event: lines[0].Event, Count: 1}}}
	wrong := (*param.Error)(nil)
	if _, err := l.ReserveAll(two); !errors.As(err, &wrong) {
		t.Errorf("%d entries are reserved: %v", len(lines)+1, err)
	}
	two.Lines = two.Lines[:1]
	must[[]*Reservation](t)(l.ReserveAll(two))
	if err := l.Spend("z", lines[0].Event); !errors.As(err, &wrong) {
		t.Errorf("%d entries are spent: %v", len(lines)+1, err)
	}
	if len(l.Entries()) != len(lines) {
		t.Errorf("%d entries, want %d", len(l.Entries()), len(lines))
	}
}

// TestFewUsesAreCountedAhead: what a crash loses is at most one use, and one of 32 that were taken.
// The first reason why a run is not private stays.
func TestFewUsesAreCountedAhead(t *testing.T) {
	for _, id := range []string{"", "run"} {
		j := &listed{}
		l := must[*Ledger](t)(CreateOn(t.Context(), j, Terms{Name: "people", Budget: journalBudget}))
		other := must[*Ledger](t)(OpenOn(t.Context(), j))
		r := must[[]*Reservation](t)(l.ReserveAll(Transaction{ID: id, Lines: []Line{{Purpose: "x",
			Event: accountant.Gaussian{NoiseMultiplier: 1e4}, Count: 500}}}))[0]
		for n := range 500 {
			if err := r.Spend(); err != nil {
				t.Fatal(err)
			}
			if counted := other.Entries()[0].Spent; counted < n+1 || counted > n+1+(n+1)/aheadShare {
				t.Fatalf("%d uses are taken, and %d counted", n+1, counted)
			}
		}
		l.MarkNotPrivate("first")
		lines := len(j.lines)
		l.MarkNotPrivate("second")
		if l.NotPrivate() != "first" || other.NotPrivate() != "first" || len(j.lines) != lines {
			t.Errorf("not private: %q and %q", l.NotPrivate(), other.NotPrivate())
		}
	}
}

// TestLateEventsAreSaid: a guarantee says that it covers late events under a condition only if it
// has any.
func TestLateEventsAreSaid(t *testing.T) {
	l := New(journalBudget)
	for _, late := range []bool{false, true} {
		if err := l.Spend(fmt.Sprint(late), journalEvent); err != nil {
			t.Fatal(err)
		}
		said := strings.Contains(strings.Join(l.Guarantee().NotCovered, "\n"), "marked *")
		if said != late || strings.Contains(l.Guarantee().String(), " *\n") != late {
			t.Errorf("late %t: %v", late, l.Guarantee())
		}
	}
}

// TestFilesOfTheSystem: what is no regular file is no journal, and a file that cannot be replaced
// is an error.
func TestFilesOfTheSystem(t *testing.T) {
	folder := t.TempDir()
	path, inner := filepath.Join(folder, "file"), filepath.Join(folder, "folder", "inner")
	if err := os.MkdirAll(inner, 0o700); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	write := func(text string, err error) func(io.Writer) error {
		return func(w io.Writer) error {
			_, failed := io.WriteString(w, text)
			return errors.Join(failed, err)
		}
	}
	var d files
	if _, err := d.Open(path, true, false); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that does not exist: %v", err)
	}
	if _, err := d.Open(inner, false, false); err == nil {
		t.Error("a folder is opened")
	}
	if err := d.Replace(filepath.Dir(inner), write("x", nil)); err == nil {
		t.Error("a folder is replaced")
	}
	if err := d.Replace(path, write("old", nil)); err != nil {
		t.Fatal(err)
	}
	f := must[diskFile](t)(d.Open(path, false, false))
	if err := d.Replace(path, write("new and broken", broken)); !errors.Is(err, broken) {
		t.Errorf("content that breaks off: %v", err)
	}
	if n, err := f.Size(); n != 3 || err != nil {
		t.Errorf("the file has %d bytes, %v", n, err)
	}
	if same, err := f.Current(path); !same || err != nil {
		t.Errorf("a file that stays: %t, %v", same, err)
	}
	if err := d.Replace(path, write("newer", nil)); err != nil {
		t.Fatal(err)
	}
	if same, err := f.Current(path); same || err != nil {
		t.Errorf("a file that was replaced: %t, %v", same, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if same, err := f.Current(path); same || err != nil {
		t.Errorf("a file that was removed: %t, %v", same, err)
	}
	if _, err := f.Current(filepath.Join(path, "x\x00")); err == nil {
		t.Error("a path that cannot be looked up")
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Size(); err == nil {
		t.Error("a closed file has a size")
	}
}
