package compose

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Linked fits tables whose rows belong to each other, such as customers and their transactions; see
// [records.Tables]. Its records are [records.Linked].
//
//	root rows, with numbers of rows ── Of ───┐
//	rows of each other table, with what is   ├── root rows, then the rows of each, and so on
//	known before a row ── Each ──────────────┘
//
// A row of a table below the root is fitted together with the columns of its parent and, in a table
// in order, its position and the row before it. So its own columns can be drawn given those, and
// tables are drawn from the root down: every row has a parent, and as many rows as its own columns
// say. Of n tables, each gets about an n-th of the budget, in terms of the squared effect.
//
// Generators draw rows of the root; [DrawTables] draws all tables.
//
// Guarantee: the unit is a root row with all rows that belong to it. A table below the root is
// read as persons, one for each root row that has rows in it ([records.Linked.Seen]). The weights
// of a root row's rows in a table add up to 1, or it has none. So adding, removing or replacing a
// root row changes the sums of each table by no more than a record of a flat table does.
type Linked struct {
	Tables records.Tables
	// Of is the system for the rows of the root, with the schema Tables.Full().
	Of synth.Design
	// Each is the system for the rows of every other table. It has the method After of [tables.AIM].
	Each synth.Design

	plans []synth.Design // of all tables; nil unless they are read from a file
}

// A following design can be planned for rows whose first columns are known before a row is drawn.
type followingDesign interface {
	After(columns int) synth.Design
}

// A followingModel draws the last columns of rows whose first columns are known, at most some
// for a root row.
type followingModel interface {
	After(own records.Schema, rows int) (func(known *records.Nonzeros,
		seed uint64) (*records.Frame, error), error)
}

const mostLinked = 32

func linkedKind() kind {
	return kind{name: "linked", config: "compose.Linked", of: "Of", level: linkLevel, least: 2,
		most: mostLinked, persons: true, apart: true, design: readLinked, release: readGrown}
}

// PlanFor finds the budgets of all tables and prices them together. The schema is Tables.Full(). It
// reads no records.
//
// Errors: joined *param.Error values, one for each mistake; all errors of the systems;
// accountant.ErrBudgetExceeded.
func (c Linked) PlanFor(s records.Schema, b accountant.Budget) (synth.Plan, error) {
	if err := errors.Join(b.Validate(), c.Tables.Validate()); err != nil {
		return nil, err
	}
	of, err := c.designs()
	if err != nil {
		return nil, err
	}
	k := linkedKind().begin(s, b, of)
	k.OK(s.Equal(c.Tables.Full()) && s.RowsPerPerson() == 0, "compose.Linked.PlanFor.s", s.String(),
		"the schema that Tables.Full returns")
	if k.Err() != nil {
		return nil, k.Err()
	}
	return planOf(linking{c.Tables}, s, b, of)
}

// designs returns the designs of all tables.
func (c Linked) designs() ([]synth.Design, error) {
	if c.plans != nil {
		return c.plans, nil
	}
	each, ok := c.Each.(followingDesign)
	if !ok {
		return nil, param.New("compose.Linked.Each", fmt.Sprintf("%T", c.Each),
			"a system whose models draw columns given others, such as tables.AIM")
	}
	of := []synth.Design{c.Of}
	for i := range c.Tables.All()[1:] {
		_, known, _ := c.Tables.Seen(i)
		of = append(of, each.After(known))
	}
	return of, nil
}

// A linking is a composition for several tables.
type linking struct{ tables records.Tables }

func (c linking) kind() kind                            { return linkedKind() }
func (c linking) stages() (before, after []synth.Stage) { return nil, nil }
func (c linking) types() []any                          { return nil }

func (c linking) reads(i int) records.Schema {
	if i == 0 {
		return c.tables.Full()
	}
	s, _, _ := c.tables.Seen(i - 1)
	return s
}

// view returns the rows of the root, or those of another table.
func (c linking) view(i int, data records.Data) records.Data {
	l, ok := records.AsLinked(data)
	if !ok {
		return data
	}
	if i > 0 {
		return l.Seen(i - 1)
	}
	rows, _ := l.Table(0)
	return records.WithUnit(rows, l.Unit())
}

func (c linking) title(of []string) string {
	return fmt.Sprintf("%d tables by %s and %s, root %v", len(of), of[0], of[1], c.tables.Full())
}

func (c linking) notes([]synth.Plan) (notes []string) {
	all := c.tables.All()
	for i, t := range all[1:] {
		s, known, _ := c.tables.Seen(i)
		notes = append(notes, fmt.Sprintf("table %s: at most %d rows of a row of %s, with %d columns "+
			"known before a row is drawn", t.Name, s.RowsPerPerson(), all[0].Name, known))
	}
	return notes
}

// Judge refuses other data than the tables of the plan.
func (c linking) Judge(r *synth.Run) error {
	l, ok := records.AsLinked(r.Data)
	var k param.Checker
	k.OK(r.Data == nil || ok && l.Tables().Equal(c.tables), "compose.Linked.Fit.data", "[records]",
		"rows of the plan's tables, made by records.Link or records.CSV.ReadTables")
	return k.Err()
}

// fit carries out the systems of all tables. No system sees a result of another one.
func (c linking) fit(ctx context.Context, r *run) (*model, error) {
	for i := range r.frame.plans {
		if _, err := r.part(ctx, i, c.view(i, r.Data)); err != nil {
			return nil, err
		}
	}
	own, err := grownFrom(c.tables, r.models)
	if err != nil {
		return nil, err
	}
	return r.model(own), nil
}

type linkedJSON struct {
	Tables records.Tables `json:"tables"`
}

func (c linking) settings() (any, error) { return linkedJSON{c.tables}, nil }

func readLinked(saved synth.SavedPlan, of []synth.Plan) (synth.Design, error) {
	var j linkedJSON
	if err := saved.Decode(&j); err != nil {
		return nil, err
	}
	if err := j.Tables.Validate(); err != nil {
		return nil, synth.Malformed(err)
	}
	c := linking{tables: j.Tables}
	if len(of) != len(j.Tables.All()) {
		return nil, synth.Malformed(fmt.Errorf("%d plans of %d tables", len(of), len(j.Tables.All())))
	}
	for i, p := range of {
		if s := c.reads(i); !p.Schema().Equal(s) || p.Schema().RowsPerPerson() != s.RowsPerPerson() {
			return nil, synth.Malformed(synth.ErrSchema)
		}
		if i == 0 {
			continue
		}
		_, known, _ := j.Tables.Seen(i - 1)
		if w, ok := synth.WorkOf(p).(interface{ Known() int }); !ok || w.Known() != known {
			return nil, synth.Malformed(fmt.Errorf("a plan of table %d that does not draw columns given %d "+
				"others", i, known))
		}
	}
	return Linked{Tables: j.Tables, plans: fixed(of)}, nil
}

// TablesOf returns the tables of a plan of [Linked]; ok is false for other plans.
func TablesOf(p synth.Plan) (t records.Tables, ok bool) {
	f, _ := synth.WorkOf(p).(personFrame)
	if f.frame == nil {
		return t, false
	}
	c, ok := f.composition.(linking)
	return c.tables, ok
}
