package kmeans

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

// public clusters the given public records by k-means++ and ordinary Lloyd iterations, without
// noise.
//
// Source: Arthur and Vassilvitskii 2007.
func (i Init) public(ctx context.Context, s start) ([][]float64, error) {
	data := records.Clamped(i.Records.Data()) // the records may be of a user-defined type
	n := data.Len()
	var b device.Batch
	data.Range(0, n, &b)
	if records.Failed(data) {
		return nil, errData
	}
	m := s.be.New(n, s.f.Dim())
	s.f.Transform(s.be, b, m)
	rows := download(s.be, m, s.clip)
	centers := plusPlus(rows, s)
	near, assigned := newNearest(s.be, s.k, s.f.Dim(), n), make([]int32, n)
	for range publicRounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		near.set(centers)
		near.assign(m, assigned)
		centers = means(rows, assigned, centers)
	}
	return centers, nil
}

// plusPlus draws centres from the rows by k-means++. The probability of each row is proportional to
// its squared distance from the nearest earlier centre.
func plusPlus(rows [][]float64, s start) [][]float64 {
	centers := [][]float64{slices.Clone(rows[s.rng.IntN(len(rows))])}
	far := make([]float64, len(rows))
	for i, r := range rows {
		far[i] = distance(r, centers)
	}
	for len(centers) < s.k {
		c := slices.Clone(rows[s.weighted(far)])
		centers = append(centers, c)
		for i, r := range rows {
			far[i] = min(far[i], distance(r, [][]float64{c}))
		}
	}
	return centers
}

// weighted draws an index with probability proportional to its weight, or uniformly if all weights
// are zero.
func (s start) weighted(w []float64) int {
	total := 0.0
	for _, v := range w {
		total += v
	}
	if total <= 0 {
		return s.rng.IntN(len(w))
	}
	at := s.rng.Float64() * total
	for i, v := range w {
		if at < v {
			return i
		}
		at -= v
	}
	return len(w) - 1
}

// means returns the mean of the public rows assigned to each centre. A centre without rows keeps
// its previous position.
func means(rows [][]float64, assigned []int32, previous [][]float64) [][]float64 {
	next, counts := zeros(len(previous), len(previous[0])), make([]float64, len(previous))
	for i, r := range rows {
		floats.Add(next[assigned[i]], r)
		counts[assigned[i]]++
	}
	for k := range next {
		if counts[k] == 0 {
			next[k] = slices.Clone(previous[k])
			continue
		}
		floats.Scale(1/counts[k], next[k])
	}
	return next
}
