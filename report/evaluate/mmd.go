package evaluate

import (
	"errors"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/internal/compare"
	"github.com/seed7ba64551/privgen/report/internal/judge"
)

// Gaussians is a kernel: the mean of exp(−‖x−y‖²/(2σ²)) over bandwidths σ. Records are compared in
// their encoding: dense records are scaled to [0, 1], and the class is appended one-hot.
type Gaussians struct {
	Bandwidths []float64 // nil for ⅛, ¼ and ½ of the root of the number of coordinates
}

// validate reports every invalid setting.
//
// Errors: *[param.Error], joined.
func (g Gaussians) validate() error {
	var errs []error
	for i, s := range g.Bandwidths {
		if !(s > 0 && s < 1e9) {
			errs = append(errs,
				param.New(fmt.Sprintf("evaluate.Gaussians.Bandwidths[%d]", i), s, "a positive finite number"))
		}
	}
	return errors.Join(errs...)
}

// Discrepancy is the squared maximum mean discrepancy from real records, by the
// unbiased estimator, which may be negative.
//
// Source: Gretton et al. 2012, "A kernel two-sample test", equation 3.
type Discrepancy struct {
	Kernel     string    `json:"kernel"`
	Bandwidths []float64 `json:"bandwidths"`
	Compared
}

// Discrepancy compares all given records, in time quadratic in their number. [Fidelity] draws a
// sample of the records first.
//
// Errors: *[param.Error] for invalid settings, and *[param.Error] for records of different schemas
// or fewer than two of a kind. Guarantee: none; see the package.
func (g Gaussians) Discrepancy(synthetic, real, held records.Data) (Discrepancy, error) {
	err := errors.Join(g.validate(), compare.Alike("evaluate.Gaussians", real, synthetic, held))
	if err == nil && min(synthetic.Len(), real.Len(), held.Len()) < 2 {
		err = param.New("evaluate.Gaussians records", "too few", "at least two of each kind")
	}
	if err != nil {
		return Discrepancy{}, err
	}
	return g.compare(synthetic, real, held), nil
}

func (g Gaussians) compare(synthetic, real, held records.Data) Discrepancy {
	x, y, z := newCloud(synthetic), newCloud(real), newCloud(held)
	widths := g.Bandwidths
	if widths == nil {
		root := math.Sqrt(float64(y.points.Cols))
		widths = []float64{root / 8, root / 4, root / 2}
	}
	within := y.mean(y, widths)
	return Discrepancy{
		Kernel: fmt.Sprintf(
			"kernel: mean of exp(−‖x−y‖²/(2σ²)) over σ = %.3g, class appended one-hot", widths),
		Bandwidths: widths,
		Compared: Compared{
			Synthetic: x.mean(x, widths) + within - 2*x.mean(y, widths),
			HeldOut:   z.mean(z, widths) + within - 2*z.mean(y, widths),
		},
	}
}

// String prints the discrepancies, marked as not private.
func (d Discrepancy) String() string {
	return fmt.Sprintf("%ssquared MMD %.3e, of held-out records %.3e; %s (%s)", judge.Mark,
		d.Synthetic, d.HeldOut, d.Kernel, judge.Caveat)
}

// MarshalJSON writes the result with its caveat.
func (d Discrepancy) MarshalJSON() ([]byte, error) {
	type plain Discrepancy
	return compare.JSON("maximum mean discrepancy", plain(d))
}

// cloud holds records as points, with their squared norms.
type cloud struct {
	points device.Matrix
	norms  []float64
}

func newCloud(d records.Data) *cloud {
	s, dim := d.Schema(), d.Schema().Dim()
	width := dim + s.Classes()
	c := &cloud{points: device.HostMatrix(d.Len(), width, make([]float32, d.Len()*width)),
		norms: make([]float64, d.Len())}
	for lo, b := range judge.Batches(judge.InSchema(d)) {
		judge.ToUnit(s, b)
		read := compare.NewReader(*b)
		for i := range b.Rows {
			copy(c.points.Row(lo+i), read.Row(i))
			if b.Labels != nil {
				c.points.Row(lo + i)[dim+int(b.Labels[i])] = 1
			}
		}
	}
	device.CPU().RowSquaredNorms(c.norms, c.points)
	return c
}

// mean returns the mean kernel between the points of two clouds, or between the different points of
// one cloud.
func (c *cloud) mean(o *cloud, widths []float64) float64 {
	const tile = 256
	be := device.CPU()
	products := be.New(tile, o.points.Rows)
	kernel := be.New(tile, o.points.Rows)
	sum := 0.0
	for lo := 0; lo < c.points.Rows; lo += tile {
		hi := min(lo+tile, c.points.Rows)
		d, k := products.RowRange(0, hi-lo), kernel.RowRange(0, hi-lo)
		be.Gemm(false, true, 1, c.points.RowRange(lo, hi), o.points, 0, d)
		for i := range hi - lo {
			for j, p := range d.Row(i) {
				d.Row(i)[j] = float32(max(c.norms[lo+i]+o.norms[j]-2*float64(p), 0))
			}
		}
		for _, s := range widths {
			sum += kernelSum(be, d, k, s, c == o, lo)
		}
	}
	n, m := float64(len(c.norms)), float64(len(o.norms))
	if c == o {
		m--
	}
	return sum / (n * m * float64(len(widths)))
}

// kernelSum adds up the kernel over a tile of squared distances, without the diagonal if both sides
// are the same points.
func kernelSum(be device.Backend, distances, k device.Matrix, width float64, same bool,
	lo int) float64 {
	be.Fill(k, 0)
	be.Axpy(float32(-1/(2*width*width)), distances, k)
	be.Apply(device.Exp, k, k)
	sum := 0.0
	for i := range k.Rows {
		for _, v := range k.Row(i) {
			sum += float64(v)
		}
		if same {
			sum -= float64(k.Row(i)[lo+i])
		}
	}
	return sum
}
