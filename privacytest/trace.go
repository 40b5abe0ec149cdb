package privacytest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/ledger"
)

// call is one privacy-relevant operation of a run: a spend, a sample or a release. Everything
// about it except the private inputs must be the same on a neighbour.
type call struct {
	what    string
	purpose string
	event   accountant.Event
	detail  string
	release *entropy.Release
	rows    []int32 // of a sample; private
	of      int     // number of rows that the sample was drawn from; private
}

func (c call) String() string {
	s := fmt.Sprintf("%s %q", c.what, c.purpose)
	if c.event != nil {
		s += fmt.Sprintf(" %T%+v", c.event, c.event)
	}
	return s + c.detail
}

func (c call) sameAs(o call) bool {
	if c.what != o.what || c.purpose != o.purpose || c.detail != o.detail {
		return false
	}
	if c.event == nil || o.event == nil {
		return c.event == nil && o.event == nil
	}
	return accountant.EqualEvents(c.event, o.event)
}

// tape is a tap that records a run. When playing, it also copies the outputs of an earlier tape
// into the run and records where the two runs differ.
type tape struct {
	seeded
	earlier  []call // calls of the first run; nil when recording
	playing  bool
	addition bool // the neighbours differ by an added row
	change   change
	size     int // number of rows of the data set; -1 if its type has none
	ledger   *ledger.Ledger
	sampled  bool // some sample has not every row
	left     bool // some sample has left out the changed row
	turn     int  // of the comparison, plus the number of releases: see push
	parts    partUses
	calls    []call
	twins    map[step]bool // steps whose samples hold the same rows, with equal content
	findings []string
}

// step identifies a step of one purpose. Disjoint parts of the records have separate runs, and each
// run counts its steps from one. So a step belongs to the part whose sample was drawn last.
type step struct {
	purpose string
	number  uint64
}

// errDiverged ends a replay that can no longer be compared.
var errDiverged = errors.New("privacytest: the replay differs from the recording")

func (t *tape) Spend(purpose string, event any, count int, err error) {
	e, _ := event.(accountant.Event)
	what := "spend"
	if count > 0 {
		what = "reserve"
		t.forget(purpose)
	}
	t.add(call{what: what, purpose: purpose, event: e,
		detail: fmt.Sprintf(" count %d error %v", count, err)})
	if t.playing && t.ledger != nil {
		t.parts.spend(t.ledger, count > 0)
	}
}

// forget drops the samples of an earlier run of the same purpose. A new reservation counts its
// steps from one, and may draw no samples.
func (t *tape) forget(purpose string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for s := range t.twins {
		if s.purpose == purpose {
			delete(t.twins, s)
		}
	}
}

func (t *tape) Sample(s entropy.Sample) {
	inPart := t.inPart(s.Purpose)
	rows := t.numbered(s.Rows, inPart)
	at, earlier := t.add(call{what: "sample", purpose: s.Purpose, rows: rows, of: s.Of,
		detail: fmt.Sprintf(" step %d probability %v", s.Step, s.Probability)})
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.size >= 0 && !inPart && s.Of != t.size {
		t.find("call %d, sample %q: drawn from %d rows, but the data set has %d: a record's "+
			"probability is not the event's", at, s.Purpose, s.Of, t.size)
		return
	}
	if earlier == nil {
		return
	}
	if !t.sizesDiffer(earlier.of, s.Of, inPart) {
		t.find("call %d, sample %q: drawn from %d rows for one data set and from %d for its "+
			"neighbour: a record's probability is not the event's", at, s.Purpose, earlier.of, s.Of)
		return
	}
	delete(t.twins, step{s.Purpose, s.Step}) // the old sample may belong to another part
	same := slices.Equal(earlier.rows, rows)
	if !same {
		t.parts.latest = nil // the rows of a part may have other numbers, and so be sampled differently
	}
	switch {
	case t.addition, inPart && earlier.of != s.Of:
	case !same:
		t.find("call %d, sample %q: data sets of equal size have samples of different "+
			"rows", at, s.Purpose)
		return
	case !t.change.known:
		t.find("call %d, sample %q: the rows that differ cannot be determined: set Changed", at, s.Purpose)
		return
	}
	t.sampled = t.sampled || s.Probability < 1
	changed := func(row int32) bool { return slices.Contains(t.change.replaced, int(row)) }
	if inPart {
		changed = t.changedInPart(earlier.of, s.Of)
	}
	if !same || (!t.addition || inPart) && slices.ContainsFunc(rows, changed) {
		return
	}
	t.left = true
	if t.twins == nil {
		t.twins = map[step]bool{}
	}
	t.twins[step{s.Purpose, s.Step}] = true
}

// numbered returns rows with numbers that denote the same row in both data sets. Rows of a part
// keep the numbers that they have in the part.
func (t *tape) numbered(rows []int32, inPart bool) []int32 {
	rows = slices.Clone(rows)
	if t.number != nil && !inPart {
		for i, row := range rows {
			rows[i] = int32(t.number(int(row)))
		}
		slices.Sort(rows)
	}
	return rows
}

func (t *tape) Refuse(purpose string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.find("a draw was refused: %v", err)
}

func (t *tape) Release(r *entropy.Release) error {
	if !t.playing {
		t.push(r)
	}
	at, earlier := t.add(call{
		what:    r.Mechanism,
		purpose: r.Purpose,
		detail: fmt.Sprintf(" step %d effect %v std %v grid %v shape %v", r.Step, r.Effect, r.Std,
			r.Grid, shapes(r.Outputs)),
		release: keep(r),
	})
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.playing {
		return nil
	}
	if earlier == nil || earlier.release == nil ||
		!slices.Equal(shapes(earlier.release.Outputs), shapes(r.Outputs)) {
		return errDiverged
	}
	d, slack := distance(earlier.release, r), tolerance(earlier.release, r)
	if t.twins[step{r.Purpose, r.Step}] && !(d <= slack) {
		t.find("call %d, %s %q: both samples hold the same rows, but the inputs are %.6g apart: "+
			"the step reads more than its sample", at, r.Mechanism, r.Purpose, d)
	}
	if !(d <= r.Effect+slack) {
		t.find("call %d, %s %q: the neighbours' inputs are %.6g apart, but %.6g was "+
			"declared", at, r.Mechanism,
			r.Purpose, d, r.Effect)
	}
	if t.parts.several(r.Step, d > slack, t.addition) {
		t.find("call %d, %s %q: one record changes several disjoint parts: its part, or the part of "+
			"another record, is not a function of that record alone", at, r.Mechanism, r.Purpose)
	}
	for i, out := range earlier.release.Outputs {
		copy(r.Outputs[i], out)
	}
	return nil
}

// tail is the number of standard deviations by which push moves outputs.
const tail = 8

// push moves the outputs of two of eight releases into the upper and the lower tail of their noise.
// A run may take branches there that it takes once in thousands of runs otherwise. The noise can
// take these values, so both runs must agree on them.
func (t *tape) push(r *entropy.Release) {
	sign := map[int]float64{2: 1, 3: -1}[t.turn%8]
	t.turn++
	if !strings.Contains(r.Mechanism, "Gaussian") && !strings.Contains(r.Mechanism, "Laplace") {
		return // the outputs are choices
	}
	for i, out := range r.Outputs {
		for j := range out {
			out[j] += sign * math.Round(tail*r.Std[i]/r.Grid[i]) * r.Grid[i]
		}
	}
}

// add appends a call. When playing, it also returns the recorded call with the same number, if
// any.
func (t *tape) add(c call) (at int, earlier *call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at = len(t.calls)
	t.calls = append(t.calls, c)
	if !t.playing {
		return at, nil
	}
	if at >= len(t.earlier) {
		t.find("call %d, %v, has no counterpart on the first data set", at, c)
		return at, nil
	}
	earlier = &t.earlier[at]
	if !earlier.sameAs(c) {
		t.find("call %d differs:\n\ton the data:      %v\n\ton the neighbour: %v", at, *earlier, c)
	}
	return at, earlier
}

// maxFindings bounds the findings of a report. The first finding is nearly always the cause.
const maxFindings = 8

func (t *tape) find(format string, args ...any) {
	if len(t.findings) < maxFindings {
		t.findings = append(t.findings, fmt.Sprintf(format, args...))
	}
}

func keep(r *entropy.Release) *entropy.Release {
	c := *r
	c.Inputs, c.Outputs = copies(r.Inputs), copies(r.Outputs)
	return &c
}

func copies(vs [][]float64) [][]float64 {
	out := make([][]float64, len(vs))
	for i, v := range vs {
		out[i] = slices.Clone(v)
	}
	return out
}

func shapes(vs [][]float64) []int {
	out := make([]int, len(vs))
	for i, v := range vs {
		out[i] = len(v)
	}
	return out
}

// distance returns the distance between the inputs of two releases, in the norm of the mechanism
// and in units of its noise.
func distance(a, b *entropy.Release) float64 {
	if a.Mechanism == "randomized response" {
		return 0 // any two values are neighbours
	}
	square, sum, most := 0.0, 0.0, 0.0
	for i := range a.Inputs {
		if len(a.Inputs[i]) != len(b.Inputs[i]) {
			return math.Inf(1)
		}
		for j, x := range a.Inputs[i] {
			d := math.Abs(x-b.Inputs[i][j]) / b.Std[i]
			square += d * d
			sum += d
			most = max(most, d)
		}
	}
	switch a.Mechanism {
	case "exponential mechanism":
		return most
	case "Laplace", "discrete Laplace":
		return sum
	case "sparse histogram": // a threshold hides a text whose count changes by 1
		if most*b.Std[0] > 1.5 {
			return math.Inf(1)
		}
	}
	return math.Sqrt(square)
}

// tolerance returns the distance that rounding errors can explain. These are the errors of float64
// in this package and, if the sums were made in float32, the errors of the sums.
func tolerance(a, b *entropy.Release) float64 {
	slack := 1e-9 * b.Effect
	if !b.Inexact {
		return slack
	}
	square := 0.0
	for i := range a.Inputs {
		for j, x := range a.Inputs[i] {
			d := max(math.Abs(x), math.Abs(b.Inputs[i][j])) / b.Std[i]
			square += d * d
		}
	}
	return slack + math.Sqrt(square)*0x1p-20
}
