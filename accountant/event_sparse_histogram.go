package accountant

import (
	"errors"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
	"github.com/seed7ba64551/privgen/internal/param"
)

// SparseHistogram is one release of the counts of values that are not known beforehand, such as the
// texts of a column. Each count that is not zero gets normal noise, and the values whose noisy
// counts reach the threshold are released with these counts.
//
// A record counts 1 for at most Cells values. Values of several columns are different values.
//
// Price: suppose that m of the values of a record are of no other record. Without the record they
// are never released, so releasing any of them reveals the record: this has the probability
// δ = 1 − (1−p)^m, where p is the probability that a count of 1 reaches the threshold. The other
// counts change by 1 each, which is a Gaussian release of effect √(Cells−m)/σ. The hockey-stick
// curve is the largest over m of δ plus 1−δ times the curve of that Gaussian. Under ReplaceOne a
// record may also take values away that no other record has. Since such values are released under
// one neighbour only, the worst is that all values alone are of one of the two records, and the
// effect is √(2·Cells−m)/σ.
//
// Source: Wilkins, Kifer, Zhang and Karrer 2024, Exact Privacy Analysis of the Gaussian Sparse
// Histogram Mechanism. Among all mechanisms that release which values there are, and whose curve
// for a change of one count is that of a Gaussian, this one releases each with the largest
// probability; compare Desfontaines, Voss, Gipson and Mandayam 2022.
type SparseHistogram struct {
	Sigma     float64 `json:"sigma"`     // standard deviation of the noise on a count
	Threshold float64 `json:"threshold"` // the least noisy count that is released
	Cells     int     `json:"cells"`     // largest number of counts to which a record adds 1
}

// mostCells bounds the number of curves whose maximum is the price.
const mostCells = 64

func (e SparseHistogram) check() error {
	var errs []error
	if !(e.Threshold > 1) || math.IsInf(e.Threshold, 0) {
		errs = append(errs, param.New("accountant.SparseHistogram.Threshold", e.Threshold,
			"a finite number above 1, the count of a single record"))
	}
	if e.Cells < 1 || e.Cells > mostCells {
		errs = append(errs, param.New("accountant.SparseHistogram.Cells", e.Cells,
			fmt.Sprintf("a number from 1 to %d", mostCells)))
	}
	return errors.Join(append(errs, positive("accountant.SparseHistogram.Sigma", e.Sigma))...)
}

func (SparseHistogram) kind() string { return "sparse_histogram" }

func (e SparseHistogram) describe() string {
	return fmt.Sprintf("sparse histogram, noisy counts of at least %.6g, standard deviation %.6g, "+
		"a record in %d of them", e.Threshold, e.Sigma, e.Cells)
}

func (SparseHistogram) sampling() sampling { return everyRecord() }

func (e SparseHistogram) charge(c *collector, n int) error {
	changed := e.Cells
	if c.relation == ReplaceOne {
		changed *= 2
	}
	return c.push(sparseAtom{e, changed}, n)
}

func (e SparseHistogram) dpAccounting(Relation) (string, error) { return notInDPAccounting(e) }

// sparseAtom is a sparse histogram of which one neighbour changes the given number of counts.
type sparseAtom struct {
	SparseHistogram
	changed int
}

func (a sparseAtom) key() string {
	return fmt.Sprintf("sparse %b %b %d %d", a.Sigma, a.Threshold, a.Cells, a.changed)
}

// effect returns the effect of the counts of values that both neighbours have, if m values are of
// one neighbour alone.
func (a sparseAtom) effect(m int) float64 {
	return max(math.Sqrt(float64(a.changed-m))/a.Sigma, leastEffect)
}

// alone returns the probability that any of m values with a count of 1 is released, rounded up.
func (a sparseAtom) alone(m int) float64 {
	one := math.Erfc((a.Threshold-1)/a.Sigma/math.Sqrt2) / 2 * (1 + 1e-12)
	return min(1, -math.Expm1(float64(m)*math.Log1p(-max(one, 1e-300)))*(1+8*ulp))
}

// rdp returns the divergence of the Gaussian, since slack holds what is lost to δ.
func (a sparseAtom) rdp(order float64) (float64, bool) {
	return gaussianAtom{a.effect(0)}.rdp(order)
}

func (a sparseAtom) slack() float64 { return a.alone(a.Cells) }

// own says that larger losses than any number have the probability that slack returns. So an ε that
// is infinite is known before any grid is made.
func (a sparseAtom) own() (eps, delta float64) { return math.Inf(1), a.slack() }

func (a sparseAtom) pairs() *pld.Pairs {
	revealed := pld.NewSymmetric([]float64{0}, []float64{0}, 1)
	curves := []pld.Pair{pld.Gauss{Mu: a.effect(0)}}
	for m := 1; m <= a.Cells; m++ {
		var rest pld.Pair = pld.Gauss{Mu: a.effect(m)}
		if m == a.changed {
			rest = pld.NewSymmetric([]float64{0}, []float64{1}, 0)
		}
		curves = append(curves, pld.NewBlend(a.alone(m), revealed, rest))
	}
	return &pld.Pairs{Remove: pld.NewMaximum(curves), Envelope: true}
}
