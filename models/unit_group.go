package models

import (
	"math"

	"github.com/seed7ba64551/privgen/device"
)

// groupUnit scales groups of a record's channels to mean 0 and variance 1 over all its positions,
// and then every channel by a gain and a shift. Source: Wu and He, "Group Normalization", 2018.
type groupUnit struct {
	gainUnit
	groups int
}

// stats returns memory for the mean and the scale of every channel of record i.
func (u *groupUnit) stats(t *pass, n *node, k, i int) device.Matrix {
	return t.keep(n, k, 2*u.channels).RowRange(i, i+1).Reshape(2, u.channels)
}

// moments sets stats to what a group's channels have in common.
func (u *groupUnit) moments(t *pass, x, stats device.Matrix) {
	t.be.Moments(stats, x, 0)
	host := toHost(t.be, stats, nil)
	means, scales := host.Row(0), host.Row(1)
	for lo, wide := 0, u.channels/u.groups; lo < u.channels; lo += wide {
		mean, variance := 0.0, 0.0
		for _, m := range means[lo : lo+wide] {
			mean += float64(m) / float64(wide)
		}
		for c := lo; c < lo+wide; c++ {
			off := float64(means[c]) - mean
			variance += (1/(float64(scales[c])*float64(scales[c])) + off*off) / float64(wide)
		}
		for c := lo; c < lo+wide; c++ {
			means[c], scales[c] = float32(mean), float32(1/math.Sqrt(variance+scalingEps))
		}
	}
	t.upload(stats, host)
}

func (u *groupUnit) forward(t *pass, n *node) {
	x, y := t.operand(n, 0), t.value(n)
	t.keep(n, 1, 2*u.channels)
	t.each(n, func(i int, _ uint64, _ [][]float32) {
		in, stats := u.at(x.RowRange(i, i+1)), u.stats(t, n, 1, i)
		u.moments(t, in, stats)
		t.be.Normalize(u.at(y.RowRange(i, i+1)), in, stats, t.blocks[n.first], t.blocks[n.first+1])
	})
}

// backward uses the derivative for groups of one channel, which NormalizeGradient computes along
// with the record's gradient, and adds what the means of a group differ by from those of its
// channels.
func (u *groupUnit) backward(t *pass, n *node) {
	x, d := t.operand(n, 0), t.delta(n)
	dx, add := t.give(n, 0)
	other := t.keep(n, 0, n.width)
	t.keep(n, 2, 2*u.channels)
	u.eachRecord(t, n, func(i int, gain, shift device.Matrix) {
		in, delta, stats := u.at(x.RowRange(i, i+1)), u.at(d.RowRange(i, i+1)), u.stats(t, n, 1, i)
		t.be.NormalizeGradient(delta, in, stats, t.blocks[n.first], gain, shift)
		if dx.Rows == 0 {
			return
		}
		more := u.stats(t, n, 2, i)
		u.differences(t, n, more, stats, gain, shift)
		to := u.at(dx.RowRange(i, i+1))
		sum := to
		if add {
			sum = u.at(other.RowRange(i, i+1))
		}
		t.be.Normalize(sum, in, stats, more.RowRange(0, 1), more.RowRange(1, 2))
		t.be.Axpy(1, delta, sum)
		if add {
			t.be.Axpy(1, sum, to)
		}
	})
}

// differences sets more to what the derivative lacks, as multiples of x̂ and of 1: the mean over the
// channel that was subtracted, minus the mean over the group.
func (u *groupUnit) differences(t *pass, n *node, more, stats, gain, shift device.Matrix) {
	weight, scale := toHost(t.be, t.blocks[n.first], nil).Row(0), toHost(t.be, stats, nil).Row(1)
	host := toHost(t.be, more, nil)
	for k, sums := range []device.Matrix{toHost(t.be, gain, nil), toHost(t.be, shift, nil)} {
		row := host.Row(k)
		for lo, wide := 0, u.channels/u.groups; lo < u.channels; lo += wide {
			mean := 0.0
			for c := lo; c < lo+wide; c++ {
				mean += float64(weight[c]) * float64(sums.Row(0)[c]) / float64(u.places*wide)
			}
			for c := lo; c < lo+wide; c++ {
				own := float64(weight[c]) * float64(sums.Row(0)[c]) / float64(u.places)
				row[c] = float32(float64(scale[c]) * (own - mean))
			}
		}
	}
	t.upload(more, host)
}
