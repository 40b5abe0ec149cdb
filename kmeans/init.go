package kmeans

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

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
	// Radius is the distance of MeanFirst's centres from the mean, as a fraction of the clip norm; 0
	// means 0.1.
	Radius float64 `json:"radius,omitempty"`
	// Records are the public records of FromPublic. They must have the schema of the private records.
	// They are clustered by k-means++ and Rounds iterations without noise; 0 rounds means 20.
	Records records.Public `json:"-"`
	Rounds  int            `json:"rounds,omitempty"`
	// Centers are the centres of Given, in feature space.
	Centers [][]float32 `json:"centers,omitempty"`
}

// Public returns an Init that clusters public records.
func Public(data records.Public) Init { return Init{Method: FromPublic, Records: data} }

const (
	defaultRadius = 0.1
	defaultRounds = 20
)

func (i Init) validate(k int) error {
	var errs []error
	bad := func(field string, value any, want string) {
		errs = append(errs, &param.Error{Path: "kmeans.Init." + field, Value: value, Want: want})
	}
	if !methodNames.Known(i.Method) {
		bad("Method", int(i.Method), "MeanFirst, FromPublic or Given")
	}
	if !(i.Radius >= 0 && i.Radius <= 1) {
		bad("Radius", i.Radius, "a fraction of the clip norm in [0, 1]")
	}
	if i.Rounds < 0 {
		bad("Rounds", i.Rounds, "a non-negative number of iterations; 0 means 20")
	}
	if given := i.Records.Data(); i.Method == FromPublic && (given == nil || given.Len() < 1) {
		bad("Records", "none", "public records")
	}
	if i.Method == Given && len(i.Centers) != k {
		bad("Centers", len(i.Centers), fmt.Sprintf("%d centres, the number of centres of the Config", k))
	}
	return errors.Join(errs...)
}

// check returns errors if given centres do not fit the feature space or public records do not fit
// the schema.
func (i Init) check(dim int, s records.Schema) error {
	var errs []error
	for _, c := range i.Centers {
		if len(c) != dim {
			errs = append(errs,
				&param.Error{Path: "kmeans.Init.Centers", Value: len(c),
					Want: fmt.Sprintf("centres of %d coordinates", dim)})
			break
		}
		if !finite(c) {
			errs = append(errs,
				&param.Error{Path: "kmeans.Init.Centers", Value: "not finite", Want: "finite coordinates"})
			break
		}
	}
	if given := i.Records.Data(); i.Method == FromPublic && given != nil &&
		(given.Schema().Dim() != s.Dim() || given.Schema().Sparse() != s.Sparse()) {
		errs = append(errs,
			&param.Error{Path: "kmeans.Init.Records", Value: given.Schema().String(),
				Want: "records with the private records' schema"})
	}
	return errors.Join(errs...)
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

func (i Init) radius(clip float64) float64 {
	if i.Radius == 0 {
		return defaultRadius * clip
	}
	return i.Radius * clip
}

// packing draws several random directions for each centre and chooses the one farthest from the
// previous centres.
func (i Init) packing(s start) [][]float64 {
	const tries = 20
	c := make([][]float64, 0, s.k)
	for range s.k {
		var best []float64
		far := -1.0
		for range tries {
			v := direction(s.rng, s.f.Dim(), i.radius(s.clip))
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
func (i Init) spreadAround(mean []float64, s start) [][]float64 {
	c := i.packing(s)
	for _, v := range c {
		axpy(v, 1, mean)
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
