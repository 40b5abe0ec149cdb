package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
)

// allocated returns the bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestSmallFilesTakeLittle reads texts below a megabyte of which every few bytes are a value.
func TestSmallFilesTakeLittle(t *testing.T) {
	l := New(accountant.Budget{Epsilon: 1, Delta: 1e-6})
	c := must[[]*Ledger](t)(l.Disjoint(Parts{Purpose: "p", N: maxParts, MovesCovered: true}))
	if err := c[0].Spend("x", accountant.Gaussian{NoiseMultiplier: 100}); err != nil {
		t.Fatal(err)
	}
	guarantee := must[[]byte](t)(json.Marshal(l.Guarantee()))
	one := New(l.Budget())
	must[[]*Ledger](t)(one.Disjoint(Parts{Purpose: "p", N: 1}))
	text := must[[]byte](t)(json.Marshal(one))
	many := func(old, each string) []byte {
		return bytes.Replace(text, []byte(old), []byte(old+strings.Repeat(each, 240_000)), 1)
	}
	for name, c := range map[string]struct {
		read func() error
		good bool
	}{
		"a guarantee of many parts": {func() error { return json.Unmarshal(guarantee, new(Guarantee)) },
			true},
		"parts without fields": {func() error {
			_, err := Unmarshal(many(`"ledgers":[`, `{},`))
			return err
		}, false},
		"entries without fields": {func() error {
			_, err := Unmarshal(many(`"entries":[`, `{},`))
			return err
		}, false},
	} {
		var err error
		used := allocated(func() { err = c.read() })
		if (err == nil) != c.good || err != nil && len(err.Error()) > 1000 {
			t.Errorf("%s: %.200v", name, err)
		}
		if used > 200<<20 { // in all; half of it and less at once
			t.Errorf("%s: %d bytes are allocated", name, used)
		}
	}
	beyond := bytes.Replace(text, []byte(`"ledgers":[`), []byte(`"ledgers":[`+
		strings.Repeat(`{},`, mostSavedValues+1)), 1)
	if _, err := Unmarshal(beyond); !errors.Is(err, param.ErrTooMuch) {
		t.Errorf("too many parts: %.200v", err)
	}
	if bytes.Count(text, []byte(`"entries":[`)) == 0 {
		t.Error("no list of entries in the text")
	}
}

// TestNamesOfPartsFitInFiles opens groups with long names until the ledger refuses: the guarantee
// must not be too long to be read.
func TestNamesOfPartsFitInFiles(t *testing.T) {
	l := New(accountant.Budget{Epsilon: 1, Delta: 1e-6})
	var wrong *param.Error
	var err error
	long := Parts{Purpose: strings.Repeat("\x01", 4096), N: 1}
	groups := 0
	for ; groups < 4000 && err == nil; groups += 500 {
		_, err = l.ReserveAll(Transaction{Groups: slices.Repeat([]Parts{long}, 500),
			Lines: []Line{{Purpose: "x", Event: accountant.Pure{Epsilon: 1e-9}, Count: 1}}})
	}
	if !errors.As(err, &wrong) {
		t.Errorf("%d groups with names of 4 kB are opened: %v", groups, err)
	}
	if text := must[[]byte](t)(json.Marshal(l.Guarantee())); len(text) > mostReadBytes {
		t.Errorf("a guarantee of %d bytes cannot be read", len(text))
	}
}

// TestPaidTransactionsFitInFiles: a ledger in memory reserves no transaction that its saved form
// cannot hold.
func TestPaidTransactionsFitInFiles(t *testing.T) {
	five := accountant.Gaussian{NoiseMultiplier: 5}
	deep := New(accountant.Budget{Epsilon: 10, Delta: 1e-6})
	for range maxPartDepth {
		deep = must[[]*Ledger](t)(deep.Disjoint(Parts{Purpose: "p", N: 1}))[0]
	}
	half := New(deep.Budget())
	must[[]*Ledger](t)(half.Disjoint(Parts{Purpose: "half", N: maxParts/2 + 1}))
	half = must[*Ledger](t)(Unmarshal(must[[]byte](t)(json.Marshal(half))))
	in := func(n int) []Parts { return []Parts{{Purpose: "h", N: n}} }
	for name, c := range map[string]struct {
		at *Ledger
		t  Transaction
	}{
		"an ID of bytes":  {New(deep.Budget()), Transaction{ID: "run\xff"}},
		"too deep":        {deep, Transaction{ID: "x", Groups: in(1)}},
		"parts that sum":  {half, Transaction{ID: "x", Groups: in(maxParts / 2)}},
		"parts that wrap": {New(deep.Budget()), Transaction{ID: "x", Groups: in(math.MaxInt)}},
	} {
		c.t.Lines = []Line{{Purpose: "x", Event: five, Count: 3, Group: len(c.t.Groups)}}
		var wrong *param.Error
		if _, err := c.at.ReserveAll(c.t); !errors.As(err, &wrong) {
			t.Errorf("%s: got %v, want a *param.Error", name, err)
		}
	}
	if err := half.Affords(Transaction{Groups: in(math.MaxInt), Lines: []Line{{Purpose: "x",
		Event: five, Count: 1, Group: 1}}}); err == nil {
		t.Error("2^60 parts are affordable")
	}
}

// TestNotesOfOtherClasses: a class that no file can hold is noted as the weaker one, so that the
// ledger can still be read.
func TestNotesOfOtherClasses(t *testing.T) {
	store := Memory()
	terms := Terms{Budget: accountant.Budget{Epsilon: 1, Delta: 1e-6}}
	l := must[*Ledger](t)(store.Create(t.Context(), "people", terms))
	r := must[*Reservation](t)(l.Reserve("x", accountant.Gaussian{NoiseMultiplier: 50}, 3))
	r.Note("Exact")
	again := must[*Ledger](t)(store.Open(t.Context(), "people"))
	if notes := again.Entries()[0].Notes; len(notes) != 1 || notes[0] != RealNoise {
		t.Errorf("noted %q", notes)
	}
}
