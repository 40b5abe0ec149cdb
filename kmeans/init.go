package kmeans

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// Method determines the first centres. No method reads private records.
type Method int

const (
	// MeanFirst puts every centre at the origin, so that the first iteration releases the mean of all
	// records. It then puts the centres around the mean in random directions. This uses one iteration,
	// but no centre starts far from all records.
	MeanFirst Method = iota
	// FromPublic starts at the centres of a clustering of given public records.
	FromPublic
	// Given starts at given centres.
	Given
)

// Init determines the first centres. The zero value means [MeanFirst].
type Init struct {
	Method Method `json:"method"`
	// Records are the public records of FromPublic. They must have the schema of the private records.
	// They are clustered by k-means++ and 20 iterations without noise.
	Records records.Public `json:"-"`
	// Centers are the centres of Given, in feature space.
	Centers [][]float32 `json:"centers,omitempty"`
}

// Public returns an Init that clusters public records.
func Public(data records.Public) Init { return Init{Method: FromPublic, Records: data} }

const (
	startRadius  = 0.1 // distance of MeanFirst's centres from the mean, as a fraction of the clip norm
	publicRounds = 20
)

func (i Init) validate(k *param.Checker, centers int) {
	const path = "kmeans.Init."
	k.OK(methodNames.Known(i.Method), path+"Method", int(i.Method), "MeanFirst, FromPublic or Given")
	given := i.Records.Data()
	k.OK(i.Method != FromPublic || given != nil && given.Len() >= 1, path+"Records", "none",
		"public records")
	k.OK(i.Method != Given || len(i.Centers) == centers, path+"Centers", len(i.Centers),
		fmt.Sprintf("%d centres, the number of centres of the Config", centers))
}

// check finds given centres that do not fit the feature space, and public records that do not fit
// the schema.
func (i Init) check(k *param.Checker, dim int, s records.Schema) {
	wrong := slices.IndexFunc(i.Centers, func(c []float32) bool { return len(c) != dim || !finite(c) })
	k.OK(wrong < 0, "kmeans.Init.Centers", fmt.Sprintf("centre %d", wrong),
		fmt.Sprintf("centres of %d finite coordinates", dim))
	if given := i.Records.Data(); i.Method == FromPublic && given != nil {
		k.OK(given.Schema().Dim() == s.Dim() && given.Schema().Sparse() == s.Sparse(),
			"kmeans.Init.Records", given.Schema().String(), "records with the private records' schema")
	}
}

func finite(c []float32) bool {
	for _, v := range c {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return false
		}
	}
	return true
}

// start holds the public values from which the first centres are computed.
type start struct {
	be   device.Backend
	f    Features
	k    int
	clip float64
	rng  *rand.Rand
}

func (i Init) centers(ctx context.Context, s start) ([][]float64, error) {
	switch i.Method {
	case FromPublic:
		return i.public(ctx, s)
	case Given:
		return i.given(s), nil
	}
	return zeros(s.k, s.f.Dim()), nil
}

// packing draws several random directions for each centre and chooses the one farthest from the
// previous centres.
func packing(s start) [][]float64 {
	const tries = 20
	c := make([][]float64, 0, s.k)
	for range s.k {
		var best []float64
		far := -1.0
		for range tries {
			v := direction(s.rng, s.f.Dim(), startRadius*s.clip)
			if d := distance(v, c); best == nil || d > far {
				best, far = v, d
			}
		}
		c = append(c, best)
	}
	return c
}

// distance returns the squared distance from v to the nearest centre.
func distance(v []float64, centers [][]float64) float64 {
	near := math.Inf(1)
	for _, c := range centers {
		var d float64
		for j := range v {
			d += (v[j] - c[j]) * (v[j] - c[j])
		}
		near = min(near, d)
	}
	return near
}

// spreadAround returns k centres at the same distance from the mean in random directions. The next
// assignment then depends on a record's direction from the mean.
func spreadAround(mean []float64, s start) [][]float64 {
	c := packing(s)
	for _, v := range c {
		floats.Add(v, mean)
		project(v, s.clip)
	}
	return c
}

func (i Init) given(s start) [][]float64 {
	c := zeros(s.k, s.f.Dim())
	for k, row := range i.Centers {
		for j, v := range row {
			c[k][j] = float64(v)
		}
		project(c[k], s.clip)
	}
	return c
}

func zeros(k, dim int) [][]float64 {
	c := make([][]float64, k)
	for i := range c {
		c[i] = make([]float64, dim)
	}
	return c
}

// download clips the rows of m and copies them to the host.
func download(be device.Backend, m device.Matrix, clip float64) [][]float64 {
	squared := make([]float64, m.Rows)
	be.RowSquaredNorms(squared, m)
	clipRows(be, m, clip, squared, make([]float32, m.Rows))
	flat := make([]float32, m.Rows*m.Cols)
	be.Download(flat, m)
	c := zeros(m.Rows, m.Cols)
	for i := range c {
		for j := range c[i] {
			c[i][j] = float64(flat[i*m.Cols+j])
		}
	}
	return c
}
