package partial

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
)

// A Counter adds records up, exactly, in one pass. It is what a system provides.
type Counter interface {
	// Add adds every record of data, which are of the pass's schema and held to it. Of persons each
	// row counts for its share: see records.RowsOf.
	//
	// Errors: the context's, and others that depend on no record's value. Some of the records are
	// then in the sums.
	Add(ctx context.Context, data records.Data) error
	// Sums are the sums so far: the same list each time, of the same coordinates and grids for every
	// counter of a pass.
	Sums() []*mechanism.FixedSum
}

// A Sharded is a Counter that tells records apart by their position: it has to know which shard
// they are of.
type Sharded interface {
	Counter
	// Begin is called once, before the first record.
	//
	// Errors: *param.Error for a shard that the pass does not have.
	Begin(shard string) error
	// End is called after the last record.
	//
	// Errors: one where the shard is not what it was when the pass was planned.
	End() error
}

// A Partial is the sum over some of the records, for example of one shard. Partials are merged
// before noise is added, so that many shards together get the noise of one release.
//
// Guarantee: none. A Partial holds private numbers that no noise protects. A release alone reads
// them; it prints itself as [private] and refuses to be written, except sealed.
//
// Sums are kept in fixed point: they depend neither on the order of records nor on how these were
// spread over shards and workers. A Partial is not safe for concurrent use; give each goroutine its
// own. The zero value is of no pass: to use it is an error.
type Partial struct {
	*hidden
}

// hidden keeps sums two references away, where package fmt does not follow from an unexported field
// of another struct.
type hidden struct {
	*state
}

type state struct {
	label
	pass    Pass
	schema  records.Schema
	counter Counter               // nil for sums that were sealed
	sealed  []*mechanism.FixedSum // of those
	begun   string                // the shard that Begin named
	broken  bool                  // some of the records of a failed Add are in the sums
	closed  bool                  // the sums are those of named shards and no more may be added
}

// New returns the sums over no records. Real says that the arithmetic of contributions makes no
// promise of one record apart from the others: what is released is then noted so.
func New(p Pass, s records.Schema, c Counter, real bool) *Partial {
	return &Partial{&hidden{&state{pass: p, schema: s, counter: c,
		label: label{real: real}}}}
}

func (a *Partial) made() bool {
	return a != nil && a.hidden != nil && a.pass.named && !a.broken
}

// refused is about sums that no pass has made or whose Add has failed.
func refused(path string) error {
	return param.New(path, redacted,
		"a partial sum made by a plan, each of whose Add has succeeded")
}

// Begin names the shard whose records are added next, before the first Add. Sums of a pass that
// tells records apart by their position need it; of others, it only has to agree with the name that
// Seal is given.
//
// Errors: *param.Error for the zero value, sums that have begun or hold records, no name, and a
// shard that the pass does not have.
func (a *Partial) Begin(shard string) error {
	if !a.made() {
		return refused("partial.Begin")
	}
	if a.counter == nil || a.closed || a.unnamed || a.begun != "" || shard == "" {
		return param.New("partial.Begin.shard", shard, "the name of one shard, before its records")
	}
	if c, ok := a.counter.(Sharded); ok {
		if err := c.Begin(shard); err != nil {
			return err
		}
	}
	a.begun = shard
	return nil
}

// Add adds every record of data, none of which may be added to this or another shard again; where a
// ledger is to protect users, all of a user must be in data, or pieces must state different parts
// of all users by records.WithPart.
//
// Errors: records.ErrData; ErrSchema; *param.Error for the zero value and for sums that are sealed
// or named. After records.ErrData and the context's error some of the records are in the sums, and
// the Partial is of no use any more.
func (a *Partial) Add(ctx context.Context, data records.Data) error {
	if !a.made() {
		return refused("partial.Add")
	}
	if a.counter == nil || a.closed {
		return param.New("partial.Add", redacted, "sums that have not been sealed")
	}
	data = records.Clamped(data)
	if data != nil && records.Failed(data) {
		return records.ErrData
	}
	if data == nil {
		return ErrSchema
	}
	if !data.Schema().Equal(a.schema) {
		return fmt.Errorf("%w: %s", ErrSchema, records.Difference(data.Schema(), a.schema))
	}
	if err := records.CheckPersons("partial.Add", data, a.schema); err != nil {
		return err
	}
	if _, ok := a.counter.(Sharded); ok && a.begun == "" {
		return param.New("partial.Add", redacted, "sums for which Begin has named a shard")
	}
	a.note(unitsOf(data))
	a.unnamed = true
	a.broken = true // also where it panics
	err := a.counter.Add(ctx, data)
	if records.Failed(data) {
		err = records.ErrData
	}
	a.broken = err != nil
	return err
}

// Merge adds another shard's sums, which must be of an equal pass, and empties the shard: its
// records are counted here now. Shards that are counted already change nothing.
//
// Errors: *param.Error for sums of another pass or on another grid, ones whose Add has failed, and
// ones of which some shards are counted here and others are not.
func (a *Partial) Merge(other *Partial) error {
	if !a.made() || other == a || !other.Of(a.pass) || other.hidden == a.hidden {
		return param.New("partial.Merge", redacted,
			"another partial sum of an equal plan, each of whose Add has succeeded")
	}
	if !slices.Equal(grids(a.sums()), grids(other.sums())) {
		return onAnotherGrid("partial.Merge")
	}
	for _, s := range []*Partial{a, other} {
		if err := s.ended(); err != nil {
			return err
		}
	}
	t, err := a.label.merge(&other.label)
	if err != nil {
		return err
	}
	if t == replace {
		a.reset()
	}
	if t != keeps {
		mine, others := a.sums(), other.sums()
		for i, s := range mine {
			s.Merge(others[i])
		}
		a.closed = a.closed || other.closed
	}
	other.Reset()
	return nil
}

// ended makes the records of a counter that goes by positions those of the shard that Begin named:
// two pieces under one name would share positions.
func (a *state) ended() error {
	if _, ok := a.counter.(Sharded); ok && a.begun != "" && !a.closed {
		return a.named(a.begun)
	}
	return nil
}

// Reset empties the sums: they are of no records and of no shard.
func (a *Partial) Reset() {
	if !a.made() {
		return
	}
	a.reset()
	a.label, a.closed, a.begun = label{real: a.real}, false, ""
}

func (a *state) reset() {
	for _, s := range a.sums() {
		s.Reset()
	}
}

// Of reports whether the sums are those of a pass, and whole.
func (a *Partial) Of(p Pass) bool { return a.made() && a.pass == p }

// Pass returns what is added up.
func (a *Partial) Pass() Pass {
	if !a.made() {
		return Pass{}
	}
	return a.pass
}

// Like reports whether both are whole sums of one pass.
func (a *Partial) Like(o *Partial) bool { return o.made() && a.Of(o.pass) }

// Sums returns what a release takes. They hold private numbers.
func (a *Partial) Sums() []*mechanism.FixedSum {
	if !a.made() {
		return nil
	}
	return a.sums()
}

func (a *state) sums() []*mechanism.FixedSum {
	if a.counter != nil {
		return a.counter.Sums()
	}
	return a.sealed
}

// Real reports whether some contributions rest on arithmetic that makes no promise of one record
// apart from the others: a release has to be noted as one of accountant.RealNoise.
func (a *Partial) Real() bool { return a.made() && a.real }

// Unit is whose presence the sums can protect: records.UnitPart, which no ledger promises, where
// pieces differ, or where one user may be in two of them; "" before any record.
func (a *Partial) Unit() string {
	if !a.made() {
		return ""
	}
	return a.who
}

// Shards returns the names of the shards that are counted, in order. They are public.
func (a *Partial) Shards() []string {
	if !a.made() {
		return nil
	}
	return append([]string(nil), a.shards...)
}

// Check refuses sums that cannot be released together under a ledger that promises to protect a
// unit; nothing is merged. The path is that of the sums in errors.
//
// Errors: *param.Error, joined.
func Check(path string, p Pass, promised string, shards ...*Partial) error {
	var k param.Checker
	var all label
	for _, s := range shards {
		if !s.Of(p) {
			k.OK(false, path, redacted,
				"whole sums of an equal plan, each of whose Add has succeeded")
			continue
		}
		if s.schema.RowsPerPerson() > 0 && promised == records.UnitRecord {
			k.Add(param.New(path, "persons on a ledger that promises one record",
				"a ledger made with accountant.WithUnit(records.UnitUser)"))
		}
		if s.who != "" {
			k.Add(records.CheckUnit(path, s.who, promised))
		}
		_, err := all.merge(&s.label)
		k.Add(err)
	}
	if k.Err() == nil && all.who != "" {
		k.Add(records.CheckUnit(fmt.Sprintf("%s (together)", path), all.who, promised))
	}
	return k.Err()
}
