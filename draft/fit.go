package draft

import (
	"context"
	"errors"
	"iter"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// ErrSchema is returned for data of another schema than the plan's candidates. Schemas are public,
// so the error reveals nothing about the records.
var ErrSchema = errors.New("draft: the data's schema is not the plan's candidates")

// Fit runs a plan on private records.
//
// Guarantee: the draft is a function of one release of noisy counts, and of one of the texts of
// columns with open levels if there are any, with noise of the exact class. Both are reserved on
// the ledger before any record is read. A cancelled run gets no refund.
//
// Errors: ErrSchema, accountant.ErrBudgetExceeded, ctx.Err(); *param.Error for a plan not made by
// Config.Plan, for data other than tables, and for a ledger whose unit the data do not support. No
// error depends on a record's value.
func Fit(ctx context.Context, p *Plan, data records.Data,
	ledger *ledger.Ledger) (*Draft, error) {
	const call = "draft.Fit"
	if err := p.check(call, ledger); err != nil {
		return nil, err
	}
	if data == nil {
		return nil, param.New(call+".data", nil, "records")
	}
	frame, shares, err := p.frame(call+".data", data, ledger)
	if err != nil {
		return nil, err
	}
	return p.run(ctx, ledger, func(c *counter) error {
		return errors.Join(c.addTexts(data), c.add(ctx, frame, shares))
	})
}

// FitStream is [Fit] for records that arrive in parts. Its memory does not grow with their number,
// but with that of different texts in columns with open levels.
//
// Units: each record must be in exactly one part. If the ledger protects users, all records of a
// user must be in one part. Under such a ledger, a second part is refused unless both parts state
// different parts of all users by records.WithPart. Guarantee: as for Fit, for the records of all
// parts together. Errors: all errors of Fit; errors of the stream, which end the run. The author of
// the stream must ensure that its errors reveal nothing about the records.
func FitStream(ctx context.Context, p *Plan, parts iter.Seq2[records.Data, error],
	ledger *ledger.Ledger) (*Draft, error) {
	const call = "draft.FitStream"
	if err := p.check(call, ledger); err != nil {
		return nil, err
	}
	if parts == nil {
		return nil, param.New(call+".parts", nil, "records")
	}
	return p.run(ctx, ledger, func(c *counter) error {
		var seen pieces
		for part, err := range parts {
			if err == nil {
				err = seen.add(part, ledger)
			}
			if err != nil {
				return err
			}
			frame, shares, err := p.frame(call+".parts", part, ledger)
			if err != nil {
				return err
			}
			if err := errors.Join(c.addTexts(part), c.add(ctx, frame, shares)); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
}

// frame checks the public properties of the data: type, schema and unit. The path names the
// argument in errors. For persons it returns the frame of their rows and the weights of these rows;
// see records.RowsOf.
func (p *Plan) frame(path string, data records.Data, ledger *ledger.Ledger) (*records.Frame,
	records.Shares, error) {
	rows, shares := records.RowsOf(data)
	f, ok := records.AsFrame(rows)
	if !ok {
		return nil, nil, param.New(path, "data that are not a table", "a table, *records.Frame")
	}
	if !f.Schema().Equal(p.Config.Candidates) {
		return nil, nil, ErrSchema
	}
	if err := records.CheckPersons(path, data, p.Config.Candidates); err != nil {
		return nil, nil, err
	}
	return f, shares, records.CheckUnitOf(path, data, ledger.Unit())
}

// check validates the public parts of a run before it begins. Its errors name the called function.
func (p *Plan) check(call string, ledger *ledger.Ledger) error {
	if p == nil || p.Event == nil {
		return param.New(call+".p", nil, "a plan, made by Config.Plan")
	}
	if ledger == nil {
		return param.New(call+".ledger", nil, "a ledger")
	}
	if got, want := ledger.Relation(), p.Config.Budget.Relation; got != want {
		return param.New(call+".ledger", got, "the plan's relation, "+want.String())
	}
	if p.Config.Candidates.RowsPerPerson() > 0 && ledger.Unit() == records.UnitRecord {
		return param.New(call+".ledger", "one record",
			"a ledger made with ledger.WithUnit(records.UnitUser), since the plan is for persons")
	}
	return nil
}

// run reserves the event, counts the records, releases the counts and interprets them, in this
// order.
func (p *Plan) run(ctx context.Context, ledger *ledger.Ledger,
	count func(*counter) error) (*Draft, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	counts, texts, err := p.reserve(ctx, ledger)
	if err != nil {
		return nil, err
	}
	c := newCounter(p)
	if err := count(c); err != nil {
		return nil, err
	}
	noisy := make([]float64, p.Cells)
	if counts != nil {
		if err := counts.Release(p.Sensitivity/p.Std,
			mechanism.Part{Sum: c.sum, Std: p.Std, Out: noisy}); err != nil {
			return nil, err
		}
	}
	var found []map[string]float64
	if texts != nil {
		if found, err = texts.SparseHistogram(c.texts); err != nil {
			return nil, err
		}
	}
	g := ledger.Guarantee()
	g.RowsPerUnit = p.Config.Candidates.RowsPerPerson()
	return p.interpret(noisy, found, g)
}

// counter adds up the counts of records exactly.
type counter struct {
	histograms []histogram
	sum        *mechanism.FixedSum
	texts      []map[string]int64 // of each column with open levels
}

func newCounter(p *Plan) *counter {
	// With a grid of at most 1, every count is a whole number of grid steps.
	grid := min(mechanism.CountGrid(p.Std, p.Config.Candidates.RowsPerPerson() > 0), 1)
	c := &counter{histograms: p.Config.histograms(), sum: mechanism.NewFixedSum(p.Cells, grid)}
	for range open(p.Config.Candidates) {
		c.texts = append(c.texts, map[string]int64{})
	}
	return c
}

// checkEvery is the number of records read between two checks of the context.
const checkEvery = 4096

func (c *counter) add(ctx context.Context, f *records.Frame, shares records.Shares) error {
	for i := range f.Len() {
		if i%checkEvery == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		for k := range c.histograms {
			c.sum.AddShare(c.histograms[k].cell(f, i), shares.Of(i))
		}
	}
	return ctx.Err()
}
