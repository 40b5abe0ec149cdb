package sgd

import (
	"math"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
)

// In training by person, an example consists of all rows of one person. Its gradient is the mean of
// the gradients of these rows, weighted by their shares. Otherwise a person is treated like a
// record. Persons are sampled, the norm of the mean enters the choice of the clip norm, and the
// mean is clipped. The clipped vector is rounded to units once. So one person changes the sum by no
// more than one record would.
//
// The mean is computed as one float32 vector from a batch that holds only this person's rows. Its
// norm is measured on this vector. A norm computed from norms of single rows, or from inner
// products of pairs of rows, would not be enough. If the gradients of many rows cancel, such a norm
// is small although the weighted terms are large. The rounding errors of these terms can then be a
// multiple of the clip norm.
//
// Computing the mean takes a pass over all parameters for each sampled person.

// WithPersons declares that the data will be persons (records.Persons). Networks on a device with
// separate memory that has no sums in fixed point (see device.FixedSums) cannot be trained by
// person. With this option New refuses them; otherwise only Steps would refuse them.
func WithPersons() Option { return func(t *Trainer) { t.byPerson = true } }

// examples maps the rows of a micro-batch to examples.
type examples struct {
	persons *records.Persons // nil if every row is an example
	ends    []int32          // end of each person's rows in the micro-batch
	share   []float32        // share of each row
	rows    []int32          // numbers of the rows in persons.Rows
	keys    []uint64
}

// takePersons makes the trainer sum person by person. It returns an error if the sum is not in
// fixed point.
func (t *Trainer) takePersons(path string) error {
	if t.exact == nil {
		return param.New(path, "persons of several rows on a device without sums in fixed point",
			"a network on device.CPU, which sums the gradients of persons one by one")
	}
	t.exact.sumAlone(t.net.Params())
	return nil
}

// gatherPersons reads all rows of the sampled persons lo to hi−1.
func (t *Trainer) gatherPersons(lo, hi int) {
	e := &t.of
	e.rows, e.ends, e.share, e.keys = e.rows[:0], e.ends[:0], e.share[:0], e.keys[:0]
	for i := lo; i < hi; i++ {
		first, last := e.persons.Span(int(t.index[i]))
		for row := first; row < last; row++ {
			e.rows = append(e.rows, int32(row))
			e.share = append(e.share, e.persons.Share(row))
			// The first row has the person's own key.
			e.keys = append(e.keys, t.keys[i]+uint64(row-first)*0x9e3779b97f4a7c15)
		}
		e.ends = append(e.ends, int32(len(e.rows)))
	}
	e.persons.Rows().Gather(e.rows, &t.batch)
	t.batch.Keys = e.keys
}

// count returns the number of examples in the micro-batch.
func (e *examples) count(rows int) int {
	if e.persons == nil {
		return rows
	}
	return len(e.ends)
}

// span returns the range of rows of an example.
func (e *examples) span(i int) (lo, hi int) {
	if e.persons == nil {
		return i, i + 1
	}
	if i > 0 {
		lo = int(e.ends[i-1])
	}
	return lo, int(e.ends[i])
}

// weights returns the shares of an example's rows.
func (e *examples) weights(i int) []float32 {
	if e.persons == nil {
		return oneRow
	}
	lo, hi := e.span(i)
	return e.share[lo:hi]
}

var oneRow = []float32{1}

// sumAlone makes f add records one by one from now on.
func (f *fixedSum) sumAlone(p device.Params) {
	if f.alone() {
		return
	}
	f.form = models.FixedForm{Terms: 1, Reach: 1}
	f.makeRoom(p)
}

// without returns the shares, with 0 for rows whose norms are not finite. The result still depends
// on this person's rows only.
func (f *fixedSum) without(shares []float32, norms []float64) []float32 {
	f.kept = append(f.kept[:0], shares...)
	for i, s := range norms {
		if !(s < math.Inf(1)) {
			f.kept[i] = 0
		}
	}
	return f.kept
}
