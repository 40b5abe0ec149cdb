package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/records"
)

const (
	spikyCounts  = 6
	spikyNumbers = 3
	spikyLevels  = 4
)

// spiky returns generated rows with counts of which a few single values are frequent, such as
// numbers of bytes. A count has 3 to 30 frequent values in half to nine tenths of the rows, with
// frequencies like 1, 1/2, 1/3 and so on. Which of them are probable depends on a hidden group of
// the row. Other counts are log-normal. Three numbers are narrow peaks within wide bounds, and
// levels and the class depend on the group. Rows of different draws have the same distribution.
func spiky(n int, seed, draw uint64) (*records.Frame, error) {
	var columns []records.Column
	var most [spikyCounts]float64
	for j := range spikyCounts {
		most[j] = math.Pow(10, float64(3+j))
		c := records.Integer(fmt.Sprintf("count%d", j), 0, int(most[j]))
		if j != 1 {
			c = c.Logarithmic()
		}
		columns = append(columns, c)
	}
	for j := range spikyNumbers {
		columns = append(columns, records.Numeric(fmt.Sprintf("number%d", j), -50, 50))
	}
	for j := range spikyLevels {
		columns = append(columns, records.Categorical(fmt.Sprintf("level%d", j), "a", "b", "c", "d", "e"))
	}
	s, err := records.NewSchema(append(columns, records.Label("class", "0", "1"))...)
	if err != nil {
		return nil, err
	}
	b, err := records.NewFrameBuilder(s)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(seed, 3))
	var frequent [spikyCounts][]int
	var part [spikyCounts]float64
	for j := range frequent {
		part[j] = 0.5 + 0.4*rng.Float64()
		for range 3 + rng.IntN(28) {
			frequent[j] = append(frequent[j], int(math.Exp(rng.Float64()*math.Log(most[j]))))
		}
	}
	rng = rand.New(rand.NewPCG(seed, 4+draw))
	for range n {
		group := rng.IntN(5)
		var row []any
		for j, values := range frequent {
			v := math.Exp(math.Log(most[j]) * (0.35 + 0.05*float64(group) + 0.12*rng.NormFloat64()))
			if rng.Float64() < part[j] {
				rank := int(math.Exp(rng.Float64()*math.Log(float64(len(values)+1)))) - 1
				v = float64(values[(rank+group*j)%len(values)])
			}
			row = append(row, int(min(v, most[j])))
		}
		for j := range spikyNumbers {
			row = append(row, (0.3+float64(j))*rng.NormFloat64()+0.4*float64(group))
		}
		for j := range spikyLevels {
			row = append(row, string(rune('a'+(group*(j+1)+int(rng.ExpFloat64()))%5)))
		}
		class := "0"
		if rng.Float64() < 1/(1+math.Exp(3-float64(group))) {
			class = "1"
		}
		if err := b.Append(append(row, class)...); err != nil {
			return nil, err
		}
	}
	return b.Frame(), nil
}
