package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/tabular"
	"github.com/seed7ba64551/privgen/synth"
)

// maker holds the state of a report while it is computed.
type maker struct {
	in  Input
	set Settings
	out *Report

	guarantee *ledger.Guarantee // nil for none
	units     int               // number of real records, or persons, that the guarantee protects
	// the compared records as tables; nil for records without columns
	real, held, fake *tabular.Table
}

// Compute computes a report from the real records.
//
// Errors: *[param.Error], joined, for invalid settings and inputs and for records of different
// schemas; ctx.Err(). Guarantee: none; see the package.
func Compute(ctx context.Context, in Input, s Settings) (*Report, error) {
	units, byPerson := 0, false
	if in.Real != nil {
		_, byPerson = records.AsPersons(in.Real)
		units = in.Real.Len()
		in.Real, _ = records.RowsOf(in.Real)
	}
	if in.HeldOut != nil {
		in.HeldOut, _ = records.RowsOf(in.HeldOut)
	}
	m, err := begin(ctx, in, s)
	if err != nil {
		return nil, err
	}
	m.units = units
	switch {
	case in.Real == nil:
		return nil, param.New("report.Input.Real", nil, "at least 2 real records")
	case in.Real.Len() < 2:
		return nil, param.New("report.Input.Real", "fewer records", "at least 2 real records")
	}
	if err := m.alike(); err != nil {
		return nil, err
	}
	m.out.Caveat = Caveat
	m.sizes()
	if byPerson {
		m.out.Sizes.Sampling = append(m.out.Sizes.Sampling, fmt.Sprintf("The real records are the rows "+
			"of %d persons. Rows are compared, whichever persons they belong to.", units))
	}
	return m.make(ctx, m.quality, m.threeWay, m.sets, m.images, m.classifiers, m.ceiling,
		m.propensity, m.queries, m.risk)
}

// Released makes a report of released numbers only: the guarantee, the bill, the columns of the
// synthetic records, and the figures that a fidelity.Plan released. It reads no real records: an
// input with real records is an error. An input with a second release is an error too, since the
// guarantee on the page does not cover that release. The report's JSON form and its page may be
// published.
//
// Errors: *[param.Error], joined; ctx.Err(). It is an error if the synthetic records or in.Fidelity
// have no guarantee. Guarantees that are marked as not private, or have no finite ε, do not count.
// Guarantee: post-processing of in.Generator, or in.Synthetic, and in.Fidelity.
func Released(ctx context.Context, in Input, s Settings) (*Report, error) {
	if in.Real != nil || in.HeldOut != nil || in.Second != nil {
		return nil, param.New("report.Input.Real", "records",
			"no real records: a report for publication is computed without them")
	}
	if err := in.checkGuarantees(); err != nil {
		return nil, err
	}
	m, err := begin(ctx, in, s)
	if err != nil {
		return nil, err
	}
	m.out.Public = true
	m.sizes()
	m.omit("scores against real records", "they need the real records without noise; "+
		"figures released with noise, if any, are under “Released fidelity”")
	return m.make(ctx, m.sets, m.images, m.ceiling, m.risk)
}

// begin checks the input and draws synthetic records if none are given.
func begin(ctx context.Context, in Input, s Settings) (*maker, error) {
	err := s.Validate()
	if in.Synthetic == nil && in.Generator == nil {
		err = errors.Join(err, param.New("report.Input.Synthetic", nil,
			"synthetic records, or a generator to draw them from"))
	}
	if err != nil {
		return nil, err
	}
	m := &maker{in: in, out: &Report{Version: Version, Fidelity: in.Fidelity}}
	if m.in.Synthetic == nil {
		n := cmp.Or(s.Synthetic, 50_000)
		if in.Real != nil {
			n = min(n, max(in.Real.Len(), 2))
		}
		m.in.Synthetic, err = in.Generator.Sample(ctx, n, synth.Seed(s.Seed+1),
			synth.Unidentified()) // no score reads identifiers
		if err != nil {
			return nil, fmt.Errorf("report: synthetic records: %w", err)
		}
	}
	if m.in.Synthetic.Len() < 2 {
		return nil, param.New("report.Input.Synthetic", m.in.Synthetic.Len(),
			"at least 2 synthetic records")
	}
	coordinates := m.schema().Dim()
	if m.schema().Sparse() {
		coordinates = 0 // the time depends on the number of items in a record instead
	}
	m.set = s.withDefaults(coordinates)
	m.guarantee = in.guarantee()
	m.out.Schema = m.schema().String()
	m.title()
	m.promise()
	return m, m.bill()
}

func (m *maker) schema() records.Schema { return m.in.Synthetic.Schema() }

func (m *maker) title() {
	if m.in.Generator != nil {
		m.out.System = m.in.Generator.System()
	} else if m.in.Plan != nil {
		m.out.System = m.in.Plan.System()
	}
	if m.out.Title = m.in.Title; m.out.Title == "" {
		m.out.Title = "Synthetic records"
		if m.out.System != "" {
			m.out.Title += " by " + m.out.System
		}
	}
}

// alike returns an error if the records have different schemas, or are too few.
func (m *maker) alike() error {
	var errs []error
	for _, d := range []struct {
		name string
		data records.Data
	}{{"HeldOut", m.in.HeldOut}, {"Synthetic", m.in.Synthetic}, {"Second", m.in.Second}} {
		if d.data != nil && !d.data.Schema().Equal(m.in.Real.Schema()) {
			errs = append(errs, param.New("report.Input."+d.name, d.data.Schema().String(),
				"the schema of the real records, "+m.in.Real.Schema().String()))
		}
	}
	if m.in.HeldOut != nil && m.in.HeldOut.Len() < 4 {
		errs = append(errs, param.New("report.Input.HeldOut", "too few",
			"at least 4 records, or none"))
	}
	return errors.Join(errs...)
}

// make computes the sections in order.
func (m *maker) make(ctx context.Context,
	sections ...func(context.Context) error) (*Report, error) {
	if err := m.read(); err != nil {
		return nil, err
	}
	for _, section := range append([]func(context.Context) error{m.columns}, sections...) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := section(ctx); err != nil {
			return nil, fmt.Errorf("report: %w", err)
		}
	}
	return m.out, ctx.Err()
}

// read reads the columns of the compared records.
func (m *maker) read() error {
	if !m.tabular() {
		return nil
	}
	var errs [3]error
	m.fake, errs[0] = tabular.Read(m.in.Synthetic, some(m.in.Synthetic, m.set.Rows, m.set.Seed+2))
	if m.in.Real != nil {
		m.real, errs[1] = tabular.Read(m.in.Real, some(m.in.Real, m.set.Rows, m.set.Seed+3))
	}
	if m.in.HeldOut != nil {
		m.held, errs[2] = tabular.Read(m.in.HeldOut, some(m.in.HeldOut, m.set.Rows, m.set.Seed+4))
	}
	return errors.Join(errs[:]...)
}

// tabular reports whether records have columns to compare.
func (m *maker) tabular() bool {
	s := m.schema()
	return !s.Sparse() && !s.IsImage() && s.Dim() <= tabular.MaxColumns
}

// omit notes that a section is left out, and why.
func (m *maker) omit(section, reason string) {
	m.out.Omitted = append(m.out.Omitted, Omission{section, reason})
}

// sizes sets the numbers of available and of compared records.
func (m *maker) sizes() {
	s := &m.out.Sizes
	s.Synthetic = m.in.Synthetic.Len()
	note := func(kind string, n int) {
		if n > m.set.Rows {
			s.Sampling = append(s.Sampling, fmt.Sprintf("Of %d %s records %d, drawn at random, are "+
				"compared.", n, kind, m.set.Rows))
		}
	}
	if m.in.Real != nil {
		s.Real = m.in.Real.Len()
		m.outside("real", m.in.Real)
		note("real", s.Real)
		s.Compared = min(s.Real, m.set.Rows)
	}
	if m.in.HeldOut != nil {
		s.HeldOut = m.in.HeldOut.Len()
		m.outside("held-out real", m.in.HeldOut)
		note("held-out", s.HeldOut)
	}
	note("synthetic", s.Synthetic)
}
