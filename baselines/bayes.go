package baselines

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/defaults"
	"github.com/seed7ba64551/privgen/internal/marginal"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/partial"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// NaiveBayes releases how the mean of each column depends on the class, and draws columns
// independently given the class. It suits tables with so few rows, or so many columns, that AIM and
// MERF learn little. It does not model how columns of one class depend on each other.
//
// The first release has the means and the squares of all columns, and the counts of the classes.
// They standardise rows: each coordinate is centred and divided by its standard deviation. The
// second release has the sums of the standardised rows of each class. A row's norm is clipped to a
// small multiple of its expected value, which is much smaller than the largest possible norm. In
// each class, a column of numbers has the distribution of largest entropy with the estimated mean
// and square, on cells of equal width. A column of levels has the estimated frequencies.
//
// Guarantee: two Gaussian releases. In the first, a row has coordinates in [-1, 1] and one class.
// The norm of its coordinates is at most √(2·numbers + levels), where numbers and levels are the
// numbers of columns of each kind. In the second, the norm of a row is clipped to 1, and a row is
// in the sum of one class. A row changes a sum by at most its norm if it is added or removed, and
// by at most twice the bound if it is replaced, a limit that the first release does not attain. The
// first release decides how the second one standardises rows. Rows of persons count with their
// weights.
//
// Units: numbers are standardised on the scale on which the schema encodes them.
//
// Source: Vaidya, Shafiq, Basu and Hong, "Differentially private naive Bayes classification", 2013,
// with joint releases, standardised rows and a clipped norm instead of a release for each column.
type NaiveBayes struct {
	Schema records.Schema
	Budget accountant.Budget
	// Nominal is the approximate number of records, which must be public. The plan's text then
	// states the expected noise. Nominal affects nothing else.
	Nominal int
}

const (
	nameBayes = "naive-bayes"

	purposeMoments = "column moments"
	purposeMeans   = "class means"

	momentPart = 0.25 // fraction of the squared effect for the means and squares of columns
	countPart  = 0.1  // fraction for the counts of the classes

	// leastSumNoise is the smallest noise of a sum. A mechanism.FixedSum clamps what a row adds to a
	// coordinate to 2^13 standard deviations of the noise or, because its grid is a power of two, to
	// half of that. With less noise, coordinates of 1 would be clamped.
	leastSumNoise = 0x1p-12
)

// Plan calibrates the noise and prices both stages.
//
// Errors: *param.Error, joined.
func (c NaiveBayes) Plan() (*Plan, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	m := bayesMethod{NaiveBayes: c, attributes: marginal.AttributesOf(c.Schema)}
	noise, _, err := accountant.CalibrateNoise(c.Budget, func(noise float64) accountant.Event {
		return synth.Total(m.stages(noise)...)
	})
	if err != nil {
		return nil, fmt.Errorf("baselines: noise of %s: %w", nameBayes, err)
	}
	const path = "baselines.NaiveBayes.Budget"
	persons := c.Schema.RowsPerPerson() > 0
	if err := mechanism.CheckCountNoise(path, m.countStd(noise), persons); err != nil {
		return nil, err
	}
	if !(min(m.momentStd(noise), m.countStd(noise), m.meanStd(noise)) >= leastSumNoise) {
		return nil, param.New(path, c.Budget.String(),
			"an ε for which the noise of a sum is at least 2^-12, since coordinates are up to 1")
	}
	w := bayesWork{m, noise}
	p, err := synth.NewProgram(nameBayes, c.Schema, c.Budget, m.stages(noise), w)
	if err != nil {
		return nil, err
	}
	return &Plan{p}, nil
}

func (c NaiveBayes) validate() error {
	k := Tables{Schema: c.Schema, Budget: c.Budget, Nominal: c.Nominal}.validate("NaiveBayes")
	if k.Err() != nil {
		return k.Err()
	}
	codes, classes := 0, max(c.Schema.Classes(), 1)
	for _, a := range marginal.AttributesOf(c.Schema) {
		codes += a.Codes
	}
	k.OK(codes <= mostCells/classes, "baselines.NaiveBayes.Schema",
		fmt.Sprintf("%d values in all columns together, in %d classes", codes, classes),
		fmt.Sprintf("at most %d values of all classes together", mostCells))
	return k.Err()
}

// bayesMethod is NaiveBayes with everything except its noise.
type bayesMethod struct {
	NaiveBayes
	attributes []marginal.Attribute // the class is the last, if there is one
}

// columns returns the attributes without the class.
func (m bayesMethod) columns() []marginal.Attribute {
	n := len(m.attributes)
	if m.attributes[n-1].Class() {
		n--
	}
	return m.attributes[:n]
}

func (m bayesMethod) classes() int { return max(m.Schema.Classes(), 1) }

func (m bayesMethod) stages(noise float64) []synth.Stage {
	return []synth.Stage{
		{Purpose: purposeMoments, Event: accountant.Gaussian{NoiseMultiplier: m.firstNoise(noise)},
			Count: 1, NoiseMultiplier: m.firstNoise(noise), Once: true},
		{Purpose: purposeMeans, Event: accountant.Gaussian{NoiseMultiplier: m.meanNoise(noise)},
			Count: 1, NoiseMultiplier: m.meanNoise(noise), Once: true}}
}

// firstNoise returns the noise multiplier of the first release.
func (m bayesMethod) firstNoise(noise float64) float64 {
	return noise / math.Sqrt(momentPart+countPart)
}

// meanNoise returns the noise multiplier of the second release.
func (m bayesMethod) meanNoise(noise float64) float64 {
	return noise / math.Sqrt(1-momentPart-countPart)
}

// momentStd returns the standard deviation of the noise on the sums of coordinates and squares.
func (m bayesMethod) momentStd(noise float64) float64 {
	bound := math.Sqrt(momentSquares(m.columns()))
	return noise / math.Sqrt(momentPart) * mechanism.SumSensitivity(m.Budget.Relation, bound)
}

// countStd returns the standard deviation of the noise on the counts of classes.
func (m bayesMethod) countStd(noise float64) float64 {
	return noise / math.Sqrt(countPart) * mechanism.HistogramSensitivity(m.Budget.Relation)
}

// meanStd returns the standard deviation of the noise on the sums of standardised rows.
func (m bayesMethod) meanStd(noise float64) float64 {
	return m.meanNoise(noise) * mechanism.SumSensitivity(m.Budget.Relation, 1)
}

// bayesWork is a NaiveBayes with its noise.
type bayesWork struct {
	bayesMethod
	noise float64
}

// TakesPersons marks that the system supports schemas with several rows per person: rows count with
// weights.
func (w bayesWork) TakesPersons() {}

// Title describes the records.
func (w bayesWork) Title() string { return w.Schema.String() }

// Notes states the expected noise if Nominal is set.
func (w bayesWork) Notes() []string {
	if w.Nominal == 0 {
		return nil
	}
	each := float64(w.Nominal) / float64(w.classes())
	norm, codes := math.Sqrt(float64(coordinates(w.columns()))), 0
	for _, a := range w.columns() {
		codes += a.Codes
	}
	return []string{fmt.Sprintf("noise on the mean of a column in one of %d equal classes: "+
		"about %.2g standard deviations of the column", w.classes(), w.meanStd(w.noise)*norm/each),
		defaults.CostOf(float64(w.Nominal)*float64(w.Schema.Dim())*200,
			40*float64(w.classes()*codes)).String()}
}

// Passes returns the names of the passes over all records.
func (w bayesWork) Passes() []string { return []string{purposeMoments, purposeMeans} }

// Partial returns the sums of a pass over no records.
//
// Errors: *param.Error for a pass that does not belong to the plan.
func (w bayesWork) Partial(p synth.Pass, _ device.Backend) (*partial.Partial, error) {
	var c partial.Counter
	switch {
	case p.Purpose == purposeMoments && p.State == nil:
		c = w.momentCounter()
	case p.Purpose == purposeMeans:
		if by, ok := readStandard(w.columns(), p.State); ok {
			c = w.meanCounter(by)
		}
	}
	if c == nil {
		return nil, param.New("baselines.Pass ("+nameBayes+")", p.Purpose,
			"a pass of this plan, with its state unchanged")
	}
	config, err := w.Config()
	if err != nil {
		return nil, err
	}
	pass, err := partial.NewPass(nameBayes, w.Schema, w.Budget, config, p)
	if err != nil {
		return nil, err
	}
	return partial.New(pass, w.Schema, c, false), nil
}

// momentCounter returns a counter of the first release.
func (w bayesWork) momentCounter() *rowCounter {
	std, persons := w.countStd(w.noise), w.Schema.RowsPerPerson() > 0
	sums := []*mechanism.FixedSum{
		mechanism.NewFixedSum(moments(w.columns()), mechanism.GridFor(w.momentStd(w.noise))),
		mechanism.NewFixedSum(w.classes(), mechanism.CountGrid(std, persons))}
	row := make([]float64, sums[0].Dim())
	return &rowCounter{w.attributes, sums, func(codes []uint16, class int, share float64) {
		setMoments(row, w.columns(), codes)
		sums[0].AddRow64(row, share)
		sums[1].AddShare(class, share)
	}}
}

// meanCounter returns a counter of the second release.
func (w bayesWork) meanCounter(by standard) *rowCounter {
	dim := coordinates(w.columns())
	sum := mechanism.NewFixedSum(w.classes()*dim, mechanism.GridFor(w.meanStd(w.noise)))
	row := make([]float64, dim)
	return &rowCounter{w.attributes, []*mechanism.FixedSum{sum},
		func(codes []uint16, class int, share float64) {
			squares := by.apply(row, w.columns(), codes)
			sum.AddRow64At(class*dim, row, mechanism.ClipFactor(squares, 1)*share)
		}}
}

// Fit makes both releases and computes the distributions of the columns in each class.
func (w bayesWork) Fit(ctx context.Context, r *synth.Run) (synth.Model, error) {
	columns := w.columns()
	sizes := []int{moments(columns), w.classes()}
	out, err := r.Once(purposeMoments, sizes, func() (float64, []mechanism.Part, error) {
		sums, err := r.Read(ctx, synth.Pass{Purpose: purposeMoments})
		if err != nil {
			return 0, nil, err
		}
		list := sums.Sums()
		return 1 / w.firstNoise(w.noise), []mechanism.Part{
			{Sum: list[0], Std: w.momentStd(w.noise)}, {Sum: list[1], Std: w.countStd(w.noise)}}, nil
	})
	if err != nil {
		return nil, err
	}
	r.Report(purposeMoments, 1, 1)
	known := w.known(out[0], out[1], r.Wider(purposeMoments))
	by := known.standard(columns, w.meanStd(w.noise))
	dim := coordinates(columns)
	sums, err := r.Once(purposeMeans, []int{w.classes() * dim},
		func() (float64, []mechanism.Part, error) {
			sums, err := r.Read(ctx, synth.Pass{Purpose: purposeMeans, State: by.state()})
			if err != nil {
				return 0, nil, err
			}
			return 1 / w.meanNoise(w.noise),
				[]mechanism.Part{{Sum: sums.Sums()[0], Std: w.meanStd(w.noise)}}, nil
		})
	if err != nil {
		return nil, err
	}
	r.Report(purposeMeans, 1, 1)
	return w.model(ctx, known, by, sums[0], r.Wider(purposeMeans)*w.meanStd(w.noise))
}

// bayesJSON is the configuration in a plan's JSON.
type bayesJSON struct {
	Nominal int `json:"nominal,omitempty"`
	// Noise is for readers of the plan; it is computed again when a plan is read.
	Noise float64 `json:"noise_multiplier,omitempty"`
}

// Config returns the configuration in JSON.
func (w bayesWork) Config() (json.RawMessage, error) {
	return json.Marshal(bayesJSON{w.Nominal, w.noise})
}

// bayesSystem returns the functions that read plans and generators of NaiveBayes.
func bayesSystem() synth.System {
	return synth.System{Name: nameBayes, Model: readTableModel,
		Plan: func(s synth.SavedPlan) (synth.Plan, error) {
			var j bayesJSON
			if err := s.Decode(&j); err != nil {
				return nil, err
			}
			return synth.PlanOf(NaiveBayes{Schema: s.Schema, Budget: s.Budget, Nominal: j.Nominal}.Plan())
		}}
}

// state encodes the standardisation for the second pass over records.
func (s standard) state() []byte {
	var state []byte
	for _, list := range [][]float64{s.centre, s.scale} {
		for _, x := range list {
			state = binary.LittleEndian.AppendUint64(state, math.Float64bits(x))
		}
	}
	return state
}

// readStandard decodes the standardisation that state encoded.
func readStandard(columns []marginal.Attribute, state []byte) (s standard, ok bool) {
	n := coordinates(columns)
	if len(state) != 16*n {
		return s, false
	}
	for i := range 2 * n {
		x := math.Float64frombits(binary.LittleEndian.Uint64(state[8*i:]))
		if i < n {
			if s.centre = append(s.centre, x); !(x >= -1 && x <= 1) {
				return s, false
			}
		} else if s.scale = append(s.scale, x); !(x >= 0 && x <= mostScale) {
			return s, false
		}
	}
	return s, true
}
