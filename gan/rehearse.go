package gan

// Before the first critic step the generator is trained to match the released means of every class,
// and the released mean squares of numbers. This is post-processing. These constants configure this
// training.
const (
	rehearsals      = 300
	rehearsalBatch  = 256
	rehearsalRate   = 3e-3
	squareOfNumbers = 1.0 // weight of the distance of mean squares
)

func (r *run) rehearse() (step func()) {
	l, classes, dim := r.learner, max(r.config.classes(), 1), r.config.Schema.Dim()
	targets := make([]moments, classes)
	for c := range targets {
		targets[c].mean, targets[c].square = r.told.moments(c, dim)
		targets[c].numbers = r.told.cells.columns
	}
	labels := make([]int32, rehearsalBatch)
	flat, delta := make([]float32, rehearsalBatch*dim), make([]float32, rehearsalBatch*dim)
	dx := l.be.New(rehearsalBatch, dim)
	return func() {
		for i := range labels {
			labels[i] = int32(i % classes)
		}
		l.be.Download(flat, l.net.Forward(l.maker.Draw(r.rng, labels)))
		for c, t := range targets {
			t.gradient(delta, flat, c, classes)
		}
		l.be.Upload(dx, delta)
		l.move(r.opener, dx)
	}
}

// moments holds the released moments of one class.
type moments struct {
	mean, square []float64
	numbers      []column
}

// gradient sets the rows first, first+classes, first+2·classes, … of delta to the gradient of the
// squared distance between t and the moments of these rows of flat.
func (t moments) gradient(delta, flat []float32, first, classes int) {
	dim := len(t.mean)
	rows := len(flat) / dim
	n := float64((rows - first + classes - 1) / classes)
	mean, square := make([]float64, dim), make([]float64, dim)
	for i := first; i < rows; i += classes {
		for j, v := range flat[i*dim : (i+1)*dim] {
			mean[j] += float64(v) / n
			square[j] += float64(v) * float64(v) / n
		}
	}
	for i := first; i < rows; i += classes {
		for j := range dim {
			delta[i*dim+j] = float32(2 * (mean[j] - t.mean[j]) / n)
		}
		for _, col := range t.numbers {
			if col.ranked() {
				at := i*dim + col.Offset
				slope := 2 * (square[col.Offset] - t.square[col.Offset]) / n
				delta[at] += float32(squareOfNumbers * slope * 2 * float64(flat[at]))
			}
		}
	}
}

// settleAverage sets the average to the current parameters.
func (l *learner) settleAverage() {
	if l.average != nil {
		copy(l.average, l.params)
	}
}
