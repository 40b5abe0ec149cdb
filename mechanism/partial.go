package mechanism

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// A Counter adds up records exactly in one pass. Systems implement it.
type Counter interface {
	// Add adds every record of data, whose values are clamped to the pass's schema. If data are
	// persons, each row counts with its share: see records.RowsOf.
	//
	// Errors: the context's, and others that do not depend on a record's value. After an error some
	// of the records are in the sums.
	Add(ctx context.Context, data records.Data) error
	// Sums returns the sums so far. It always returns the same list, and dimensions and grids are
	// the same for all counters of a pass.
	Sums() []*FixedSum
}

// A Sharded is a Counter that identifies records by their position. It must know to which shard the
// records belong.
type Sharded interface {
	Counter
	// Begin is called once, before the first record.
	//
	// Errors: *param.Error for a shard that the pass does not have.
	Begin(shard string) error
	// End is called after the last record.
	//
	// Errors: an error if the shard is not the same as when the pass was planned.
	End() error
}

// A Partial is the sum over some of the records, for example of one shard. Partials are merged
// before noise is added. So many shards together get the noise of one release.
//
// Guarantee: none. A Partial holds private numbers that no noise protects. Only a release reads
// them. A Partial prints as [private] and can be written only sealed.
//
// Sums are kept in fixed point. They do not depend on the order of records, or on how records were
// divided among shards and workers. A Partial is not safe for concurrent use; give each goroutine
// its own. The zero value belongs to no pass, and its methods return errors.
type Partial struct {
	*hidden
}

// hidden keeps sums behind two pointers, which package fmt does not follow from an unexported
// field of another struct.
type hidden struct {
	*state
}

type state struct {
	label
	pass    PassID
	schema  records.Schema
	counter Counter     // nil for sums that were opened
	sealed  []*FixedSum // the sums, if counter is nil
	begun   string      // the shard that Begin named
	broken  bool        // some of the records of a failed Add are in the sums
	closed  bool        // the sums belong to named shards; no records may be added
}

// NewPartial returns empty sums. real says that the arithmetic is inexact: the contribution of one
// record may depend on other records. Releases are then recorded as ledger.RealNoise.
func NewPartial(p PassID, s records.Schema, c Counter, real bool) *Partial {
	return &Partial{&hidden{&state{pass: p, schema: s, counter: c, label: label{real: real}}}}
}

func (a *Partial) made() bool {
	return a != nil && a.hidden != nil && a.pass.named && !a.broken
}

// refused returns the error for sums without a pass, and for sums whose Add has failed.
func refused(path string) error {
	return param.New(path, redacted, "a partial sum made by a plan, without a failed Add")
}

// Begin names the shard whose records will be added. Call it before the first Add. It is required
// if the pass identifies records by their position. Otherwise it is optional, and its name must
// agree with the name given to Seal.
//
// Errors: *param.Error for the zero value, for sums that have begun or hold records, for an empty
// name, and for a shard that the pass does not have.
func (a *Partial) Begin(shard string) error {
	if !a.made() {
		return refused("mechanism.Partial.Begin")
	}
	if a.counter == nil || a.closed || a.unnamed || a.begun != "" || shard == "" {
		return param.New("mechanism.Partial.Begin.shard", shard,
			"the name of one shard, before its records")
	}
	if c, ok := a.counter.(Sharded); ok {
		if err := c.Begin(shard); err != nil {
			return err
		}
	}
	a.begun = shard
	return nil
}

// Add adds every record of data. No record may be added twice, to this or to another shard. If a
// ledger protects users, all records of a user must be in data, or pieces must state different
// parts of all users by records.WithPart.
//
// Errors: records.ErrData; ErrSchema; *param.Error for the zero value and for sums that are sealed
// or named. After records.ErrData or an error of the context, the sums hold some of the records.
// The Partial can then no longer be used.
func (a *Partial) Add(ctx context.Context, data records.Data) error {
	if !a.made() {
		return refused("mechanism.Partial.Add")
	}
	if a.counter == nil || a.closed {
		return param.New("mechanism.Partial.Add", redacted, "sums that have not been sealed")
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
	if err := records.CheckPersons("mechanism.Partial.Add", data, a.schema); err != nil {
		return err
	}
	if _, ok := a.counter.(Sharded); ok && a.begun == "" {
		return param.New("mechanism.Partial.Add", redacted, "sums for which Begin has named a shard")
	}
	a.note(unitsOf(data))
	a.unnamed = true
	a.broken = true // also if Add panics
	err := a.counter.Add(ctx, data)
	if records.Failed(data) {
		err = records.ErrData
	}
	a.broken = err != nil
	return err
}

// Merge adds the sums of other, which must be of an equal pass, and empties other: its records are
// now counted here. Shards that are already counted are not added again.
//
// Errors: *param.Error for sums of another pass or on another grid, and for sums whose Add has
// failed. *param.Error also for sums of several shards if only some of these shards are counted
// here.
func (a *Partial) Merge(other *Partial) error {
	if !a.made() || other == a || !other.of(a.pass) || other.hidden == a.hidden {
		return param.New("mechanism.Partial.Merge", redacted,
			"another partial sum of an equal plan, without a failed Add")
	}
	if !slices.Equal(grids(a.sums()), grids(other.sums())) {
		return onAnotherGrid("mechanism.Partial.Merge")
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

// ended marks sums of records as those of the shard that Begin named, so that another attempt at
// the shard is not added.
func (a *state) ended() error {
	_, placed := a.counter.(Sharded)
	if a.begun != "" && (a.unnamed || placed) && !a.closed {
		return a.named(a.begun)
	}
	return nil
}

// Reset empties the sums: afterwards they hold no records and have no shard.
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

// of reports whether the sums are of pass p and no Add has failed.
func (a *Partial) of(p PassID) bool { return a.made() && a.pass == p }

// ID returns the pass of the sums.
func (a *Partial) ID() PassID {
	if !a.made() {
		return PassID{}
	}
	return a.pass
}

// Like reports whether both sums are of the same pass and no Add has failed.
func (a *Partial) Like(o *Partial) bool { return o.made() && a.of(o.pass) }

// Sums returns the sums, for a release. They hold private numbers.
func (a *Partial) Sums() []*FixedSum {
	if !a.made() {
		return nil
	}
	return a.sums()
}

func (a *state) sums() []*FixedSum {
	if a.counter != nil {
		return a.counter.Sums()
	}
	return a.sealed
}

// Real reports whether the arithmetic of some contributions does not guarantee that they are
// independent of other records. A release must then be recorded as ledger.RealNoise.
func (a *Partial) Real() bool { return a.made() && a.real }

// Unit returns the unit whose presence the sums can protect, and "" before the first Add. The unit
// is records.UnitPart, which no ledger protects, if pieces have different units or if one user may
// be in two pieces.
func (a *Partial) Unit() string {
	if !a.made() {
		return ""
	}
	return a.who
}

// Shards returns the names of the counted shards, in order. They are public.
func (a *Partial) Shards() []string {
	if !a.made() {
		return nil
	}
	return append([]string(nil), a.shards...)
}

// CheckPartials returns an error if the sums cannot be released together under a ledger that
// protects the given unit, promised. It ends shards that have begun. path names the sums in errors.
//
// Errors: *param.Error, joined.
func CheckPartials(path string, p PassID, promised string, shards ...*Partial) error {
	var k param.Checker
	var all label
	for _, s := range shards {
		if !s.of(p) {
			k.OK(false, path, redacted, "partial sums of an equal plan, without a failed Add")
			continue
		}
		k.Add(s.ended())
		if s.schema.RowsPerPerson() > 0 && promised == records.UnitRecord {
			k.Add(param.New(path, "persons on a ledger that promises one record",
				"a ledger made with ledger.WithUnit(records.UnitUser)"))
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
