package privacytest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
)

// Replay compares a computation on a data set with the same computation on a neighbour, given that
// every mechanism returned the same outputs.
//
// Differential privacy composes because everything else is a function of public values once the
// mechanisms' outputs are fixed. This property can be tested exactly. The run on Data is recorded,
// and the run on Neighbour gets the recorded outputs. Ledger lines, sampling probabilities, noise
// scales, shapes, the order of calls, errors, panics and the visible result of Run must then be
// identical. The distance between the inputs of each mechanism must be at most the declared effect.
// If a step's sample does not hold the added or replaced row, the step's inputs must be equal.
// Amplification by sampling holds only for steps that read nothing but their Poisson sample or
// subset. A record must count for one row, so the number of rows of a sample's source must equal
// the size of the data set. This number is unknown for some types D and for samples of disjoint
// parts. Replay then only compares the numbers for both data sets.
// In a part the changed row has another number. Replay knows it exactly if the row is the first or
// the last one of the data. Otherwise it may overlook a step that reads more than its sample. Parts
// must keep the order of the rows. If samples are drawn from parts, the changed row must be the
// last one: any other shifts the numbers of later rows, so that samples differ and sound code is
// reported.
//
// An added record may change the inputs of one of several disjoint parts, and a replaced record the
// inputs of two. Otherwise the part of some record depends on other records, for example on its
// rank among them. Replay compares this only if each part releases its uses before another part
// takes one, and not for uses whose samples differ. Pairs in which the changed record moves no
// other record to another part cannot show the fault: under add-or-remove-one these are about half
// of the pairs of [Neighbours], under replace-one nearly all.
//
// A run may treat outputs differently that only large noise reaches. So the recorded noise of one
// release in eight is moved up by eight standard deviations, and that of another one is moved down.
// With two seeds or more this happens in every run, also to its first release. A run that branches
// on rarer outputs may be overlooked.
//
// Either everything is compared or the test fails. Visible values are copied when Run returns,
// including unexported fields, maps, interfaces and elements beyond the length of slices. A
// function, a channel or an unsafe pointer that is not the same object in both runs is reported,
// because it cannot be compared. The whole state of the ledger is compared: unit, marks, entries,
// child ledgers with their entries, and the guarantee.
//
// Under add-or-remove-one, Neighbour must be Data with one record more. Under replace-one, Data and
// Neighbour must differ in one row. [Neighbours] and [Edges] return such pairs. If D is a slice or
// records.Data, Replay finds the row itself and draws samples that agree on all other rows (see
// [Seeded]). For any other D, an added record must be the last one, and under replace-one Changed
// must list the rows that differ.
type Replay[D any] struct {
	// Run is the computation. The result visible is everything that Run releases besides the ledger:
	// parameters, samples, progress, log lines. visible and err are compared by value.
	Run func(ctx context.Context, ledger *ledger.Ledger,
		data D) (visible any, err error)
	Budget          accountant.Budget
	Data, Neighbour D
	// Seeds is the number of different seeds that are tried; 3 if zero. More seeds may be needed to
	// reach branches that only some samples take.
	Seeds int
	// Changed lists the numbers of the rows in which Data and Neighbour differ. It is needed under
	// replace-one, unless D is a slice or records.Data.
	Changed []int
	// Refused states that every run is meant to end in an error or a panic. Otherwise such runs are
	// reported, because nothing but the error was compared.
	Refused bool

	ended *endings // of the runs of one call of Findings
}

// Check reports every difference as a test failure.
func (r Replay[D]) Check(tb testing.TB) {
	tb.Helper()
	for _, f := range r.Findings(tb) {
		tb.Errorf("not private: %s", f)
	}
}

// Findings returns the differences that distinguish the neighbours. It is empty if the test finds
// none on these neighbours.
//
// If samples are drawn, further seeds are tried until some sample has left out the changed row. At
// most mostSeeds seeds are tried. Without such a sample, the test cannot show whether a step reads
// more than its sample.
func (r Replay[D]) Findings(tb testing.TB) []string {
	tb.Helper()
	seeds := cmp.Or(r.Seeds, 3)
	c := r.change()
	if f := r.notNeighbours(c); f != "" {
		return []string{f}
	}
	r.ended = new(endings)
	for turn := 0; turn < 2*seeds; turn++ {
		// Compare in both orders: a refusal or a panic may show only with the larger data set first.
		data, neighbour := r.Data, r.Neighbour
		if turn%2 == 1 {
			data, neighbour = neighbour, data
		}
		f, more := r.compare(turn, c, data, neighbour)
		if len(f) > 0 {
			return f
		}
		if more && turn+1 == 2*seeds && seeds < mostSeeds {
			seeds++
		}
	}
	if !r.ended.complete && !r.Refused {
		return []string{fmt.Sprintf("every run ended in the same error or panic (%s), so nothing else "+
			"was compared: set Refused if that is intended", r.ended.how)}
	}
	return nil
}

// notNeighbours describes how Data and Neighbour differ if they are not neighbours, and returns ""
// if they are, or if their rows cannot be compared. Rows of persons are not looked at: a person may
// have several.
func (r Replay[D]) notNeighbours(c change) string {
	if !c.known && c.size == 0 || len(r.Changed) > 0 || !ofRecords(r.Data) || !ofRecords(r.Neighbour) {
		return ""
	}
	_, clamped := any(r.Data).(records.Data) // two such rows may be equal, as Neighbours makes them
	switch added := r.Budget.Relation == accountant.AddOrRemoveOne; {
	case added && (c.extra < 0 || !c.known):
		return "Data and Neighbour are not neighbours: one must be the other with one record more"
	case !added && (c.extra >= 0 || !c.known || len(c.replaced) > 1 || !clamped && c.replaced == nil):
		return "Data and Neighbour are not neighbours: they must differ in one row"
	}
	return ""
}

// ofRecords reports whether each row of d is one record of a data set.
func ofRecords(d any) bool {
	data, ok := d.(records.Data)
	if !ok {
		return true
	}
	_, persons := records.AsPersons(data)
	return !persons && records.UnitOf(data) == records.UnitRecord
}

// endings says how runs have ended.
type endings struct {
	complete bool   // some run has
	how      string // the error or the panic of another run
}

func (e *endings) add(r result) {
	switch {
	case r.err != nil:
		e.how = r.errText
	case r.panicked:
		e.how = r.panicText
	default:
		e.complete = true
	}
}

// mostSeeds bounds the search for a sample without the changed row. At a sampling probability of
// one half, the search fails with probability 2^-40.
const mostSeeds = 40

// change returns the rows in which the neighbours differ.
func (r Replay[D]) change() change {
	c := changeOf(r.Data, r.Neighbour)
	if !c.known && len(r.Changed) > 0 {
		c.known, c.replaced = true, r.Changed
	}
	return c
}

// compare records a run on data and replays it on neighbour. It returns the differences, and
// whether all samples had the changed row. Two turns, one for each order, have the same seed.
func (r Replay[D]) compare(turn int, c change, data, neighbour D) (found []string, always bool) {
	seed := uint64(turn / 2)
	larger := func(d D) bool { return rowCount(d) < 0 || rowCount(d) == c.size }
	first := &tape{seeded: seeded{seed: seed, number: c.numbering(larger(data))}, change: c,
		size: rowCount(data), turn: turn}
	a := r.once(first, data)
	second := &tape{seeded: seeded{seed: seed, number: c.numbering(larger(neighbour))},
		change: c, size: rowCount(neighbour), earlier: first.calls, playing: true}
	second.addition = r.Budget.Relation == accountant.AddOrRemoveOne
	b := r.once(second, neighbour)
	r.ended.add(a)
	r.ended.add(b)
	second.findings = append(first.findings, second.findings...)
	if len(second.calls) < len(first.calls) {
		second.find("the run on the neighbour ends after %d calls, the run on the data after %d; "+
			"the next call on the data was %v",
			len(second.calls), len(first.calls), first.calls[len(second.calls)])
	}
	if len(second.findings) == 0 || !errors.Is(b.err, errDiverged) {
		second.compareResults(a, b)
	}
	return second.findings, second.sampled && !second.left
}

// rowCount returns the number of rows of a data set, or -1 if its type has none.
func rowCount(d any) int {
	if data, ok := d.(records.Data); ok {
		return data.Len()
	}
	if v := reflect.ValueOf(d); v.IsValid() && v.Kind() == reflect.Slice {
		return v.Len()
	}
	return -1
}

// result holds everything that an observer sees of one run, copied when the run ends.
type result struct {
	visible, panic, failure frozen
	err                     error
	errText, panicText      string
	panicked                bool
	ledger                  string // the whole state of the ledger
	guarantee               frozen
	held                    []any // kept alive, so that no later object reuses an address
}

// once makes one run and freezes everything that an observer sees of it.
func (r Replay[D]) once(t *tape, data D) (res result) {
	unit := records.UnitRecord
	if d, ok := any(data).(records.Data); ok {
		unit = records.UnitOf(d)
	}
	l := ledger.New(r.Budget, ledger.WithUnit(unit))
	t.ledger = l
	var visible any
	defer func() {
		p := recover()
		res.held = []any{visible, res.err, p}
		res.visible, res.failure, res.panic = freeze(visible), freeze(res.err), freeze(p)
		res.panicked = p != nil
		res.errText, res.panicText = fmt.Sprint(res.err), fmt.Sprint(p)
		state, err := l.MarshalJSON()
		res.ledger, res.guarantee = fmt.Sprintf("%s %v", state, err), freeze(l.Guarantee())
	}()
	visible, res.err = r.Run(entropy.WithTap(context.Background(), t), l, data)
	return res
}

func (t *tape) compareResults(a, b result) {
	if a.errText != b.errText {
		t.find("the errors differ: %s | %s", a.errText, b.errText)
	} else if d := a.failure.difference(b.failure); d != "" {
		t.find("the errors have the same text, but %s", d)
	}
	if a.panicText != b.panicText {
		t.find("the panics differ: %s | %s", a.panicText, b.panicText)
	} else if d := a.panic.difference(b.panic); d != "" {
		t.find("the panics have the same text, but %s", d)
	}
	if a.ledger != b.ledger {
		t.find("the ledgers differ: %s | %s", brief(a.ledger), brief(b.ledger))
	} else if d := a.guarantee.difference(b.guarantee); d != "" {
		t.find("the guarantees differ: %s", d)
	}
	if d := a.visible.difference(b.visible); d != "" {
		t.find("the visible results differ: %s", d)
	}
	runtime.KeepAlive(a.held)
	runtime.KeepAlive(b.held)
}
