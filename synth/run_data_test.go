package synth_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// reading is a system whose Fit calls a function of the test.
type reading struct{ fit func(*synth.Run) error }

func (reading) Title() string                    { return "reading" }
func (reading) Notes() []string                  { return nil }
func (reading) Config() (json.RawMessage, error) { return json.RawMessage("{}"), nil }
func (w reading) Fit(_ context.Context, r *synth.Run) (synth.Model, error) {
	return nil, w.fit(r)
}

// lying is a data set that returns numbers outside its schema, and panics after the test has set
// fails.
type lying struct {
	records.Data
	fails bool
}

func (d *lying) Range(lo, hi int, b *device.Batch) {
	if d.fails {
		panic("no rows today")
	}
	d.Data.Range(lo, hi, b)
	own := device.HostMatrix(b.Rows, b.Dense.Cols, make([]float32, b.Rows*b.Dense.Cols))
	for i := range own.Data {
		own.Data[i] = 100
	}
	b.Dense = own
}

func fitOn(t *testing.T, data records.Data,
	fit func(*synth.Run) error) (*ledger.Ledger, error) {
	t.Helper()
	budget := accountant.Budget{Epsilon: 10, Delta: 1e-5}
	p, err := synth.NewProgram("reading", data.Schema(), budget, []synth.Stage{{Purpose: "use",
		Event: accountant.Gaussian{NoiseMultiplier: 5}, Count: 3}}, reading{fit})
	if err != nil {
		t.Fatal(err)
	}
	l := ledger.New(budget)
	_, err = p.FitOn(t.Context(), l, data)
	return l, err
}

// TestRunsReadRecordsOfTheirSchema checks that numbers outside the schema are clamped before a
// system reads them.
func TestRunsReadRecordsOfTheirSchema(t *testing.T) {
	table, err := records.FromFlat(records.Interval(2, 0, 1), []float32{0, 1, 1, 0})
	if err != nil {
		t.Fatal(err)
	}
	_, err = fitOn(t, &lying{Data: table}, func(r *synth.Run) error {
		var b device.Batch
		r.Data.Range(0, 2, &b)
		for i := range b.Rows {
			for _, v := range b.Dense.Row(i) {
				if v != 1 {
					t.Errorf("a system reads %v from records in [0, 1]", v)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// persons is a system that reads whole persons.
type persons struct{ reading }

func (persons) TakesPersons() {}

// TestGuaranteesOfPersonsStateTheirRows checks that the guarantee of a run whose records are
// persons says how many rows of a person were read.
func TestGuaranteesOfPersonsStateTheirRows(t *testing.T) {
	table := must(records.FromFlat(records.Interval(2, 0, 1), []float32{0, 1, 1, 0}))(t)
	grouped := must(records.GroupBy(table, []string{"a", "a"}, 7))(t)
	for data, want := range map[records.Data]int{table: 0, grouped: 7} {
		p, err := synth.NewProgram("reading", data.Schema(),
			accountant.Budget{Epsilon: 10, Delta: 1e-5}, []synth.Stage{{Purpose: "use",
				Event: accountant.Gaussian{NoiseMultiplier: 5}, Count: 1}},
			persons{reading{func(r *synth.Run) error {
				if got := r.Guarantee().RowsPerUnit; got != want {
					t.Errorf("a run of %s states %d rows, want %d", r.Data.Schema(), got, want)
				}
				return nil
			}}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Fit(t.Context(), data); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRunsEndWithDataThatFail checks that nothing is drawn after the data have failed. The run must
// return an error even if nothing was left to draw.
func TestRunsEndWithDataThatFail(t *testing.T) {
	table := must(records.FromFlat(records.Interval(2, 0, 1), []float32{0, 1, 1, 0}))(t)
	for before := range 4 { // number of uses taken before the data fail
		data := &lying{Data: table}
		ledger, err := fitOn(t, data, func(r *synth.Run) error {
			for use := range 3 {
				if use == before {
					data.read(r)
				}
				_, err := r.Allowance("use").Next()
				if use < before && err != nil || use >= before && !errors.Is(err, synth.ErrData) {
					t.Errorf("use %d of data that fail after %d uses: error %v", use, before, err)
				}
			}
			if before == 3 {
				data.read(r)
			}
			return nil
		})
		if !errors.Is(err, synth.ErrData) {
			t.Errorf("data that fail after %d uses: got error %v, want ErrData", before, err)
		}
		if n := ledger.Entries()[0].Spent; n != before {
			t.Errorf("data that fail after %d uses: the ledger counts %d as spent", before, n)
		}
	}
}

// read makes the data fail from now on and reads their first row.
func (d *lying) read(r *synth.Run) {
	d.fails = true
	var b device.Batch
	r.Data.Range(0, 1, &b)
}

// TestAllowancesEndWithTheirRun checks that an allowance or a grant kept by a system draws nothing
// after its run has returned.
func TestAllowancesEndWithTheirRun(t *testing.T) {
	table := must(records.FromFlat(records.Interval(2, 0, 1), []float32{0, 1, 1, 0}))(t)
	var kept *mechanism.Allowance
	var grant *mechanism.Grant
	ledger, err := fitOn(t, table, func(r *synth.Run) (err error) {
		kept = r.Allowance("use")
		grant, err = kept.Next()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	spent := ledger.Entries()[0].Spent
	if _, err := kept.Next(); err == nil {
		t.Error("an allowance outlives its run")
	}
	out := make([]float64, 1)
	part := mechanism.Part{Sum: mechanism.NewFixedSum(1, mechanism.GridFor(10)), Std: 10, Out: out}
	if err := grant.Release(0.2, part); err == nil || out[0] != 0 {
		t.Errorf("a grant outlives its run: %v, %v", err, out)
	}
	if got := ledger.Entries()[0].Spent; got != spent {
		t.Errorf("%d uses are spent after the run, %d in it", got, spent)
	}
}
