package merf_test

import (
	"context"
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// TestShardsOfRecordsAreNoShardsOfUsers checks that a shard keeps the unit of its records, and the
// weakest unit if units differ. A run with a ledger that protects a larger unit must refuse the
// shard before anything is spent.
func TestShardsOfRecordsAreNoShardsOfUsers(t *testing.T) {
	data := drawTable(t, 10, 1)
	c := small(data.Schema(), accountant.AddOrRemoveOne, kernels()["rbf"])
	p := mustPlan(t, c)
	of := func(units ...string) *mechanism.Partial {
		s := p.NewPartial()
		for _, unit := range units {
			if err := s.Add(t.Context(), records.WithUnit(data, unit)); err != nil {
				t.Fatal(err)
			}
		}
		return s
	}
	merged := of(records.UnitUser)
	if err := merged.Merge(of(records.UnitRecord)); err != nil {
		t.Fatal(err)
	}
	part := func(of int, list ...int) *mechanism.Partial {
		s := p.NewPartial()
		for _, i := range list {
			piece := records.WithPart(records.WithUnit(foreign{data}, records.UnitUser), i, of)
			if err := s.Add(t.Context(), records.Clamped(piece)); err != nil {
				t.Fatal(err)
			}
		}
		return s
	}
	joined := func() *mechanism.Partial {
		s := part(3, 0)
		if err := s.Merge(part(3, 2)); err != nil {
			t.Fatal(err)
		}
		return s
	}
	for name, test := range map[string]struct {
		shards []*mechanism.Partial
		ok     bool
	}{
		"users":             {[]*mechanism.Partial{of(records.UnitUser)}, true},
		"none, then users":  {[]*mechanism.Partial{of(), of(records.UnitUser)}, true},
		"users twice":       {[]*mechanism.Partial{of(records.UnitUser), of(records.UnitUser)}, false},
		"two pieces":        {[]*mechanism.Partial{of(records.UnitUser, records.UnitUser)}, false},
		"two parts":         {[]*mechanism.Partial{part(2, 0), part(2, 1)}, true},
		"parts in a shard":  {[]*mechanism.Partial{part(3, 0, 2), part(3, 1)}, true},
		"joined":            {[]*mechanism.Partial{joined(), part(3, 1)}, true},
		"one part twice":    {[]*mechanism.Partial{part(2, 1), part(2, 1)}, false},
		"twice in a shard":  {[]*mechanism.Partial{part(2, 1, 1)}, false},
		"twice, joined":     {[]*mechanism.Partial{joined(), part(3, 2)}, false},
		"other parts":       {[]*mechanism.Partial{part(2, 0), part(3, 1)}, false},
		"no such part":      {[]*mechanism.Partial{part(2, 0), part(2, 2)}, false},
		"part and whole":    {[]*mechanism.Partial{part(2, 0), of(records.UnitUser)}, false},
		"records":           {[]*mechanism.Partial{of(records.UnitRecord)}, false},
		"users and records": {[]*mechanism.Partial{of(records.UnitUser), of(records.UnitRecord)}, false},
		"in one shard":      {[]*mechanism.Partial{of(records.UnitUser, records.UnitRecord)}, false},
		"the other way":     {[]*mechanism.Partial{of(records.UnitRecord, records.UnitUser)}, false},
		"merged":            {[]*mechanism.Partial{merged}, false},
	} {
		l := ledger.New(c.Budget, ledger.WithUnit(records.UnitUser))
		_, err := p.Release(t.Context(), l, test.shards)
		var wrong *param.Error
		if test.ok && err != nil || !test.ok && !errors.As(err, &wrong) {
			t.Errorf("%s: got error %v", name, err)
		}
		if !test.ok && len(l.Entries()) > 0 {
			t.Errorf("%s: the ledger has entries %v, want none", name, l.Entries())
		}
	}
}

// foreign is a user-defined type of records.
type foreign struct{ records.Data }

// TestPiecesOfUsers checks streams under a ledger that protects users. A second piece must be
// refused before noise is drawn, unless all pieces state different parts of the users.
func TestPiecesOfUsers(t *testing.T) {
	data := drawTable(t, 10, 1)
	c := small(data.Schema(), accountant.AddOrRemoveOne, kernels()["rbf"])
	p := mustPlan(t, c)
	for name, test := range map[string]struct {
		unit, of string // of the ledger and of the pieces
		parts    []int  // -1 states none
		ok       bool
	}{
		"one piece": {records.UnitUser, records.UnitUser, []int{-1}, true},
		"two":       {records.UnitUser, records.UnitUser, []int{-1, -1}, false},
		"parts":     {records.UnitUser, records.UnitUser, []int{2, 0, 1}, true},
		"twice":     {records.UnitUser, records.UnitUser, []int{0, 1, 0}, false},
		"records":   {records.UnitRecord, records.UnitRecord, []int{-1, -1}, true},
		// a unit of all rows of a user costs more than a record
		"users on records": {records.UnitRecord, records.UnitUser, []int{-1}, false},
	} {
		l := ledger.New(c.Budget, ledger.WithUnit(test.unit))
		e, err := p.EmbedStream(t.Context(), l, func(yield func(records.Data, error) bool) {
			for _, i := range test.parts {
				if !yield(records.WithPart(records.WithUnit(data, test.of), i, 3), nil) {
					return
				}
			}
		})
		var wrong *param.Error
		if test.ok && err != nil || !test.ok && (!errors.As(err, &wrong) || e != nil) {
			t.Errorf("%s: got error %v", name, err)
		}
		for _, line := range l.Entries() {
			if !test.ok && line.Spent > 0 {
				t.Errorf("%s: noise was drawn: %+v", name, line)
			}
		}
	}
}

// TestSumsOfOthersAreRefused checks that EmbedPasses refuses sums of another plan, sums after a
// failed Add and, if the ledger protects users, sums of records and sums in which a user may occur
// twice. Nothing is drawn from them.
func TestSumsOfOthersAreRefused(t *testing.T) {
	data := drawTable(t, 10, 1)
	c := small(data.Schema(), accountant.AddOrRemoveOne, kernels()["rbf"])
	p := mustPlan(t, c)
	c.Budget.Epsilon /= 2
	other := mustPlan(t, c)
	of := func(p *merf.Plan, units ...string) *mechanism.Partial {
		s := p.NewPartial()
		for _, unit := range units {
			if err := s.Add(t.Context(), records.WithUnit(data, unit)); err != nil {
				t.Fatal(err)
			}
		}
		return s
	}
	broken := of(p, records.UnitUser)
	never := records.WithUnit(unreadable{data}, records.UnitUser)
	if err := broken.Add(t.Context(), never); err == nil {
		t.Fatal("an Add of failing data succeeds")
	}
	for name, test := range map[string]struct {
		sums *mechanism.Partial
		ok   bool
	}{
		"users":        {of(p, records.UnitUser), true},
		"another plan": {of(other, records.UnitUser), false},
		"records":      {of(p, records.UnitRecord), false},
		"users twice":  {of(p, records.UnitUser, records.UnitUser), false},
		"a failed Add": {broken, false},
		"none":         {nil, false},
	} {
		l := ledger.New(p.Budget(), ledger.WithUnit(records.UnitUser))
		e, err := p.EmbedPasses(t.Context(), l, func(context.Context, synth.Pass) (*mechanism.Partial,
			error) {
			return test.sums, nil
		})
		var wrong *param.Error
		if test.ok != (err == nil) || !test.ok && (!errors.As(err, &wrong) || e != nil) {
			t.Errorf("%s: got error %v", name, err)
		}
		for _, line := range l.Entries() {
			if !test.ok && line.Spent > 0 {
				t.Errorf("%s: noise was drawn: %+v", name, line)
			}
		}
	}
}

// unreadable panics when it is read.
type unreadable struct{ records.Data }

func (unreadable) Range(int, int, *device.Batch) { panic("unreadable") }
