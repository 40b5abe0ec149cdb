package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
)

// busy returns a journal with a line of every kind but a snapshot, and its ledger.
func busy(t *testing.T) (*listed, *Ledger) {
	t.Helper()
	j := &listed{}
	l := must[*Ledger](t)(CreateOn(t.Context(), j, Terms{Name: "people", Budget: journalBudget,
		Limits: []Limit{{Epsilon: 1.5, Window: time.Hour}}}))
	r := must[*Reservation](t)(l.Reserve("count", journalEvent, 5))
	must[[]*Ledger](t)(l.Disjoint(Parts{Purpose: "classes", N: 2}))
	run := must[[]*Reservation](t)(l.ReserveAll(Transaction{ID: "run",
		Groups: []Parts{{Purpose: "parts", N: 2}},
		Lines: []Line{{Purpose: "run", Event: journalEvent, Count: 6},
			{Purpose: "part", Event: journalEvent, Count: 3, Group: 1, Part: 1}}}))
	r.Note(RealNoise)
	for _, r := range append(run, r) {
		if err := r.Spend(); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.LedTo(Release{Transaction: "run"}); err != nil {
		t.Fatal(err)
	}
	return j, l
}

// forge replaces a text in the only line of a journal that has it.
func forge(t *testing.T, lines []JournalLine, old, new string) *listed {
	t.Helper()
	found := 0
	out := rechained(lines, func(_ int, text []byte) []byte {
		if bytes.Contains(text, []byte(old)) {
			found++
			return bytes.Replace(text, []byte(old), []byte(new), 1)
		}
		return text
	})
	if found != 1 {
		t.Fatalf("%d lines have %s, want one", found, old)
	}
	return out
}

// damagedBecause checks that an error is ErrDamaged, and says why.
func damagedBecause(t *testing.T, what string, err error, why string) {
	t.Helper()
	if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), why) {
		t.Errorf("%s: got %v, want ErrDamaged because of %q", what, err, why)
	}
}

// TestForgedLines: a line whose hash matches, but that no ledger writes, is refused for its own
// reason.
func TestForgedLines(t *testing.T) {
	j, _ := busy(t)
	if _, err := OpenOn(t.Context(), rechained(j.lines, func(_ int, b []byte) []byte {
		return b
	})); err != nil {
		t.Fatal(err)
	}
	hash := strings.Repeat("0", 62)
	for _, c := range [][3]string{
		{`"entry":0,"class":"real"`, `"entry":2,"class":"real"`, "note.entry"},
		{`"entry":0,"class":"real"`, `"entry":-1,"class":"real"`, "note.entry"},
		{`"entry":0,"class":"real"`, `"entry":0,"class":"none"`, "note.class"},
		{`"release":{"transaction":"run"`, `"release":{"plan":"` + hash + `"`, "SHA-256"},
		{`"release":{"transaction":"run"`, `"release":{"artefact":"` + hash + `"`, "SHA-256"},
		{`"reserve":{"relation":"add_or_remove_one","purpose":"count"`,
			`"reserve":{"relation":"add_or_remove_one","purpose":"` + strings.Repeat("x", maxPurpose+1) +
				`"`,
			"reserve.purpose"},
		{`"transaction":{"relation":"add_or_remove_one"`, `"transaction":{"relation":"replace_one"`,
			"relation"},
		{`"disjoint":{"purpose":"classes","n":2`, `"disjoint":{"purpose":"classes","n":0`, "Parts.N"},
		{`"disjoint":{"purpose":"classes","n":2`, `"disjoint":{"purpose":"classes","n":99999`, "part"},
		{`"purpose":"run","event":{"kind":"gaussian","noise_multiplier":50},"count":6`,
			`"purpose":"run","event":{"kind":"gaussian","noise_multiplier":50},"count":0`, "ount"},
		{`"purpose":"count","event":{"kind":"gaussian","noise_multiplier":50},"count":5`,
			`"purpose":"count","event":{"kind":"gaussian","noise_multiplier":50},"count":5,"taken":-1`,
			"reserve.count"},
		{`"purpose":"part","event":{"kind":"gaussian","noise_multiplier":50}`,
			`"purpose":"part","event":{"kind":"gaussian","noise_multiplier":-1}`, "oise"},
		{`"purpose":"count","event":{"kind":"gaussian","noise_multiplier":50}`,
			`"purpose":"count","event":{"kind":"gaussian","noise_multiplier":-1}`, "oise"},
		{`"purpose":"run","event":{"kind":"gaussian","noise_multiplier":50},"count":6`, fmt.Sprintf(
			`"purpose":"count","event":{"kind":"gaussian","noise_multiplier":50},"count":%d`, maxCount),
			"in total"},
		{`"groups":[{"purpose":"parts"`, `"groups":[{"purpose":"a, part 1 of 2: "`, "urpose"},
		{`"disjoint":{"purpose":"classes"`, `"disjoint":{"purpose":"a, part 1 of 2: "`, "urpose"},
	} {
		_, err := OpenOn(t.Context(), forge(t, j.lines, c[0], c[1]))
		damagedBecause(t, c[1], err, c[2])
	}
	last := len(j.lines) - 1
	for what, add := range map[string]func(text []byte) []byte{
		"an opening line": func([]byte) []byte {
			return bytes.Replace(j.lines[0].Text, []byte(`"line":1`), fmt.Appendf(nil, `"line":%d`,
				last+2),
				1)
		},
		"at most math.MaxInt/4": func([]byte) []byte {
			return fmt.Appendf(nil, `{"line":%d,"time":%q,"reserve":{"relation":"add_or_remove_one",`+
				`"purpose":"count","event":{"kind":"gaussian","noise_multiplier":50},"count":%d}}`, last+2,
				"2020-01-01T00:00:00Z", maxCount)
		},
		"spend.count": func([]byte) []byte {
			return fmt.Appendf(nil, `{"line":%d,"time":%q,"spend":{"index":0,"count":0}}`, last+2,
				"2020-01-01T00:00:00Z")
		},
		"no more uses than are left": func([]byte) []byte { // the uses of a transaction
			return fmt.Appendf(nil, `{"line":%d,"time":%q,"spend":{"index":1,"count":1}}`, last+2,
				"2020-01-01T00:00:00Z")
		},
	} {
		more := append(slices.Clone(j.lines), JournalLine{})
		_, err := OpenOn(t.Context(), rechained(more, func(i int, text []byte) []byte {
			if i > last {
				return add(text)
			}
			return text
		}))
		damagedBecause(t, "a last line", err, what)
	}
	for i, want := range map[int]string{0: "kind", last: "kind"} {
		lines := slices.Clone(j.lines)
		lines[i].Snapshot = true
		_, err := decodeChange(lines[i])
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("line %d is called a snapshot: %v", i+1, err)
		}
	}
	gap := slices.Clone(j.lines)
	gap[last].Line++
	if err := gap[last].Follows(gap[last-1].Position); !errors.Is(err, ErrDamaged) {
		t.Errorf("a line after a gap: %v", err)
	}
	_, err := OpenOn(t.Context(), rechained(j.lines[1:], func(i int, text []byte) []byte {
		return bytes.Replace(text, fmt.Appendf(nil, `"line":%d`, i+2), fmt.Appendf(nil, `"line":%d`,
			i+1),
			1)
	}))
	damagedBecause(t, "the first line is missing", err, "does not open")
}

// TestForgedMoves: under replace-one no line opens parts without the declaration that covers moves.
func TestForgedMoves(t *testing.T) {
	j := &listed{}
	b := journalBudget
	b.Relation = accountant.ReplaceOne
	l := must[*Ledger](t)(CreateOn(t.Context(), j, Terms{Name: "people", Budget: b}))
	must[[]*Ledger](t)(l.Disjoint(Parts{Purpose: "classes", N: 2, MovesCovered: true}))
	must[[]*Reservation](t)(l.ReserveAll(Transaction{ID: "run",
		Groups: []Parts{{Purpose: "parts", N: 2, MovesCovered: true}},
		Lines:  []Line{{Purpose: "run", Event: journalEvent, Count: 6, Group: 1}}}))
	for _, name := range []string{"classes", "parts"} {
		old := fmt.Sprintf(`"purpose":%q,"n":2,"moves_covered":true`, name)
		_, err := OpenOn(t.Context(), forge(t, j.lines, old, fmt.Sprintf(`"purpose":%q,"n":2`, name)))
		damagedBecause(t, name, err, "MovesCovered")
	}
	text := must[[]byte](t)(json.Marshal(l))
	for i := range 2 {
		if _, err := Unmarshal(changed(t, l, func(d map[string]any) {
			delete(object(d, "parts", i), "moves_covered")
		})); err == nil || !strings.Contains(err.Error(), "MovesCovered") {
			t.Errorf("a saved group %d of parts: %v", i, err)
		}
	}
	if _, err := Unmarshal(text); err != nil {
		t.Error(err)
	}
}

// TestForgedSnapshots: a ledger that has read some lines adopts a snapshot of later ones, and takes
// no use that was taken there. It refuses a snapshot that holds less than its own lines, and one of
// another journal.
func TestForgedSnapshots(t *testing.T) {
	j, l := busy(t)
	behind := func(from *listed, lines []JournalLine) (*Ledger, error) {
		o := must[*Ledger](t)(OpenOn(t.Context(), &listed{slices.Clone(from.lines)}))
		o.shared.journal.lines = &shortened{listed: &listed{lines}}
		return o, o.shared.refresh()
	}
	walk := Transaction{ID: "walk", Lines: []Line{{Purpose: "walk", Event: journalEvent, Count: 4}}}
	walked := must[[]*Reservation](t)(l.ReserveAll(walk))
	early := &listed{slices.Clone(j.lines)}
	walk.ID = "later"
	must[[]*Reservation](t)(l.ReserveAll(walk))
	run := must[[]*Reservation](t)(l.ReserveAll(Transaction{ID: "run",
		Groups: []Parts{{Purpose: "parts", N: 2}},
		Lines: []Line{{Purpose: "run", Event: journalEvent, Count: 6, Taken: 1},
			{Purpose: "part", Event: journalEvent, Count: 3, Group: 1, Part: 1, Taken: 1}}}))
	for range 2 {
		if err := errors.Join(run[0].Spend(), run[1].Spend(), walked[0].Spend()); err != nil {
			t.Fatal(err)
		}
	}
	ride := must[[]*Reservation](t)(l.ReserveAll(Transaction{ID: "ride",
		Lines: []Line{{Purpose: "ride", Event: journalEvent, Count: 4}}})) // with an entry of its own
	if err := ride[0].Spend(); err != nil {
		t.Fatal(err)
	}
	must[*Reservation](t)(l.Reserve("ride", journalEvent, 3))
	must[*Reservation](t)(l.Reserve("more", journalEvent, 2)).Note(ExactNoise)
	l.MarkNotPrivate("a test")
	must[*Reservation](t)(l.Children()[0].Parts[0].Reserve("inner", journalEvent, 1))
	if err := l.Compact(); err != nil {
		t.Fatal(err)
	}
	last := j.lines[len(j.lines)-1:]
	o, err := behind(early, last)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := must[[]byte](t)(json.Marshal(o)), must[[]byte](t)(json.Marshal(l)); !bytes.Equal(a,
		b) {
		t.Errorf("after the snapshot the ledger is\n%s\nwant\n%s", a, b)
	}
	if o.NotPrivate() != "a test" || len(o.Releases()) != 1 || !o.shared.root.spending ||
		!reflect.DeepEqual(o.Entries(), l.Entries()) {
		t.Errorf("after the snapshot: %q, %v, %+v", o.NotPrivate(), o.Releases(), o.Entries())
	}
	for id, taken := range map[string]bool{"run": true, "walk": true, "later": false} {
		p, same := o.transaction(id), l.transaction(id)
		if p == nil || p.lines[0].spent != same.lines[0].spent || p.lines[0].spent > 0 != taken ||
			p.lines[0].entry.owned != same.lines[0].entry.owned ||
			p.lines[0].entry.ownedSpent != same.lines[0].entry.ownedSpent {
			t.Errorf("after the snapshot the transaction %q differs: %+v", id, p)
		}
	}
	for i, en := range o.entries {
		if same := l.entries[i]; en.owned != same.owned || en.ownedSpent != same.ownedSpent ||
			en.left() != same.left() {
			t.Errorf("after the snapshot the entry %q differs: %+v, want %+v", en.purpose, en, same)
		}
	}
	text := string(last[0].Text)
	spent := text[strings.Index(text, `"transactions":[`):]
	spent = spent[strings.Index(spent, `"spent":`):]
	spent = spent[:strings.IndexAny(spent, ",}")]
	for _, c := range [][3]string{
		{`"first":{"line":1,"hash":"`, `"first":{"line":1,"hash":"0`, "another journal"}, {`"id":"run"`,
			`"id":"rode"`, `the transaction "run"`},
		{`"windows":[`, `"windows":[[],`, "counted by its limits"},
		{`"purpose":"count"`, `"purpose":"counts"`, "holds less"},
		{`"reserved":5`, `"reserved":4`, "holds less"}, {`"reserved":5,"spent":1`,
			`"reserved":5,"spent":0`,
			"holds less"},
		{`"releases":[{`, `"releases":[{"plan":"00",`, "SHA-256"},
		{`"epsilon":2`, `"epsilon":2.5`, "other terms"},
		{`"notes":["real"]`, `"notes":["none"]`, "exact or real"},
		{`"classes","`, `"classes","fixed":true,"`, "holds less"},
	} {
		if !strings.Contains(text, c[0]) {
			t.Errorf("the snapshot has no %s: %s", c[0], text)
			continue
		}
		bad := slices.Clone(last)
		bad[0].Text = []byte(strings.Replace(text, c[0], c[1], 1))
		bad[0].Hash = ChainHash(previous(bad[0].Text), bad[0].Text)
		_, err := behind(early, bad)
		damagedBecause(t, c[1], err, c[2])
	}
	for what, drop := range map[string]func(l map[string]any){
		"no transactions": func(l map[string]any) { delete(l, "transactions") },
		"one transaction": func(l map[string]any) {
			l["transactions"] = l["transactions"].([]any)[:1]
		},
		"no parts": func(l map[string]any) {
			delete(l, "transactions")
			delete(l, "parts")
		},
		"no entries": func(l map[string]any) {
			delete(l, "transactions")
			l["entries"] = l["entries"].([]any)[:1]
		},
		"one part less": func(l map[string]any) {
			parts := object(l, "parts", 0)
			parts["ledgers"] = parts["ledgers"].([]any)[:1]
		},
	} {
		var doc map[string]any
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&doc); err != nil {
			t.Fatal(err)
		}
		drop(object(doc, "snapshot", "ledger"))
		bad := slices.Clone(last)
		bad[0].Text = must[[]byte](t)(json.Marshal(doc))
		bad[0].Hash = ChainHash(previous(bad[0].Text), bad[0].Text)
		_, err := behind(early, bad)
		damagedBecause(t, what, err, "holds less")
	}
	fewer := strings.LastIndex(text, spent)
	bad := slices.Clone(last)
	bad[0].Text = []byte(text[:fewer] + `"spent":0` + text[fewer+len(spent):])
	bad[0].Hash = ChainHash(previous(bad[0].Text), bad[0].Text)
	if _, err := behind(early, bad); !errors.Is(err, ErrDamaged) {
		t.Errorf("a transaction with fewer uses: %v", err)
	}
	bad = slices.Clone(last)
	bad[0].Text = []byte(strings.Replace(text, `"reserved":5`, `"reserved":6`, 1))
	if _, err := behind(early, bad); !errors.Is(err, ErrDamaged) {
		t.Errorf("a snapshot whose hash does not match: %v", err)
	}
	if a, b := later(time.Unix(5, 0), time.Unix(7, 0)), later(time.Unix(7, 0),
		time.Unix(5, 0)); a != time.Unix(7, 0) || b != a {
		t.Error(a, b)
	}
}

// previous returns the hash of the line before a snapshot.
func previous(text []byte) string {
	var c change
	_ = param.Decode(text, &c)
	return c.Snapshot.Previous
}

// TestForgedFiles: a saved ledger that no ledger writes is refused for its own reason.
func TestForgedFiles(t *testing.T) {
	first := func(list any) map[string]any { return object(list.([]any)[0]) }
	for why, change := range map[string]func(doc map[string]any){
		"version":    func(d map[string]any) { d["version"] = 99 },
		"WithFilter": func(d map[string]any) { d["filter_order"] = 0.5 },
		"exact or real": func(d map[string]any) {
			object(d, "entries", 0)["notes"] = []string{"none"}
		},
		"Entry.Purpose": func(d map[string]any) {
			object(d, "entries", 0)["purpose"] = strings.Repeat("x", maxPurpose+1)
		},
		"between 0 and Reserved": func(d map[string]any) { object(d, "entries", 0)["reserved"] = 0 },
		"unique transaction": func(d map[string]any) {
			list := d["transactions"].([]any)
			d["transactions"] = append(list, map[string]any{"id": object(list[0])["id"], "lines": []any{
				map[string]any{"purpose": "steps", "event": first(object(list[0])["lines"])["event"],
					"reserved": 1,
					"spent":    0}}})
		},
		"an ID and at least one line": func(d map[string]any) {
			object(d, "transactions",
				0)["id"] = ""
		},
		"number of a group of parts": func(d map[string]any) {
			object(d, "transactions", 0)["groups"] = []int{7}
		},
		"the number of a group of": func(d map[string]any) {
			object(d, "transactions", 0)["groups"] = []int{-1}
		},
		"the number of a group\"": func(d map[string]any) {
			object(d, "transactions", 0, "lines", 2)["group"] = 3
		},
		"a part of the group": func(d map[string]any) {
			object(d, "transactions", 0, "lines", 2)["part"] = 2
		},
		"that the ledger's entries hold": func(d map[string]any) {
			object(d, "transactions", 0, "lines", 0)["purpose"] = "walks"
		},
		"line that the ledger's entries": func(d map[string]any) {
			object(d, "transactions", 0, "lines", 0)["spent"] = -1
		},
		"a line that the ledger's": func(d map[string]any) {
			line := object(d, "transactions", 0, "lines", 0)
			line["spent"], line["reserved"] = 0, 0
		},
	} {
		data := changed(t, kept(t), change)
		why = strings.TrimSuffix(why, `"`)
		if _, err := Unmarshal(data); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("got %v, want an error about %q", err, why)
		}
	}
	l := New(accountant.Budget{Epsilon: 1, Delta: 1e-6}, WithFilter(40))
	must[*Reservation](t)(l.Reserve("x", journalEvent, 1))
	text := must[[]byte](t)(json.Marshal(l))
	if _, err := Unmarshal(text, WithFilter(41)); err == nil {
		t.Error("a saved filter of order 40 is read with order 41")
	}
	if back, err := Unmarshal(text); err != nil || back.filter != 40 || back.Epsilon().Upper != 1 {
		t.Errorf("a saved filter: %v, %v", back, err)
	}
	big := New(accountant.Budget{Epsilon: 1, Delta: 1e-6})
	tiny := accountant.Gaussian{NoiseMultiplier: 1e15}
	must[*Reservation](t)(big.Reserve("x", tiny, 1<<20))
	data := changed(t, big, func(d map[string]any) {
		e := object(d, "entries", 0)
		e["reserved"] = maxCount
		again := map[string]any{}
		for k, v := range e {
			again[k] = v
		}
		d["entries"] = append(d["entries"].([]any), again)
	})
	if _, err := Unmarshal(data); err == nil || !strings.Contains(err.Error(), "in total") {
		t.Errorf("the uses of two equal entries overflow: %v", err)
	}
}

// TestWhatALedgerRefuses: parameters that no ledger has.
func TestWhatALedgerRefuses(t *testing.T) {
	parts := func(line Line) error {
		line.Purpose, line.Event = "x", journalEvent
		return Transaction{ID: "x", Groups: []Parts{{Purpose: "p", N: 2}},
			Lines: []Line{line}}.check(accountant.AddOrRemoveOne)
	}
	l := New(journalBudget)
	budget := journalBudget
	good := Terms{Name: "people", Budget: budget}
	limited := func(m ...Limit) Terms { o := good; o.Limits = m; return o }
	filtered := good
	filtered.FilterOrder = 0.5
	for what, err := range map[string]error{
		"Reserve.count": second(l.Reserve("x", journalEvent, 0)),
		"Reserve.event": second(l.Reserve("x", nil, 1)),
		"Epsilon":       limited(Limit{Epsilon: math.Inf(1)}).Validate(),
		"[1].Epsilon":   limited(Limit{Epsilon: 1}, Limit{Epsilon: math.NaN()}).Validate(),
		"Window":        limited(Limit{Epsilon: 1, Window: -1}).Validate(),
		"[0].Window":    limited(Limit{Epsilon: 1, Window: 1, PerRelease: true}).Validate(),
		"Approvals":     limited(Limit{Epsilon: 1, Approvals: -1}).Validate(),
		"Limits":        limited(slices.Repeat([]Limit{{Epsilon: 1}}, mostLimits+1)...).Validate(),
		"filter":        filtered.Validate(),
		"Part":          parts(Line{Count: 1, Group: 1, Part: -1}),
		"[0].Part":      parts(Line{Count: 1, Group: 1, Part: 2}),
		"Group":         parts(Line{Count: 1, Group: 2}),
		"[0].Group":     parts(Line{Count: 1, Group: -1}),
		"Count":         parts(Line{Count: -1}),
		"Taken":         parts(Line{Count: 1, Taken: 2}),
		"[0].Taken":     parts(Line{Count: 1, Taken: -1}),
		"Name":          second(CreateOn(t.Context(), &listed{}, Terms{Budget: budget})),
		"Journal":       second(OpenOn(t.Context(), nil)),
		"OpenOn.opts": second(OpenOn(t.Context(), must[*listed](t)(onlyJournal(busy(t))),
			WithUnit("user"))),
	} {
		wrong := (*param.Error)(nil)
		if !errors.As(err, &wrong) || !strings.Contains(strings.ToLower(err.Error()),
			strings.ToLower(what)) {
			t.Errorf("%s: got %v, want a *param.Error that names it", what, err)
		}
	}
	if err := New(budget, ReadOnly()).Spend("x", journalEvent); err == nil {
		t.Error("a ledger in memory takes an option for journals")
	}
	if _, err := CreateOn(t.Context(), &listed{}, good, ReadOnly()); !errors.Is(err, ErrReadOnly) {
		t.Error(err)
	}
	if len(l.Entries()) != 0 {
		t.Errorf("refusals reserve %+v", l.Entries())
	}
}

func second[T any](_ T, err error) error { return err }

func onlyJournal(j *listed, _ *Ledger) (*listed, error) { return j, nil }

// TestGuaranteeOfOneRow: replacing the rows of one unit is removing the unit and adding it again.
func TestGuaranteeOfOneRow(t *testing.T) {
	for _, c := range []struct {
		g          Guarantee
		eps, delta float64
	}{
		{Guarantee{Epsilon: 1.5, Delta: 1e-6, Relation: accountant.ReplaceOne}, 1.5, 1e-6},
		{Guarantee{Epsilon: 1.5}, 3, 0},
		{Guarantee{Epsilon: 1.5, Delta: 1e-6}, 3, (1 + math.Exp(1.5)) * 1e-6},
		{Guarantee{Epsilon: 100, Delta: 1e-6}, 200, 1},
	} {
		eps, delta := c.g.OneRow()
		if eps != c.eps || !(delta >= c.delta) || delta > c.delta*(1+1e-12) {
			t.Errorf("%+v: one row has ε = %g, δ = %g, want %g and %g", c.g, eps, delta, c.eps, c.delta)
		}
	}
	g := Guarantee{Epsilon: 1.5, Delta: 1e-6, Unit: "user", RowsPerUnit: 9}
	if s := g.Units(); !strings.Contains(s, "at most 9") || !strings.Contains(s,
		"ε = 3, δ = 5.49e-06") {
		t.Error(s)
	}
	if s := (Guarantee{Unit: "user"}).Units(); s != "one user" {
		t.Error(s)
	}
}

// TestInfiniteGuarantee: a guarantee without a bound is written as such, and read as such.
func TestInfiniteGuarantee(t *testing.T) {
	for _, x := range []float64{math.Inf(1), 0, 1.25} {
		text := must[[]byte](t)(json.Marshal(jsonFloat(x)))
		var back jsonFloat
		if err := json.Unmarshal(text, &back); err != nil || float64(back) != x ||
			math.IsInf(x, 1) != (string(text) == `"inf"`) {
			t.Errorf("%g is %s, read as %g (%v)", x, text, back, err)
		}
	}
	var back jsonFloat
	for _, bad := range []string{`"Inf"`, `"-inf"`, `1e999`} {
		if err := json.Unmarshal([]byte(bad), &back); err == nil {
			t.Errorf("%s is read as %g", bad, back)
		}
	}
}

// TestEpsilonOfPartsAndFilters: parts count as a whole before anything is taken, a filter publishes
// its budget as soon as a part has a use, and a ledger with a fault has no bound.
func TestEpsilonOfPartsAndFilters(t *testing.T) {
	l := New(journalBudget)
	parts := must[[]*Ledger](t)(l.Disjoint(Parts{Purpose: "classes", N: 2}))
	if e := l.EpsilonSoFar(); e != 0 {
		t.Errorf("nothing was reserved, and ε = %g", e)
	}
	must[*Reservation](t)(parts[1].Reserve("x", journalEvent, 4))
	if e, all := l.EpsilonSoFar(), l.Epsilon(); !(e >= all.Lower) || e == 0 {
		t.Errorf("ε so far is %g of %+v", e, all)
	}
	filter := New(journalBudget, WithFilter(40))
	parts = must[[]*Ledger](t)(filter.Disjoint(Parts{Purpose: "classes", N: 2}))
	if e := filter.Epsilon().Upper; e != 0 || filter.uses() {
		t.Errorf("an unused filter costs %g", e)
	}
	must[*Reservation](t)(parts[1].Reserve("x", accountant.Gaussian{NoiseMultiplier: 1e9}, 1))
	if e := filter.Epsilon().Upper; e != journalBudget.Epsilon || !filter.uses() {
		t.Errorf("a filter publishes ε = %g, want %g", e, journalBudget.Epsilon)
	}
	fault := New(accountant.Budget{Epsilon: -1, Delta: 1e-6})
	if e := fault.EpsilonSoFar(); !math.IsInf(e, 1) || !math.IsInf(fault.Epsilon().Upper, 1) {
		t.Errorf("a ledger with a fault has ε = %g", e)
	}
	if _, err := json.Marshal(fault); err == nil {
		t.Error("a ledger with a fault is saved")
	}
	if _, err := fault.Disjoint(Parts{Purpose: "classes", N: 2}); err == nil {
		t.Error("a ledger with a fault has parts")
	}
}

// TestClosedJournals: a closed ledger pays nothing and holds nothing.
func TestClosedJournals(t *testing.T) {
	j, l := busy(t)
	k := l.Kept()
	r := must[*Reservation](t)(l.Reserve("last", journalEvent, 2))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	lines := len(j.lines)
	for what, err := range map[string]error{"holds": l.Holds(*k), "spend": r.Spend(),
		"reserve": second(l.Reserve("x", journalEvent, 1)), "release": l.LedTo(Release{})} {
		if !errors.Is(err, errClosed) {
			t.Errorf("%s: %v, want %v", what, err, errClosed)
		}
	}
	if len(j.lines) != lines {
		t.Errorf("a closed ledger writes %d lines", len(j.lines)-lines)
	}
	if err := New(journalBudget).LedTo(Release{Plan: "00"}); err == nil {
		t.Error("a release of a plan without a hash")
	}
	m := must[Journal](t)((&memory{journals: map[string]*memoryLines{"x": {}}}).Journal(
		context.Background(), "x", Read))
	if err := m.Append(t.Context(), Position{}, []JournalLine{{}}); !errors.Is(err, ErrReadOnly) {
		t.Errorf("a journal opened for reading is written: %v", err)
	}
}

// TestJournalsOfAnotherName: a ledger is not opened under another name, whose budget it would
// spend.
func TestJournalsOfAnotherName(t *testing.T) {
	m := &memory{journals: map[string]*memoryLines{}}
	s := NewStore(m)
	terms := Terms{Budget: journalBudget}
	must[*Ledger](t)(s.Create(t.Context(), "people", terms))
	m.journals["others"] = m.journals["people"]
	if _, err := s.Open(t.Context(), "others"); !errors.Is(err, ErrDamaged) {
		t.Errorf("a journal that belongs to another ledger: %v", err)
	}
	if _, err := s.Audit(t.Context(), "others"); !errors.Is(err, ErrDamaged) {
		t.Errorf("an audit of a journal that belongs to another ledger: %v", err)
	}
	terms.Name = "people"
	if _, err := s.Create(t.Context(), "somebody", terms); err == nil {
		t.Error("a ledger is created under two names")
	}
	for _, name := range []string{"", "../people", "a/b"} {
		for what, err := range map[string]error{"create": second(s.Create(t.Context(), name, Terms{
			Budget: journalBudget})), "open": second(s.Open(t.Context(), name))} {
			if wrong := (*param.Error)(nil); !errors.As(err, &wrong) {
				t.Errorf("%s %q: %v", what, name, err)
			}
		}
	}
}

// TestTwoHandlesOfOneLine: a line reserved once and asked for twice gives no use twice, although
// its entry holds further uses.
func TestTwoHandlesOfOneLine(t *testing.T) {
	journal := must[*Ledger](t)(CreateOn(t.Context(), &listed{}, Terms{Name: "people",
		Budget: journalBudget}))
	for name, l := range map[string]*Ledger{"memory": New(journalBudget), "journal": journal} {
		must[*Reservation](t)(l.Reserve("run", journalEvent, 5))
		run := Transaction{ID: "run", Lines: []Line{{Purpose: "run", Event: journalEvent, Count: 2}}}
		a := must[[]*Reservation](t)(l.ReserveAll(run))[0]
		b := must[[]*Reservation](t)(l.ReserveAll(run))[0]
		given := 0
		for range 3 {
			for _, r := range []*Reservation{a, b} {
				if err := r.Spend(); err == nil {
					given++
				} else if !errors.Is(err, ErrReservationExhausted) {
					t.Fatal(name, err)
				}
			}
		}
		if given != 2 || l.Entries()[0].Spent > 2 {
			t.Errorf("%s: %d of 2 uses are given, and %d counted", name, given, l.Entries()[0].Spent)
		}
	}
}

// TestGuaranteeOfAFilter: the guarantee of a filter is its budget, also when it is read.
func TestGuaranteeOfAFilter(t *testing.T) {
	l := New(journalBudget, WithFilter(40))
	must[*Reservation](t)(l.Reserve("x", accountant.PoissonSampled{Probability: 0.1,
		Event: journalEvent}, 1))
	g := l.Guarantee()
	var back Guarantee
	if err := json.Unmarshal(must[[]byte](t)(json.Marshal(g)), &back); err != nil {
		t.Fatal(err)
	}
	for _, g := range []Guarantee{g, back} {
		if g.Epsilon != journalBudget.Epsilon || g.Lower != 0 || g.Accountant != engineFilter ||
			len(g.Samplers) != 1 {
			t.Errorf("the guarantee of a filter is %+v", g)
		}
	}
}

// TestFilesOfFilters: a filter whose file holds more than the budget has no bound. What was
// reserved late stays late.
func TestFilesOfFilters(t *testing.T) {
	l := New(journalBudget, WithFilter(40))
	if err := l.Spend("first", journalEvent); err != nil {
		t.Fatal(err)
	}
	must[*Reservation](t)(l.Reserve("second", journalEvent, 1))
	back := must[*Ledger](t)(Unmarshal(changed(t, l, func(map[string]any) {})))
	if e := back.Entries(); e[0].Late || !e[1].Late || back.Epsilon().Upper != journalBudget.Epsilon {
		t.Errorf("read back: %+v, %v", e, back.Epsilon())
	}
	over := must[*Ledger](t)(Unmarshal(changed(t, l, func(d map[string]any) {
		object(d, "entries", 0)["reserved"] = 1_000_000
	})))
	if e := over.Epsilon(); !math.IsInf(e.Upper, 1) || !math.IsInf(over.Guarantee().Epsilon, 1) {
		t.Errorf("a filter beyond its budget has ε = %v", e)
	}
	if err := over.Spend("third", journalEvent); err == nil {
		t.Error("a filter beyond its budget pays")
	}
}

// TestPartsSayWhatIsDeclared: the text for an auditor states each declaration, and no other.
func TestPartsSayWhatIsDeclared(t *testing.T) {
	for _, fixed := range []bool{false, true} {
		for _, moves := range []bool{false, true} {
			s := Parts{Purpose: "classes", N: 3, Fixed: fixed, MovesCovered: moves}.text()
			if strings.Contains(s, "declared fixed") != fixed ||
				strings.Contains(s, "released before may decide") == fixed ||
				strings.Contains(s, "joins or leaves its part") != moves || !strings.Contains(s,
				"3 disjoint") {
				t.Errorf("fixed %t, moves covered %t: %s", fixed, moves, s)
			}
		}
	}
}
