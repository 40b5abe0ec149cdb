package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/records"
)

const (
	fraudNumbers = 28
	fraudPart    = 0.07 // fraction of the rare class
)

// fraud returns generated rows of the shape of a pool of frauds: 28 numbers within wide bounds, an
// amount, and a rare class. In about half of the columns, rows of the rare class are shifted. The
// shifts of a row have a common random factor, so some of these rows are hard to recognise. Rows of
// different draws have the same distribution.
func fraud(n int, seed, draw uint64) (*records.Frame, error) {
	var columns []records.Column
	for j := range fraudNumbers {
		columns = append(columns, records.Numeric(fmt.Sprintf("V%d", j), -20, 20))
	}
	s, err := records.NewSchema(append(columns, records.Numeric("Amount", 0, 30_000).Logarithmic(),
		records.Label("Class", "0", "1"))...)
	if err != nil {
		return nil, err
	}
	b, err := records.NewFrameBuilder(s)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	var shift, spread [fraudNumbers]float64
	for j := range shift {
		spread[j] = 2 * math.Pow(0.95, float64(j))
		if rng.Float64() < 0.5 {
			shift[j] = 2 * spread[j] * rng.NormFloat64()
		}
	}
	rng = rand.New(rand.NewPCG(seed, 2+draw))
	for range n {
		class := 0
		if rng.Float64() < fraudPart {
			class = 1
		}
		far := float64(class) * math.Abs(rng.NormFloat64())
		var row []any
		for j := range shift {
			row = append(row, spread[j]*(1+0.5*float64(class))*rng.NormFloat64()+shift[j]*far)
		}
		row = append(row, math.Exp(3+2*rng.NormFloat64()), fmt.Sprint(class))
		if err := b.Append(row...); err != nil {
			return nil, err
		}
	}
	return b.Frame(), nil
}
