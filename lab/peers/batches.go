package main

import (
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

// fixedBatches presents a table as a data set of batch records. Every reading gives new random
// records of the table. With sampling probability 1, a trainer thus gets random batches of constant
// size. It is for timing only: a guarantee about it is meaningless.
type fixedBatches struct {
	*records.Table
	batch int
	rng   *rand.Rand
	index []int32
	keys  []uint64
	drawn int // number of records drawn so far
}

func newFixedBatches(t *records.Table, batch int) *fixedBatches {
	return &fixedBatches{Table: t, batch: batch, rng: rand.New(rand.NewPCG(2, 2)),
		index: make([]int32, batch), keys: make([]uint64, batch)}
}

// Len returns the size of a batch.
func (d *fixedBatches) Len() int { return d.batch }

// Gather copies as many random records as requested.
func (d *fixedBatches) Gather(asked []int32, b *device.Batch) {
	index := d.index[:len(asked)]
	for i := range index {
		index[i] = int32(d.rng.IntN(rows))
	}
	d.drawn += len(index)
	d.Table.Gather(index, b)
}

// next fills b with a batch for a step without a trainer.
func (d *fixedBatches) next(b *device.Batch) {
	d.Gather(d.index, b)
	for i := range d.keys {
		d.keys[i] = d.rng.Uint64()
	}
	b.Keys = d.keys
}

// counted counts the records that a trainer reads, since a trainer does not reveal the sizes of
// Poisson samples.
type counted struct {
	*records.Table
	gathered int
}

// Gather copies the given rows.
func (d *counted) Gather(rows []int32, b *device.Batch) {
	d.gathered += len(rows)
	d.Table.Gather(rows, b)
}
