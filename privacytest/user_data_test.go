package privacytest_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
)

// foreign is a user-defined type of data that breaks the contract of records.Data: it returns
// values, items and labels unchanged, even if they are outside the schema.
type foreign struct {
	schema records.Schema
	rows   [][]float32
	sets   [][]uint32
	labels []int32
}

func (f foreign) Schema() records.Schema { return f.schema }
func (f foreign) Len() int               { return len(f.labels) }

func (f foreign) Gather(rows []int32, b *device.Batch) {
	dim := f.schema.Dim()
	rows = append([]int32(nil), rows...)
	b.Rows, b.Labels, b.Sparse, b.Index = len(rows), nil, nil, rows
	b.Dense = device.HostMatrix(len(rows), dim, make([]float32, len(rows)*dim))
	if f.schema.Sparse() {
		b.Sparse = &device.Sparse{Cols: dim, Offsets: []int{0}}
	}
	for i, row := range rows {
		if f.schema.Classes() > 0 {
			b.Labels = append(b.Labels, f.labels[row])
		}
		if f.schema.Sparse() {
			b.Sparse.Items = append(b.Sparse.Items, f.sets[row]...)
			b.Sparse.Offsets = append(b.Sparse.Offsets, len(b.Sparse.Items))
		} else {
			copy(b.Dense.Row(i), f.rows[row])
		}
	}
}

func (f foreign) Range(lo, hi int, b *device.Batch) {
	var rows []int32
	for i := lo; i < hi; i++ {
		rows = append(rows, int32(i))
	}
	f.Gather(rows, b)
}

// with returns the data with one record more. All coordinates of the record are v.
func (f foreign) with(v float32, label int32, set ...uint32) foreign {
	row := make([]float32, f.schema.Dim())
	for i := range row {
		row[i] = v
	}
	f.rows = append(f.rows[:len(f.rows):len(f.rows)], row)
	f.sets = append(f.sets[:len(f.sets):len(f.sets)], set)
	f.labels = append(f.labels[:len(f.labels):len(f.labels)], label)
	return f
}

// TestForeignRecordsUnderReplay: records of a user-defined type that are outside their schema do
// not stop a run, and move no sum farther than declared.
func TestForeignRecordsUnderReplay(t *testing.T) {
	be := device.CPUWith(1)
	train := func(network func() (models.Network, error)) func(records.Schema,
		accountant.Budget) fitting {
		cfg := briefly(3)
		cfg.NominalBatch = 4
		return func(records.Schema, accountant.Budget) fitting { return training(cfg, network) }
	}
	sparse := models.Visible{Dim: 5, Sparse: true}
	own := []struct {
		name   string
		schema records.Schema
		fit    func(records.Schema, accountant.Budget) fitting
	}{
		{"kmeans", records.Interval(3, 0, 1), fitCentres},
		{"kmeans of sets", records.Sets(5, 3), fitCentres},
		{"classifier", records.Interval(4, -1, 1).WithLabels("a", "b"),
			train(func() (models.Network, error) { return models.MLP{}.Classifier(be, 4, 2, 1) })},
		{"VAE of sets", records.Sets(5, 3),
			train(func() (models.Network, error) {
				return models.VAE{Hidden: []int{5}, Latent: 2}.New(be, sparse, 1)
			})},
		{"RBM of sets", records.Sets(5, 3),
			train(func() (models.Network, error) {
				return models.RBM{Hidden: 4, Chains: 3}.New(be, sparse, 1)
			})},
	}
	for at, c := range append(own, replayed...) {
		if strings.HasPrefix(c.name, "merf, s") {
			continue // these need this module's own types of data
		}
		for i, r := range relations {
			if !auditing() && (at+i)%2 == 1 {
				continue // what is read from foreign data does not depend on the relation
			}
			t.Run(c.name+" "+r.String(), func(t *testing.T) {
				replayForeign(t, c.schema, r,
					c.fit(c.schema, accountant.Budget{Epsilon: 1e3, Delta: 1e-5, Relation: r}))
			})
		}
	}
}

func replayForeign(t *testing.T, s records.Schema, r accountant.Relation, run fitting) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	base := foreign{schema: s}.with(0, 0, 1).with(0.5, 1, 0, 2).with(1, 0)
	for i, odd := range []foreign{
		base.with(nan, 2, 3, 3, 1), base.with(inf, 99, 99, 0), base.with(-1, 0, 0, 1, 2, 3, 4),
		base.with(3e38, -1, 4, 0),
		base.with(-1e30, 1), base.with(1e-40, 1, 4, 3, 2, 1, 0, 0, 0),
	} {
		data := base
		if r == accountant.ReplaceOne {
			data = base.with(1, 1, 2)
		}
		if (i%2 == 0) != (r == accountant.ReplaceOne) && !auditing() {
			continue // each relation has one half of the odd records
		}
		privacytest.Replay[records.Data]{Run: run,
			Budget: accountant.Budget{Epsilon: 1e3, Delta: 1e-5, Relation: r},
			Data:   data, Neighbour: odd, Seeds: 1}.Check(t)
	}
}

func fitCentres(s records.Schema, _ accountant.Budget) fitting {
	return func(ctx context.Context, l *ledger.Ledger, data records.Data) (any, error) {
		m, err := kmeans.Fit(ctx, kmeans.Config{K: 2, Iterations: 2, NoiseMultiplier: 2}, kmeans.Raw(s),
			data, l,
			kmeans.WithBackend(device.CPUWith(1)))
		if err != nil {
			return nil, err
		}
		return []any{m.Centers, m.Counts}, nil
	}
}

// TestNoRecordInTwoShards: the records of a shard count once, even if the shard is listed twice, or
// listed after it was merged into another shard.
func TestNoRecordInTwoShards(t *testing.T) {
	s, b := records.Image(2, 2), accountant.Budget{Epsilon: 1e3, Delta: 1e-5}
	for _, name := range []string{"named twice", "merged and named"} {
		privacytest.Replay[records.Data]{Budget: b, Data: filled(t, s), Neighbour: filled(t, s, 1),
			Run: func(ctx context.Context, l *ledger.Ledger, data records.Data) (any, error) {
				plan, err := planMerf(s, b)
				if err != nil {
					return nil, err
				}
				one, two := plan.NewPartial(), plan.NewPartial()
				if err := one.Add(ctx, data); err != nil {
					return nil, err
				}
				shards := []*mechanism.Partial{one, one}
				if name == "merged and named" {
					shards[1] = two
					if err := two.Merge(one); err != nil {
						return nil, err
					}
				}
				e, err := plan.Release(ctx, l, shards)
				return embedded(ctx, e, err)
			}}.Check(t)
	}
}

// TestUnitsAreHeldTo: a ledger with a guarantee for users refuses data that are not declared as
// grouped by user.
func TestUnitsAreHeldTo(t *testing.T) {
	for _, c := range replayed {
		b := accountant.Budget{Epsilon: 1e3, Delta: 1e-5}
		var data records.Data
		switch {
		case c.schema.Sparse():
			data, _ = records.FromItems(c.schema, [][]uint32{{1}})
		case c.schema.Kind() == records.MixedTable:
			data, _ = records.DecodeFlat(c.schema, make([]float32, c.schema.Dim()),
				make([]int32, min(c.schema.Classes(), 1))...)
		case c.schema.Classes() > 0:
			data = labelled(t, c.schema, 0)
		default:
			data = filled(t, c.schema, 0)
		}
		l := ledger.New(b, ledger.WithUnit(records.UnitUser))
		if _, err := c.fit(c.schema, b)(t.Context(), l, data); err == nil {
			t.Errorf("%s: data without the unit user are accepted", c.name)
		}
		if strings.HasPrefix(c.name, "merf, s") {
			continue // slices of the table do not declare the unit
		}
		l = ledger.New(b, ledger.WithUnit(records.UnitUser))
		if _, err := c.fit(c.schema, b)(t.Context(), l,
			records.WithUnit(data, records.UnitUser)); err != nil {
			t.Errorf("%s: data with the unit user are refused: %v", c.name, err)
		}
	}
}
