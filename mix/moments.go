package mix

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
)

// MomentsConfig describes the parametric learner. Every field is public.
type MomentsConfig struct {
	// Frequencies is how many cosine frequencies a side images are described by, in a quarter disc:
	// a public guess that neighbouring pixels are alike. 0 means half the longer side for images.
	// Other records are described by their coordinates.
	Frequencies int
	Backend     device.Backend // nil for the CPU
}

// Moments is a parametric description of the records, one normal law a class, estimated from
// released mixtures. It is a source of as many labelled records as are wanted, and safe for
// concurrent use.
//
// Guarantee: post-processing of a release; it costs nothing.
type Moments struct {
	schema  records.Schema
	basis   *basis
	weights []float64
	means   [][]float64     // of every class, in the records' coordinates
	factors []*mat.Dense    // of every class: coefficients × components, Σ = F Fᵀ
	paint   []device.Matrix // of every class: components × dim, what a component looks like
}

// Moments estimates means and covariances of the classes.
//
// A mixture of about λ records of one class has covariance λ·E[xxᵀ] + s²·I around its mean, with a
// known s: what is above s² is the records'. Where noise alone would have put an eigenvalue it is
// dropped, and others are shrunk to what they must have been before noise lifted them, in every
// class; directions that a single class does not show are taken from the average of the classes,
// which shows more. Without [Config.ByClass] the class means come from a regression on the noisy
// labels that allows for their noise, and one covariance serves all classes.
//
// Of tables and sets these are moments of encoded records, and what is drawn from them are vectors;
// records of the schema come from the generator.
//
// Source of the shrinkage: Baik and Silverstein 2006; Benaych-Georges and Nadakuditi 2011.
// Errors: *param.Error where there are no classes or the records were projected.
func (m *Model) Moments(cfg MomentsConfig) (*Moments, error) {
	if err := m.made(); err != nil {
		return nil, err
	}
	c := m.work.config
	if c.Schema.Classes() == 0 || c.Projection.wanted() {
		return nil, mistake("Moments", c.Schema.String(), "labelled records that were not projected")
	}
	be := cfg.Backend
	if be == nil {
		be = device.CPU()
	}
	b, err := newBasis(c.Schema, cfg.Frequencies)
	if err != nil {
		return nil, err
	}
	out := &Moments{schema: m.RowSchema(), basis: b}
	e := &estimator{model: m, be: be, basis: b}
	if c.ByClass {
		e.byClass(out)
	} else {
		e.together(out)
	}
	out.prepare(be)
	return out, nil
}

// Classes is the number of classes.
func (m *Moments) Classes() int { return len(m.means) }

// Mean is the mean record of a class.
func (m *Moments) Mean(class int) []float64 { return append([]float64(nil), m.means[class]...) }

// Components is how many directions of a class could be told from noise.
func (m *Moments) Components(class int) int {
	_, cols := m.factors[class].Dims()
	return cols
}

// Schema is that of the records drawn, [Model.RowSchema].
func (m *Moments) Schema() records.Schema { return m.schema }

// Sample draws n labelled records: classes in the released proportions, each record from its
// class's normal law, clamped into the schema. Any seed will do.
//
// Errors: ctx.Err(); *param.Error for a negative n.
func (m *Moments) Sample(ctx context.Context, n int, seed uint64) (*records.Table, error) {
	if n < 0 {
		return nil, mistake("Moments.Sample.n", n, "zero or more")
	}
	rng := rand.New(rand.NewPCG(seed, 0x6d6f6d656e7473))
	dim := m.schema.Dim()
	flat, labels := make([]float32, n*dim), make([]int32, n)
	for i := range n {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		labels[i] = int32(m.pick(rng.Float64()))
	}
	for class := range m.means {
		var rows []int
		for i, l := range labels {
			if int(l) == class {
				rows = append(rows, i)
			}
		}
		m.draw(rng, class, rows, flat)
	}
	m.schema.Clamp(flat)
	t, err := records.FromFlat(m.schema, flat, labels...)
	return t, err
}

func (m *Moments) pick(u float64) int {
	for class, w := range m.weights {
		if u -= w; u < 0 {
			return class
		}
	}
	return len(m.weights) - 1
}

// draw fills some rows with records of one class: mean + Bᵀ·F·z.
func (m *Moments) draw(rng *rand.Rand, class int, rows []int, flat []float32) {
	const chunk = 512
	dim, paint := m.schema.Dim(), m.paint[class]
	be := device.CPU()
	for len(rows) > 0 {
		now := rows[:min(chunk, len(rows))]
		rows = rows[len(now):]
		z := device.HostMatrix(len(now), paint.Rows, make([]float32, len(now)*paint.Rows))
		for i := range z.Data {
			z.Data[i] = float32(rng.NormFloat64())
		}
		x := device.HostMatrix(len(now), dim, make([]float32, len(now)*dim))
		be.Gemm(false, false, 1, z, paint, 0, x)
		for k, i := range now {
			for j, v := range x.Row(k) {
				flat[i*dim+j] = v + float32(m.means[class][j])
			}
		}
	}
}

// prepare works out what a component of every class looks like: Fᵀ·B.
func (m *Moments) prepare(be device.Backend) {
	for _, f := range m.factors {
		coefficients, components := f.Dims()
		paint := device.HostMatrix(components, m.schema.Dim(), make([]float32, components*m.schema.Dim()))
		be.Gemm(true, false, 1, float32Matrix(f, coefficients, components), m.basis.rows, 0, paint)
		m.paint = append(m.paint, paint)
	}
}

// Described returns records as the moments describe them: the low frequencies of images, clamped
// into the domain. A network that learnt from drawn records tells such records apart better than
// sharper ones; the map is public and the same for every record.
//
// Errors: *param.Error for records of another dimension.
func (m *Moments) Described(t *records.Table) (*records.Table, error) {
	dim, b := m.schema.Dim(), m.basis.rows
	if t == nil {
		return nil, mistake("Moments.Described.t", nil, "records")
	}
	if t.Schema().Dim() != dim || !m.schema.IsImage() {
		if t.Schema().Dim() == dim {
			return t, nil // every coordinate is described
		}
		return nil, mistake("Moments.Described.t", t.Schema().Dim(), "records like those that were mixed")
	}
	be, n := device.CPU(), t.Len()
	flat := make([]float32, n*dim)
	for i := range n {
		t.Row(flat[i*dim:(i+1)*dim], i)
	}
	u := device.HostMatrix(n, b.Rows, make([]float32, n*b.Rows))
	x := device.HostMatrix(n, dim, flat)
	be.Gemm(false, true, 1, x, b, 0, u)
	be.Gemm(false, false, 1, u, b, 0, x)
	t.Schema().Clamp(flat)
	out, err := records.FromFlat(t.Schema(), flat, t.Labels()...)
	return out, err
}

func float32Matrix(m *mat.Dense, rows, cols int) device.Matrix {
	out := device.HostMatrix(rows, cols, make([]float32, rows*cols))
	for i := range rows {
		for j := range cols {
			out.Data[i*cols+j] = float32(m.At(i, j))
		}
	}
	return out
}

// basis is an orthonormal set of coefficients of a record: rows of the matrix.
type basis struct{ rows device.Matrix }

// newBasis is the low cosines of an image, or every coordinate.
func newBasis(s records.Schema, frequencies int) (*basis, error) {
	if !s.IsImage() {
		rows := device.HostMatrix(s.Dim(), s.Dim(), make([]float32, s.Dim()*s.Dim()))
		for i := range s.Dim() {
			rows.Data[i*s.Dim()+i] = 1
		}
		return &basis{rows}, nil
	}
	if frequencies == 0 {
		frequencies = (max(s.Height(), s.Width()) + 1) / 2
	}
	if frequencies < 1 || frequencies > max(s.Height(), s.Width()) {
		return nil, &param.Error{Path: "mix.MomentsConfig.Frequencies", Value: frequencies,
			Want: fmt.Sprintf("between 1 and %d", max(s.Height(), s.Width()))}
	}
	var flat []float32
	for a := range min(frequencies, s.Height()) {
		for b := range min(frequencies, s.Width()) {
			if a*a+b*b > frequencies*frequencies {
				continue
			}
			for y := range s.Height() {
				for x := range s.Width() {
					flat = append(flat, float32(cosine(a, y, s.Height())*cosine(b, x, s.Width())))
				}
			}
		}
	}
	return &basis{device.HostMatrix(len(flat)/s.Dim(), s.Dim(), flat)}, nil
}

// cosine is the i-th of n values of the f-th vector of the orthonormal discrete cosine transform.
func cosine(f, i, n int) float64 {
	if f == 0 {
		return 1 / math.Sqrt(float64(n))
	}
	return math.Sqrt(2/float64(n)) * math.Cos(math.Pi*(float64(i)+0.5)*float64(f)/float64(n))
}
