package privacytest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
)

// Replay compares a computation on a data set with the same computation on a
// neighbour, given that every mechanism answered the same.
//
// Differential privacy composes because, once the mechanisms' outputs are fixed,
// everything else is a function of public things. That is a property which can
// be tested exactly: the run on Data is recorded, the run on Neighbour is fed the
// recorded outputs, and then ledger lines, samples' probabilities, noise scales, shapes,
// the order of calls, errors, panics and whatever Run returns as visible must be
// identical, and each mechanism's inputs at most as far apart as declared. Where
// a row that was added is not in a step's sample, the step's inputs must be the
// same: what amplifies privacy by sampling may look at nothing but the sample.
//
// Rows are coupled by number (see [Seeded]): under add/remove let Neighbour be
// Data with one record appended, under replace-one let them differ in one row.
// [Neighbours] does so.
type Replay[D any] struct {
	// Run is the computation. visible is everything that leaves it besides the
	// ledger: parameters, samples, progress, log lines. It is compared by value.
	Run             func(ctx context.Context, ledger *accountant.Ledger, data D) (visible any, err error)
	Budget          accountant.Budget
	Data, Neighbour D
	// Seeds is how many different seeds are tried; 3 if zero. Branches that only
	// some samples take need some luck to be seen.
	Seeds int
}

// Check reports every difference as a test failure.
func (r Replay[D]) Check(tb testing.TB) {
	tb.Helper()
	for _, f := range r.Findings(tb) {
		tb.Errorf("not private: %s", f)
	}
}

// Findings returns what tells the neighbours apart: nothing, if the computation
// is sound as far as these neighbours can show.
func (r Replay[D]) Findings(tb testing.TB) []string {
	tb.Helper()
	seeds := r.Seeds
	if seeds == 0 {
		seeds = 3
	}
	for seed := range uint64(seeds) {
		// Both ways round: a refusal or a panic may need the larger data set first.
		if f := r.compare(seed, r.Data, r.Neighbour); len(f) > 0 {
			return f
		}
		if f := r.compare(seed, r.Neighbour, r.Data); len(f) > 0 {
			return f
		}
	}
	return nil
}

func (r Replay[D]) compare(seed uint64, data, neighbour D) []string {
	first := &tape{seeded: seeded{seed: seed}}
	a := r.once(first, data)
	second := &tape{seeded: seeded{seed: seed}, earlier: first.calls, playing: true}
	second.addition = r.Budget.Relation == accountant.AddOrRemoveOne
	b := r.once(second, neighbour)
	second.findings = append(first.findings, second.findings...)
	if len(second.calls) < len(first.calls) {
		second.find("the neighbour's run ends after %d calls, the data's after %d: next was %v",
			len(second.calls), len(first.calls), first.calls[len(second.calls)])
	}
	if len(second.findings) == 0 || !errors.Is(b.err, errDiverged) {
		second.compareResults(a, b)
	}
	return second.findings
}

// result is what an onlooker sees of one run.
type result struct {
	visible any
	err     error
	panic   any
	entries []accountant.Entry
}

func (r Replay[D]) once(t *tape, data D) (res result) {
	ledger := accountant.NewLedger(r.Budget)
	defer func() {
		res.panic = recover()
		res.entries = ledger.Entries()
	}()
	res.visible, res.err = r.Run(withTape(t), ledger, data)
	return res
}

func (t *tape) compareResults(a, b result) {
	if x, y := fmt.Sprint(a.err), fmt.Sprint(b.err); x != y {
		t.find("the errors differ: %s | %s", x, y)
	}
	if x, y := fmt.Sprint(a.panic), fmt.Sprint(b.panic); x != y {
		t.find("the panics differ: %s | %s", x, y)
	}
	if !sameEntries(a.entries, b.entries) {
		t.find("the ledgers differ: %v | %v", a.entries, b.entries)
	}
	if !same(reflect.ValueOf(a.visible), reflect.ValueOf(b.visible)) {
		t.find("what is visible differs: %s | %s", brief(a.visible), brief(b.visible))
	}
}

func sameEntries(a, b []accountant.Entry) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, y := a[i], b[i]
		if x.Purpose != y.Purpose || x.Reserved != y.Reserved || x.Spent != y.Spent || !accountant.EqualEvents(x.Event, y.Event) {
			return false
		}
	}
	return true
}

// same is reflect.DeepEqual with floats compared by their bits, so that NaN
// equals itself and −0 differs from 0. Values that point back at themselves are not for it.
func same(a, b reflect.Value) bool {
	if !a.IsValid() || !b.IsValid() {
		return a.IsValid() == b.IsValid()
	}
	if a.Type() != b.Type() {
		return false
	}
	switch a.Kind() {
	case reflect.Float32, reflect.Float64:
		return math.Float64bits(a.Float()) == math.Float64bits(b.Float())
	case reflect.Slice, reflect.Array:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !same(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Interface, reflect.Pointer:
		return same(a.Elem(), b.Elem())
	case reflect.Struct:
		for i := range a.NumField() {
			if !same(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	}
	if a.CanInterface() && b.CanInterface() {
		return reflect.DeepEqual(a.Interface(), b.Interface())
	}
	return true
}

func brief(v any) string {
	const most = 300
	s := fmt.Sprintf("%v", v)
	if len(s) > most {
		s = s[:most] + "…"
	}
	return s
}
