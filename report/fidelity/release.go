package fidelity

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
)

// ErrSchema is returned for data of another schema than the plan's. Schemas are public, so it
// reveals nothing about the records.
var ErrSchema = errors.New("fidelity: the data's schema is not the plan's")

// trained is the largest number of synthetic records that classifiers learn from.
const trained = 10_000

// Release runs a plan on private records. They may be the records from which the synthetic ones
// were made, or others, such as held-out records. The ledger must belong to these records.
// Classifiers may score slightly better on the records that the generator was trained on than on
// others.
//
// If the data are persons (records.GroupBy), the rows of each person together count as one record,
// and the figures describe the average row of each person.
//
// The synthetic records are public: they have been or will be released, and depend on the real
// ones only through that release.
//
// Guarantee: the figures are a function of one release of noisy counts, recorded on the ledger. The
// event is the plan's, with noise of the exact class. It is reserved before any real record is
// read, and a cancelled run gets no refund. Errors: ErrSchema, accountant.ErrBudgetExceeded,
// ctx.Err(); *param.Error for a plan not made by Config.Plan, for data other than tables, for real
// records given as synthetic ones, and for a ledger with a unit that the data do not support. No
// error depends on a record's value.
func Release(ctx context.Context, p *Plan, real records.Data,
	synthetic records.Public, ledger *ledger.Ledger) (*Released, error) {
	if err := p.check(ledger); err != nil {
		return nil, err
	}
	if real == nil {
		return nil, refused("real", nil, "records")
	}
	rows, shares := records.RowsOf(real) // for persons each row has its weight
	private, err := p.frame("real", rows)
	if err != nil {
		return nil, err
	}
	public, err := p.frame("synthetic", synthetic.Data())
	if err != nil {
		return nil, err
	}
	err = errors.Join(ctx.Err(),
		records.CheckPersons("fidelity.Release.real", real, p.Config.Schema),
		records.CheckUnitOf("fidelity.Release.real", real, ledger.Unit()))
	if synthetic.Overlaps(rows) {
		err = errors.Join(err, refused("synthetic", "the real records", "synthetic ones"))
	}
	if public.Len() < 2 {
		err = errors.Join(err, refused("synthetic", public.Len(), "at least 2 records"))
	}
	if err != nil {
		return nil, err
	}
	classifiers, err := p.train(public)
	if err != nil {
		return nil, err
	}
	grant, err := mechanism.Begin(ctx, ledger).Spend(Purpose, p.Event)
	if err != nil {
		return nil, err
	}
	sum, err := p.count(ctx, private, shares, classifiers)
	if err != nil {
		return nil, err
	}
	noisy := make([]float64, p.Cells)
	if err := grant.Release(p.Sensitivity/p.Std,
		mechanism.Part{Sum: sum, Std: p.Std, Out: noisy}); err != nil {
		return nil, err
	}
	g := ledger.Guarantee()
	g.RowsPerUnit = p.Config.Schema.RowsPerPerson()
	return p.figures(noisy, public, g), nil
}

func refused(field string, value any, want string) error {
	return param.New("fidelity.Release."+field, value, want)
}

// check validates the public parts of a run before it begins.
func (p *Plan) check(ledger *ledger.Ledger) error {
	if p == nil || p.Event == nil {
		return refused("p", nil, "a plan, made by Config.Plan")
	}
	if ledger == nil {
		return refused("ledger", nil, "a ledger")
	}
	if got, want := ledger.Relation(), p.Config.Budget.Relation; got != want {
		return refused("ledger", got, "the plan's relation, "+want.String())
	}
	if p.Config.Schema.RowsPerPerson() > 0 && ledger.Unit() == records.UnitRecord {
		return refused("ledger", "one record",
			"a ledger made with ledger.WithUnit(records.UnitUser), since the plan is for persons")
	}
	return nil
}

// frame checks the public properties of the data: its type and its schema.
func (p *Plan) frame(field string, data records.Data) (*records.Frame, error) {
	if data == nil {
		return nil, refused(field, nil, "records")
	}
	f, ok := records.AsFrame(data)
	if !ok {
		return nil, refused(field, "data that are not a table", "a table, *records.Frame")
	}
	if !f.Schema().Equal(p.Config.Schema) {
		return nil, fmt.Errorf("%w: %s", ErrSchema, records.Difference(f.Schema(), p.Config.Schema))
	}
	return f, nil
}

// train trains the classifiers on synthetic records.
func (p *Plan) train(public *records.Frame) ([]*classify.Classifier, error) {
	if len(p.Config.Methods) == 0 {
		return nil, nil
	}
	if public.Len() > trained {
		rng := rand.New(rand.NewPCG(p.Config.Seed, 0x666964656c))
		rows := make([]int32, trained)
		for i := range rows {
			rows[i] = int32(rng.IntN(public.Len()))
		}
		public = public.Take(rows)
	}
	set, err := classify.Read(public)
	if err != nil {
		return nil, err
	}
	var list []*classify.Classifier
	for _, name := range p.Config.Methods {
		c, err := set.Fit(method(name, p.Config.Seed))
		if err != nil {
			return nil, fmt.Errorf("fidelity: %s: %w", name, err)
		}
		list = append(list, c)
	}
	return list, nil
}

// checkEvery is the number of records read between two checks of the context.
const checkEvery = 1024

// count adds up the records' counts exactly. Each record is classified separately, so its class
// cannot depend on another record.
func (p *Plan) count(ctx context.Context, f *records.Frame, shares records.Shares,
	classifiers []*classify.Classifier) (*mechanism.FixedSum, error) {
	// With a grid of at most 1, every count is a whole number of grid steps.
	grid := min(mechanism.CountGrid(p.Std, p.Config.Schema.RowsPerPerson() > 0), 1)
	sum := mechanism.NewFixedSum(p.Cells, grid)
	histograms := p.Config.histograms()
	for i := range f.Len() {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for _, h := range histograms {
			sum.AddShare(h.cell(f, i), shares.Of(i))
		}
		for k, c := range classifiers {
			if named, err := c.Predict(f.Slice(i, i+1)); err == nil && int(named[0]) == f.Label(i) {
				sum.AddShare(p.Cells-len(classifiers)+k, shares.Of(i))
			}
		}
	}
	return sum, ctx.Err()
}

// figures computes the figures from the noisy counts. It reads nothing private.
func (p *Plan) figures(noisy []float64, public *records.Frame,
	g ledger.Guarantee) *Released {
	histograms := p.Config.histograms()
	out := &Released{NoiseStd: p.Std, Synthetic: public.Len(), Guarantee: g}
	total := 0.0
	for _, h := range histograms {
		for _, count := range noisy[h.first : h.first+h.cells] {
			total += count
		}
	}
	out.Records = total / float64(len(histograms)) // every column counts all records
	n := max(out.Records, 1)
	for _, h := range histograms {
		shares := make([]float64, h.cells)
		for i := range public.Len() {
			shares[h.cell(public, i)-h.first]++
		}
		apart := 0.0
		for i, count := range noisy[h.first : h.first+h.cells] {
			apart += math.Abs(count/n - shares[i]/float64(public.Len()))
		}
		c := Column{Name: h.shape.Name(), TVComplement: max(1-apart/2, 0),
			Noise: min(float64(h.cells)*p.Std/(math.Sqrt(2*math.Pi)*n), 1)}
		out.Columns = append(out.Columns, c)
		out.Mean += c.TVComplement / float64(len(histograms))
		out.MeanNoise += c.Noise / float64(len(histograms))
	}
	for k, name := range p.Config.Methods {
		right := noisy[p.Cells-len(p.Config.Methods)+k]
		out.Classifiers = append(out.Classifiers,
			Classifier{name, min(max(right/n, 0), 1), p.Std / n})
	}
	return out
}
