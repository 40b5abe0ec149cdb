package main

import (
	"context"
	"fmt"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
)

// draw returns the images to write, before they are changed: samples of the generator, beside
// copies of public images if a flag asks for them. Public images cost no privacy.
func (c config) draw(ctx context.Context, gen *privgen.Generator, d data) (*records.Table, error) {
	if !(c.written >= 0 && c.written < 1) {
		return nil, fmt.Errorf("-written %v: want a part from 0 to 1, below 1", c.written)
	}
	public := int(c.written * float64(c.samples))
	samples, err := c.sample(ctx, gen, d, c.samples-public)
	if err != nil || public == 0 {
		return samples, err
	}
	return joined(samples, copies(d.public, public))
}

// joined returns the images of both tables.
func joined(a, b *records.Table) (*records.Table, error) {
	all, err := records.Concat(a.Schema(), a, b)
	if err != nil {
		return nil, err
	}
	return all.(*records.Table), nil
}

// copies repeats images up to n.
func copies(t *records.Table, n int) *records.Table {
	rows := make([]int32, n)
	for i := range rows {
		rows[i] = int32(i % t.Len())
	}
	return t.Take(rows)
}

const mostRounds = 20 // of samples for -agree

// sample draws n samples. With -agree it omits samples to which a classifier trained on distorted
// public images gives another label.
func (c config) sample(ctx context.Context, gen *privgen.Generator, d data,
	n int) (*records.Table, error) {
	if !c.agree {
		return drawn(ctx, gen, n, c.seed)
	}
	public, err := c.finish.Apply(copies(d.public, max(c.samples, d.public.Len())), c.seed+1)
	if err != nil {
		return nil, err
	}
	by, err := classify.Convolutional{}.Fit(public)
	if err != nil {
		return nil, err
	}
	var all *records.Table
	seen := 0
	for round := range uint64(mostRounds) {
		some, err := drawn(ctx, gen, n, c.seed+1000*round)
		if err != nil {
			return nil, err
		}
		seen += n
		if some, err = c.agreeing(by, some); err != nil {
			return nil, err
		}
		if all == nil {
			all = some
		} else if all, err = joined(all, some); err != nil {
			return nil, err
		}
		if all.Len() >= n {
			break
		}
	}
	fmt.Printf("the classifier of public images agrees with %.1f %% of %d samples\n",
		100*float64(all.Len())/float64(seen), seen)
	return all.Slice(0, min(n, all.Len())), nil
}

// agreeing returns the images to which the classifier gives their own label. The classifier sees
// them as they are written, but not distorted.
func (c config) agreeing(by *classify.Classifier, t *records.Table) (*records.Table, error) {
	plain := c.finish
	plain.Distort = 0
	seen, err := plain.Apply(t, 0)
	if err != nil {
		return nil, err
	}
	named, err := by.Predict(seen)
	if err != nil {
		return nil, err
	}
	var rows []int32
	for i, class := range named {
		if int(class) == t.Label(i) {
			rows = append(rows, int32(i))
		}
	}
	return t.Take(rows), nil
}

func drawn(ctx context.Context, gen *privgen.Generator, n int, seed uint64) (*records.Table,
	error) {
	rows, err := gen.Sample(ctx, n, privgen.Seed(seed))
	if err != nil {
		return nil, err
	}
	t, ok := rows.(*records.Table)
	if !ok {
		return nil, fmt.Errorf("samples are %T, not a table of images", rows)
	}
	return t, nil
}
