package merf_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

// someSets are records of three items of six, with a plan for them that reserves little.
func someSets(t *testing.T) (*merf.Plan, records.Data, accountant.Budget) {
	t.Helper()
	s := records.Sets(6, 3)
	data, err := records.FromItems(s, [][]uint32{{1}, {2, 3}, {0, 4, 5}})
	if err != nil {
		t.Fatal(err)
	}
	b := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	p, err := merf.Config{Schema: s, Budget: b, Kernel: rff.RBF{Dim: 8, Bandwidth: 1}}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	return p, data, b
}

// What nobody has made is refused, and nothing is reserved for it.
func TestWhatNobodyHasMade(t *testing.T) {
	p, data, b := someSets(t)
	ctx, ledger := context.Background(), accountant.NewLedger(b)
	second := func(_ any, err error) error { return err }
	part := p.NewPartial(nil)
	mistakes := map[string]error{
		"train on nothing":         second(merf.Train(ctx, nil, merf.GeneratorConfig{})),
		"train on no embedding":    second(merf.Train(ctx, new(merf.Embedding), merf.GeneratorConfig{})),
		"embed nothing":            second(merf.Embed(ctx, p, nil, ledger)),
		"embed on no ledger":       second(merf.Embed(ctx, p, data, nil)),
		"stream nothing":           second(merf.EmbedStream(ctx, p, nil, ledger)),
		"release no sum":           second(merf.Release(ctx, p, ledger, []*merf.Partial{nil})),
		"release a sum of no plan": second(merf.Release(ctx, p, ledger, []*merf.Partial{new(merf.Partial)})),
		"add to no sum":            (*merf.Partial)(nil).Add(ctx, data),
		"add to a sum of no plan":  new(merf.Partial).Add(ctx, data),
		"merge into no sum":        (*merf.Partial)(nil).Merge(part),
		"merge no sum":             part.Merge(nil),
		"merge sums of no plan":    new(merf.Partial).Merge(new(merf.Partial)),
	}
	for name, none := range map[string]*merf.Plan{"nil": nil, "zero": {}} {
		mistakes["embed "+name] = second(merf.Embed(ctx, none, data, ledger))
		mistakes["release "+name] = second(merf.Release(ctx, none, ledger, nil))
		mistakes["write "+name] = second(none.MarshalJSON())
		mistakes["add to a sum of "+name] = none.NewPartial().Add(ctx, data)
		if none.Features() != 0 || none.String() == "" {
			t.Errorf("%s plan: %d features, %q", name, none.Features(), none)
		}
	}
	for name, err := range mistakes {
		var wrong *param.Error
		if !errors.As(err, &wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if e := ledger.Entries(); len(e) != 0 {
		t.Errorf("something was set aside: %v", e)
	}
	var file bytes.Buffer
	if none := new(merf.Embedding); none.String() == "" || none.Save(&file) == nil && file.Len() == 0 {
		t.Error("the zero embedding")
	}
	if _, err := merf.Embed(ctx, p, data, ledger, nil, merf.WithProgress(nil), merf.WithBackend(nil)); err != nil {
		t.Error(err)
	}
}

// Two runs of a plan on one ledger are whole, and paid for twice.
func TestTwoRunsOnOneLedger(t *testing.T) {
	p, data, b := someSets(t)
	b.Epsilon = 3
	ledger := accountant.NewLedger(b)
	for run := range 2 {
		e, err := merf.Embed(t.Context(), p, data, ledger)
		if err != nil {
			t.Fatal(err)
		}
		if line := ledger.Entries()[0]; line.Spent != run+1 || line.Reserved != run+1 || !slices.ContainsFunc(e.Sum(0), func(v float64) bool { return v != 0 }) {
			t.Errorf("run %d: %v, sums %v", run, line, e.Sum(0))
		}
	}
}

// Sets that a generator draws keep to the schema's length.
func TestSetsAreNoLongerThanTheSchemaAllows(t *testing.T) {
	s := records.Sets(9, 1)
	data, err := records.FromItems(s, [][]uint32{{1}, {2}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := merf.Config{Schema: s, Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5}, Kernel: rff.RBF{Dim: 8, Bandwidth: 1}}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	e, err := merf.Embed(t.Context(), p, data, accountant.NewLedger(p.Config.Budget))
	if err != nil {
		t.Fatal(err)
	}
	m, err := merf.Train(t.Context(), e, merf.GeneratorConfig{Architecture: models.MLP{Hidden: []int{4}}, Latent: 2, Steps: 1, Batch: 4})
	if err != nil {
		t.Fatal(err)
	}
	for chunk, err := range m.Chunks(t.Context(), 50, merf.All()) {
		if err != nil {
			t.Fatal(err)
		}
		if err := records.Check(chunk); err != nil {
			t.Error(err)
		}
	}
}

// Networks and batches that no memory holds are mistakes, not panics.
func TestHugeGenerators(t *testing.T) {
	p, data, b := someSets(t)
	e, err := merf.Embed(t.Context(), p, data, accountant.NewLedger(b))
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range []merf.GeneratorConfig{
		{Batch: math.MaxInt},
		{Architecture: models.MLP{Hidden: []int{math.MaxInt}}},
		{Architecture: wider{}},
	} {
		g.Steps = 1
		var wrong *param.Error
		if _, err := merf.Train(t.Context(), e, g); !errors.As(err, &wrong) {
			t.Errorf("%+v: %v", g, err)
		}
	}
}

// wider is somebody's architecture that makes records of one coordinate too many.
type wider struct{ models.MLP }

func (a wider) NewGenerator(be device.Backend, latent int, heads []models.Head, seed uint64) (models.Generator, error) {
	return a.MLP.NewGenerator(be, latent, append(heads, models.Head{Width: 1, Out: models.Linear}), seed)
}
