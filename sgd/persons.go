package sgd

import (
	"math"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
)

// Training by person: an example is all rows of one person, and its gradient the mean of the
// gradients of these rows, weighted by their shares. Everything else is as with records: persons
// are sampled, the norm of the mean is what is clipped and what clip norms are chosen by, and the
// clipped vector is rounded to units once. So what one person changes is what one record would.
//
// The mean is computed as one float32 vector from a batch that holds this person's rows and no
// others, and its norm is measured on that very vector. Norms that are computed without it, from
// those of single rows or from products of two, would not do: where gradients of many rows cancel,
// such a norm is small while the terms that a sum of weighted rows then adds are not, and their
// rounding errors are a multiple of the clip norm.
//
// It costs a pass over all parameters for each person that is sampled.

// WithPersons says that the data will be persons (records.Persons), so that New refuses what cannot
// be trained by person instead of Steps: networks on a device whose memory is not the host's.
func WithPersons() Option { return func(t *Trainer) { t.byPerson = true } }

// examples tells where the examples of a micro-batch are among its rows.
type examples struct {
	persons *records.Persons // nil where every row is an example
	ends    []int32          // of each person's rows in the micro-batch
	share   []float32        // of each row
	rows    []int32          // of persons.Rows
	keys    []uint64
}

// takePersons has the trainer sum person by person.
func (t *Trainer) takePersons(path string) error {
	if t.exact == nil {
		return param.New(path, "persons of several rows on a device with memory of its own",
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
			e.keys = append(e.keys, rowKey(t.keys[i], row-first))
		}
		e.ends = append(e.ends, int32(len(e.rows)))
	}
	e.persons.Rows().Gather(e.rows, &t.batch)
	t.batch.Keys = e.keys
}

// rowKey returns the key of a person's j-th row: the person's own for the first.
func rowKey(key uint64, j int) uint64 { return key + uint64(j)*0x9e3779b97f4a7c15 }

// count returns how many examples the micro-batch has.
func (e *examples) count(rows int) int {
	if e.persons == nil {
		return rows
	}
	return len(e.ends)
}

// span returns where the rows of an example are.
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

// sumAlone has records added one by one from now on.
func (f *fixedSum) sumAlone(p device.Params) {
	if f.alone() {
		return
	}
	f.form = models.FixedForm{Terms: 1, Reach: 1}
	f.makeRoom(p)
}

// without sets the weights of rows to 0 whose norms are not finite: what is left of a person is
// still a function of that person alone.
func (f *fixedSum) without(shares []float32, norms []float64) []float32 {
	f.kept = append(f.kept[:0], shares...)
	for i, s := range norms {
		if !(s < math.Inf(1)) {
			f.kept[i] = 0
		}
	}
	return f.kept
}
