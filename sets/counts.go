package sets

import (
	"context"
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/defaults"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// eachCut calls each with every record, truncated to limit items, and its weight: 1, or the weight
// of a person's row (see records.RowsOf). It passes ascending, distinct items, even if user-defined
// data violate this order.
func eachCut(ctx context.Context, data records.Data, limit int,
	each func(items []uint32, share float64)) error {
	data, shares := records.RowsOf(data)
	dim := data.Schema().Dim()
	var row []uint32
	return records.EachSet(data, func(i int, items []uint32) error {
		row = row[:0]
		for _, item := range items {
			if int64(item) < int64(dim) && (len(row) == 0 || item > row[len(row)-1]) {
				row = append(row, item)
			}
		}
		each(records.CutSet(row, limit), shares.Of(i))
		if i%4096 == 0 {
			return ctx.Err()
		}
		return nil
	})
}

// itemCounts is a release of the number of records with each item and the number of all records.
type itemCounts struct {
	schema     records.Schema
	dim, limit int
	relation   accountant.Relation
}

// rowsPart is the fraction of the squared effect spent on the number of records.
const rowsPart = 0.05

// std returns the standard deviations for which the joint release has an effect of 1/noise. One
// record has at most limit items, so adding or removing it changes the counts by at most √limit.
// Replacing a record changes the counts by at most √(2·limit), since the counts of a record are not
// negative. This bound is attained if the two records have no item in common. Replacing a record
// does not change the number of records.
func (c itemCounts) std(noise float64) (items, rows float64) {
	sensitivity := math.Sqrt(float64(c.limit)) * mechanism.HistogramSensitivity(c.relation)
	return noise * sensitivity / math.Sqrt(1-rowsPart), noise / math.Sqrt(rowsPart)
}

func (c itemCounts) drawable(noise float64) bool {
	itemStd, rowStd := c.std(noise)
	return releasable(c.schema, itemStd) && releasable(c.schema, rowStd)
}

// counter returns a counter of items and records. Its numbers are private.
func (c itemCounts) counter(noise float64) *cutCounter {
	itemStd, rowStd := c.std(noise)
	persons := c.schema.RowsPerPerson() > 0
	items := mechanism.NewFixedSum(c.dim, mechanism.CountGrid(itemStd, persons))
	rows := mechanism.NewFixedSum(1, mechanism.CountGrid(rowStd, persons))
	return &cutCounter{limit: c.limit, sums: []*mechanism.FixedSum{items, rows},
		each: func(row []uint32, share float64) {
			rows.AddShare(0, share)
			for _, item := range row {
				items.AddShare(int(item), share)
			}
		}}
}

// release returns the released counts, shrunk to reduce noise, and the number of records, at least
// one.
func (c itemCounts) release(ctx context.Context, r *synth.Run, noise float64) (perItem []float64,
	n float64, err error) {
	itemStd, rowStd := c.std(noise)
	out, err := r.Once(purposeItems, []int{c.dim, 1}, func() (float64, []mechanism.Part, error) {
		sums, err := r.Read(ctx, synth.Pass{Purpose: purposeItems})
		if err != nil {
			return 0, nil, err
		}
		list := sums.Sums()
		return 1 / noise, []mechanism.Part{{Sum: list[0], Std: itemStd}, {Sum: list[1], Std: rowStd}}, nil
	})
	if err != nil {
		return nil, 0, err
	}
	r.Report(purposeItems, 1, 1)
	n = max(out[1][0], rowStd, 1)
	perItem = defaults.ShrinkCounts(out[0], itemStd)
	for i, v := range perItem {
		perItem[i] = min(v, n)
	}
	return perItem, n, nil
}
