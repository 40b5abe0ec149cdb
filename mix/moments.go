package mix

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/records"
)

// Moments describes the records by one normal distribution per class, estimated from released
// mixtures. Any number of labelled records can be drawn from these distributions. Moments is safe
// for concurrent use.
//
// Guarantee: post-processing of a release; it costs no privacy.
type Moments struct {
	schema  records.Schema
	basis   *basis
	weights network.Choice // of the classes
	means   [][]float64    // by class, in the records' coordinates
	factors []*mat.Dense   // by class: F, coefficients × components; Σ = F Fᵀ
	// paint holds the components of every class in the records' coordinates: components × dim
	paint []device.Matrix
}

// Moments estimates the mean and the covariance of every class.
//
// A mixture of about λ records of one class has covariance λ·E[xxᵀ] + s²·I around its mean. Since s
// is known, the excess over s² is due to the records. In every class, eigenvalues within the range
// of pure noise are dropped, and the others are shrunk to correct the bias that noise causes.
// Directions that are significant only in the average of the classes are taken from that average.
// Without [Config.ByClass] the class means come from a regression on the noisy labels, corrected
// for their noise, and all classes share one covariance.
//
// An image is described by its cosine coefficients at the pairs of low frequencies in a quarter
// disc. Its radius is half the longer side. This assumes that neighbouring pixels are similar.
// Records other than images are described by their coordinates.
//
// Source of the shrinkage: Baik and Silverstein 2006; Benaych-Georges and Nadakuditi 2011. Errors:
// *param.Error if there are no classes, and if the records were projected.
func (m *Model) Moments() (*Moments, error) {
	if err := m.made(); err != nil {
		return nil, err
	}
	c := m.work.config
	if c.Schema.Classes() == 0 || c.Projection.wanted() {
		return nil, mistake("Moments", c.Schema.String(),
			"a release of labelled records without projection")
	}
	e := &estimator{m, device.CPU(), m.work.std * m.work.std}
	out := &Moments{schema: m.Schema(), basis: newBasis(c.Schema)}
	if c.ByClass {
		out.byClass(e)
	} else {
		out.byLabel(e)
	}
	out.prepare(e.be)
	return out, nil
}

// byClass estimates every class from its own mixtures.
func (m *Moments) byClass(e *estimator) {
	classes := e.rows.classes
	each, count, held := make([]*mat.SymDense, classes), make([]int, classes), make([]float64, classes)
	for class := range classes {
		p := e.part(class)
		each[class] = e.covariance(m.basis.describe(e.be, p.x))
		if p.center == nil {
			// The random number of records in a sum, of mean and variance λ, adds (λμ)(λμ)ᵀ/λ to the
			// covariance, where μ is the mean record.
			sum := m.basis.of(mat.NewVecDense(len(p.sum), p.sum)).ColView(0)
			each[class].SymRankOne(each[class], -1/p.held, sum)
		}
		m.means, count[class], held[class] = append(m.means, p.mean), p.rows, p.held
	}
	average := floats.Sum(held) / float64(classes)
	pooled := pool(each, count, held, e.noise, average)
	common := spikes(pooled, e.noise, e.rows.Len()).over(average)
	for class := range classes {
		own := spikes(each[class], e.noise, count[class]).over(held[class])
		m.factors = append(m.factors, own.beside(common, m.basis.rows.Rows))
	}
	m.weights = network.NewChoice(held)
}

// pool averages the covariances of single records over the classes, multiplies the result by the
// average number of records in a sum, and adds the noise. Classes whose rows were all lost to
// interruptions are left out.
func pool(each []*mat.SymDense, count []int, held []float64, noise, average float64) *mat.SymDense {
	there := 0
	pooled := mat.NewSymDense(each[0].SymmetricDim(), nil)
	part := mat.NewSymDense(each[0].SymmetricDim(), nil)
	for class, s := range each {
		if count[class] > 0 {
			there++
			part.CopySym(s)
			addIdentity(part, -noise)
			part.ScaleSym(average/held[class], part)
			pooled.AddSym(pooled, part)
		}
	}
	pooled.ScaleSym(1/float64(max(there, 1)), pooled)
	addIdentity(pooled, noise)
	return pooled
}

// byLabel estimates class means and one covariance from mixtures of all classes.
func (m *Moments) byLabel(e *estimator) {
	f := e.regress()
	m.means, m.weights = f.records, network.NewChoice(f.shares)
	s := e.covariance(m.basis.describe(e.be, f.x))
	takeBetween(s, m.basis.of(f.means), f.counts)
	common := spikes(s, e.noise, e.rows.Len()).over(max(f.together, 1))
	for range f.records {
		m.factors = append(m.factors, common.beside(spectrum{}, m.basis.rows.Rows))
	}
}

// Classes returns the number of classes.
func (m *Moments) Classes() int { return len(m.means) }

// Components returns the number of directions in which a class varies by more than the noise.
func (m *Moments) Components(class int) int {
	_, cols := m.factors[class].Dims()
	return cols
}

// Schema returns the schema of drawn records, which is [Model.Schema].
func (m *Moments) Schema() records.Schema { return m.schema }

// Sample draws n labelled records. It draws each record's class with the estimated class
// probabilities, and then the record from the normal distribution of the class, clamped to the
// schema. The seed may be public.
//
// Errors: ctx.Err(); *param.Error for a negative n.
func (m *Moments) Sample(ctx context.Context, n int, seed uint64) (*records.Table, error) {
	if n < 0 {
		return nil, mistake("Moments.Sample.n", n, "a non-negative number of records")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	flat, labels := make([]float32, n*m.schema.Dim()), make([]int32, n)
	m.fill(rand.New(rand.NewPCG(seed, 0x6d6f6d656e7473)), flat, labels)
	return records.FromFlat(m.schema, flat, labels...)
}

// fill draws a label for every record and then the records.
func (m *Moments) fill(rng *rand.Rand, flat []float32, labels []int32) {
	of := make([][]int, m.Classes())
	for i := range labels {
		class := m.weights.Pick(rng, -1)
		labels[i] = int32(class)
		of[class] = append(of[class], i)
	}
	for class, rows := range of {
		m.draw(rng, class, rows, flat)
	}
	m.schema.Clamp(flat)
}

// imageNoise is the default standard deviation of the noise that FitMoments adds to drawn images,
// as a fraction of the range of a pixel. docs/defaults.md has the measurements.
const imageNoise = 0.1

// blur adds noise to drawn images. The standard deviation is std, or by default imageNoise times
// the range of a pixel if std is 0. If std is negative, blur adds nothing.
func (m *Moments) blur(rng *rand.Rand, flat []float32, std float64) {
	if std < 0 || !m.schema.IsImage() {
		return
	}
	if lo, hi := m.schema.Bounds(); std == 0 {
		std = imageNoise * (hi - lo)
	}
	for i := range flat {
		flat[i] += float32(std * rng.NormFloat64())
	}
}

// draw fills the given rows with records of one class: mean + Bᵀ·F·z.
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

// prepare computes the components of every class in the records' coordinates: Fᵀ·B.
func (m *Moments) prepare(be device.Backend) {
	for _, f := range m.factors {
		coefficients, components := f.Dims()
		paint := device.HostMatrix(components, m.schema.Dim(), make([]float32, components*m.schema.Dim()))
		be.Gemm(true, false, 1, float32Matrix(f, coefficients, components), m.basis.rows, 0, paint)
		m.paint = append(m.paint, paint)
	}
}

// Described projects images to the low frequencies that the moments describe and clamps the result
// to the domain. Other records are returned unchanged. A network trained on drawn records
// classifies the projected images better than the sharper originals. The projection is public and
// the same for every record.
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
		return nil, mistake("Moments.Described.t", t.Schema().Dim(),
			fmt.Sprintf("records with %d coordinates, like the mixed ones", dim))
	}
	be, n := device.CPU(), t.Len()
	x := device.HostMatrix(n, dim, make([]float32, n*dim))
	for i := range n {
		t.Row(x.Row(i), i)
	}
	be.Gemm(false, false, 1, m.basis.describe(be, x), b, 0, x)
	t.Schema().Clamp(x.Data)
	return records.FromFlat(t.Schema(), x.Data, t.Labels()...)
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

// basis is a set of orthonormal vectors by whose coefficients records are described. The vectors
// are the rows of a matrix.
type basis struct{ rows device.Matrix }

// describe returns the coefficients of records.
func (b *basis) describe(be device.Backend, x device.Matrix) device.Matrix {
	u := device.HostMatrix(x.Rows, b.rows.Rows, make([]float32, x.Rows*b.rows.Rows))
	be.Gemm(false, true, 1, x, b.rows, 0, u)
	return u
}

// of returns the coefficients of vectors, which are the columns of a matrix.
func (b *basis) of(vectors mat.Matrix) *mat.Dense {
	_, n := vectors.Dims()
	out := mat.NewDense(b.rows.Rows, n, nil)
	for k := range b.rows.Rows {
		for j, v := range b.rows.Row(k) {
			for c := range n {
				out.Set(k, c, out.At(k, c)+float64(v)*vectors.At(j, c))
			}
		}
	}
	return out
}

// newBasis returns the basis of low cosine frequencies for images, and the identity otherwise.
func newBasis(s records.Schema) *basis {
	if !s.IsImage() {
		rows := device.HostMatrix(s.Dim(), s.Dim(), make([]float32, s.Dim()*s.Dim()))
		for i := range s.Dim() {
			rows.Data[i*s.Dim()+i] = 1
		}
		return &basis{rows}
	}
	frequencies := (max(s.Height(), s.Width()) + 1) / 2
	var flat []float32
	for a := range min(frequencies, s.Height()) {
		for b := range min(frequencies, s.Width()) {
			if a*a+b*b > frequencies*frequencies {
				continue
			}
			for channel := range s.Channels() {
				flat = appendCosine(flat, s, a, b, channel)
			}
		}
	}
	return &basis{device.HostMatrix(len(flat)/s.Dim(), s.Dim(), flat)}
}

// appendCosine appends the basis image of one pair of frequencies in one channel. All other
// channels are 0.
func appendCosine(flat []float32, s records.Schema, a, b, channel int) []float32 {
	for y := range s.Height() {
		for x := range s.Width() {
			for c := range s.Channels() {
				v := 0.0
				if c == channel {
					v = cosine(a, y, s.Height()) * cosine(b, x, s.Width())
				}
				flat = append(flat, float32(v))
			}
		}
	}
	return flat
}

// cosine returns the i-th of n values of the f-th vector of the orthonormal discrete cosine
// transform.
func cosine(f, i, n int) float64 {
	if f == 0 {
		return 1 / math.Sqrt(float64(n))
	}
	return math.Sqrt(2/float64(n)) * math.Cos(math.Pi*(float64(i)+0.5)*float64(f)/float64(n))
}
