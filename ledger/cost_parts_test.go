package ledger

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
)

// TestLedgersInMemoryFitInFiles checks that a ledger without a journal refuses, before anything is
// paid for, parts and texts that no file can hold.
func TestLedgersInMemoryFitInFiles(t *testing.T) {
	budget := accountant.Budget{Epsilon: 8, Delta: 1e-5}
	at := New(budget)
	root, deep := at, 0
	for range 20 {
		children, err := at.Disjoint(Parts{Purpose: "p", N: 1})
		if err != nil {
			break
		}
		at, deep = children[0], deep+1
	}
	if err := at.Spend("x", accountant.Pure{Epsilon: 1e-3}); err != nil || deep < 4 ||
		deep > maxPartDepth {
		t.Errorf("parts nested %d deep: %v", deep, err)
	}
	text, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Unmarshal(text); err != nil {
		t.Error(err)
	}
	l := New(budget)
	if err := l.Spend("x", accountant.Pure{Epsilon: 1e-3}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Disjoint(Parts{Purpose: "p", N: maxParts + 1}); err == nil {
		t.Error("70,000 parts are opened")
	}
	groups := 0
	for _, size := range []int{500, 25, 1} { // together as long as they fit
		tx := Transaction{Groups: slices.Repeat([]Parts{{Purpose: "p", N: 1}}, size),
			Lines: []Line{{Purpose: "x", Event: accountant.Pure{Epsilon: 1e-3}, Count: 1}}}
		for groups < 11_500 {
			if _, err := l.ReserveAll(tx); err != nil {
				break
			}
			groups += size
		}
	}
	if text, err = json.Marshal(l.Guarantee()); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, new(Guarantee)); err != nil || groups < 4_000 ||
		groups > mostReadEntries {
		t.Errorf("%d groups: %v", groups, err)
	}
	var long Transaction
	for i := range 3_500 {
		long.Lines = append(long.Lines, Line{Event: accountant.Pure{Epsilon: 1e-9}, Count: 1,
			Purpose: strings.Repeat("\x01", 4000) + strconv.Itoa(i)})
	}
	if _, err := New(budget).ReserveAll(long); err == nil {
		t.Error("purposes of 80 MB are accepted")
	}
	if err := New(budget).Spend("x", accountant.Curve{Name: strings.Repeat("n", 8<<20),
		Epsilons: []float64{0, 1}, Deltas: []float64{1e-9, 0}}); err == nil {
		t.Error("a name of 8 MB is accepted")
	}
}

// TestMoreUsesFitInFiles: more uses of events that a ledger holds may make every part the dearest
// one, and what is then priced too much for a guarantee that is read.
func TestMoreUsesFitInFiles(t *testing.T) {
	l := New(accountant.Budget{Epsilon: 1, Delta: 1e-6})
	const n = 70 // of two places each
	parts := must[[]*Ledger](t)(l.Disjoint(Parts{Purpose: "parts", N: n, Fixed: true}))
	refused := 0
	reserve := func(at *Ledger, e accountant.Event, count int) {
		var wrong *param.Error
		if _, err := at.Reserve("use", e, count); errors.As(err, &wrong) {
			refused++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, of := range []func(int) int{func(int) int { return 1 }, func(i int) int { return 1 + i }} {
		for i, part := range parts {
			reserve(part, accountant.Laplace{Scale: 1e6}, of(i))
			reserve(part, accountant.Pure{Epsilon: 1e-6}, of(n-i))
		}
	}
	var read Guarantee
	text := must[[]byte](t)(json.Marshal(l.Guarantee()))
	if err := json.Unmarshal(text, &read); err != nil || refused == 0 {
		t.Errorf("%d reservations are refused, and the guarantee is read with %v", refused, err)
	}
}
