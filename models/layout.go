package models

import (
	"fmt"

	"github.com/seed7ba64551/privgen/device"
)

// A Block is a range of consecutive coordinates of a record, such as the coordinates of one column
// of a table. The blocks of a record cover all its coordinates.
type Block struct {
	Width int `json:"width"`
	// OneHot means that exactly one coordinate is 1 and the others are 0: a choice of one level. The
	// coordinates of any other block are numbers in [0,1].
	OneHot bool `json:"one_hot,omitempty"`
	// Missing means that the last coordinate of a block of numbers is an indicator: 1 if the numbers
	// are missing, and 0 otherwise. Missing numbers are 0.
	Missing bool `json:"missing,omitempty"`
}

// numbers returns the number of coordinates of a block that are numbers.
func (b Block) numbers() int {
	switch {
	case b.OneHot:
		return 0
	case b.Missing:
		return b.Width - 1
	}
	return b.Width
}

func (v Visible) checkBlocks(c *checker) {
	const path = "models.Visible.Blocks"
	if len(v.Blocks) == 0 {
		return
	}
	c.OK(!v.Sparse, path, len(v.Blocks), "no blocks: sparse records are sets of items")
	total := 0
	for i, b := range v.Blocks {
		at := fmt.Sprintf("%s[%d]", path, i)
		c.OK(b.Width > 0 && b.Width <= maxHeads, at+".Width", b.Width,
			fmt.Sprintf("an integer from 1 to %d", maxHeads))
		c.OK(!b.Missing || !b.OneHot && b.Width > 1, at+".Missing", b.Missing,
			"false, or a block of numbers of width 2 or more; a missing level of OneHot is one more level")
		total = min(total+max(min(b.Width, maxHeads), 0), maxHeads)
	}
	c.OK(total == v.Dim, path, total,
		fmt.Sprintf("%d coordinates together, as Visible.Dim says", v.Dim))
}

// output returns the element-wise function after the last layer. The function turns sums into
// means, or is the identity if a layout computes the means afterwards.
func (v Visible) output() device.Func {
	if len(v.Blocks) > 0 {
		return device.Identity
	}
	return v.Likelihood.output()
}

// layout turns the sums of a last layer into the means of a record in blocks, and means into draws.
type layout struct {
	blocks []Block
	heads  *headUnit
}

// newLayout returns the layout of v's blocks, or nil if there are none.
func newLayout(v Visible) *layout {
	if len(v.Blocks) == 0 {
		return nil
	}
	number := SigmoidHead
	if v.Likelihood == GaussianUnit {
		number = Linear
	}
	var heads []Head
	for _, b := range v.Blocks {
		switch {
		case b.OneHot:
			heads = append(heads, Head{Width: b.Width, Out: SoftmaxHead})
		case b.Missing:
			heads = append(heads, Head{Width: b.numbers(), Out: number},
				Head{Width: 1, Out: SigmoidHead})
		default:
			heads = append(heads, Head{Width: b.Width, Out: number})
		}
	}
	return &layout{v.Blocks, newHeadUnit(heads)}
}

// means turns sums into means in place.
func (l *layout) means(be device.Backend, sums device.Matrix) {
	if l != nil && sums.Rows > 0 {
		l.heads.apply(be, sums)
	}
}

// each calls f with every block and its first coordinate.
func (l *layout) each(f func(b Block, lo int)) {
	lo := 0
	for _, b := range l.blocks {
		f(b, lo)
		lo += b.Width
	}
}

// dropMissing multiplies the derivatives with respect to numbers by 1 − missing indicator. The
// reason: the likelihood of a record is the likelihood of its missing indicators times the
// likelihood of the numbers that are present. present is scratch, a column.
func (l *layout) dropMissing(be device.Backend, delta, x, present device.Matrix) {
	l.each(func(b Block, lo int) {
		if !b.Missing {
			return
		}
		last := lo + b.numbers()
		be.Fill(present, 1)
		be.Axpy(-1, x.Slice(0, x.Rows, last, last+1), present)
		for j := lo; j < last; j++ {
			d := delta.Slice(0, delta.Rows, j, j+1)
			be.Mul(d, d, present)
		}
	})
}

// compete subtracts Σ log(1 + eˢ), over the sums s of a block's numbers, from the sum of the
// missing indicator. The mean of the indicator is then the probability of the state "missing" among
// all states of the block. The other states are the choices of zeros and ones for the numbers.
// column is scratch with as many rows as sums.
func (l *layout) compete(be device.Backend, sums, column device.Matrix) {
	l.each(func(b Block, lo int) {
		if !b.Missing {
			return
		}
		last := lo + b.numbers()
		for j := lo; j < last; j++ {
			be.Apply(device.Softplus, column, sums.Slice(0, sums.Rows, j, j+1))
			be.Axpy(-1, column, sums.Slice(0, sums.Rows, last, last+1))
		}
	})
}

// loss returns the negative log-likelihood of the record x. delta is the means minus x, after
// dropMissing.
func (l *layout) loss(number Likelihood, delta, x []float32) (sum float64) {
	l.each(func(b Block, lo int) {
		present := 1.0
		if b.Missing {
			last := lo + b.numbers()
			flag := float64(x[last])
			present = 1 - flag
			sum += Bernoulli.loss(float64(delta[last])+flag, flag)
		}
		for j := lo; j < lo+b.numbers(); j++ {
			if v := float64(x[j]); present != 0 {
				sum += present * number.loss(float64(delta[j])/present+v, v)
			}
		}
		if !b.OneHot {
			return
		}
		for j := lo; j < lo+b.Width; j++ {
			v := float64(x[j])
			sum -= v * logOf(delta[j]+x[j])
		}
	})
	return sum
}

// draw replaces means with draws of zeros and ones: one level of each one-hot block, and zeros for
// numbers that are missing.
func (l *layout) draw(s *stream, row []float32) {
	if l == nil {
		s.bernoulli(row)
		return
	}
	l.each(func(b Block, lo int) {
		part := row[lo : lo+b.Width]
		if b.OneHot {
			s.level(part)
			return
		}
		s.bernoulli(part)
		if b.Missing && part[b.Width-1] == 1 {
			clear(part[:b.Width-1])
		}
	})
}

// holds reports whether draw can produce the given row of zeros and ones.
func (l *layout) holds(row []float32) bool {
	ok := true
	l.each(func(b Block, lo int) {
		part, ones := row[lo:lo+b.Width], float32(0)
		for _, v := range part {
			ones += v
		}
		ok = ok && (!b.OneHot || ones == 1) && (!b.Missing || part[b.Width-1] == 0 || ones == 1)
	})
	return ok
}
