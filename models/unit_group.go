package models

import (
	"math"

	"github.com/seed7ba64551/privgen/device"
)

// groupUnit scales groups of a record's channels to mean 0 and variance 1 over all its positions,
// and then every channel by a gain and a shift, before it applies f. Source: Wu and He, "Group
// Normalization", 2018.
type groupUnit struct {
	gainUnit
	groups int
	f      device.Func // of the result
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
	t.share(t.rows, func(i int) {
		in, stats := u.at(x.RowRange(i, i+1)), u.stats(t, n, 1, i)
		u.moments(t, in, stats)
		out := u.at(y.RowRange(i, i+1))
		t.be.Normalize(out, in, stats, t.blocks[n.first], t.blocks[n.first+1])
		if u.f != device.Identity {
			t.be.Apply(u.f, out, out)
		}
	})
}

// rows returns the records' gradients with respect to the gain and the shift.
func (u *groupUnit) rows(t *pass, n *node) (gain, shift device.Matrix) {
	return t.keep(n, 3, u.channels), t.keep(n, 4, u.channels)
}

// backward uses the derivative for groups of one channel, which NormalizeGradient computes along
// with the record's gradient, and adds what the means of a group differ by from those of its
// channels.
func (u *groupUnit) backward(t *pass, n *node) {
	x, d := t.operand(n, 0), t.delta(n)
	gain, shift := u.rows(t, n)
	t.share(t.rows, func(i int) {
		t.be.Gradient(u.f, d.RowRange(i, i+1), t.value(n).RowRange(i, i+1))
		t.be.NormalizeGradient(u.at(d.RowRange(i, i+1)), u.at(x.RowRange(i, i+1)),
			u.stats(t, n, 1, i), t.blocks[n.first], gain.RowRange(i, i+1), shift.RowRange(i, i+1))
	})
	t.keep(n, 2, 2*u.channels)
	t.pull(n, 0, func(dx device.Matrix) {
		t.share(t.rows, func(i int) {
			stats, more := u.stats(t, n, 1, i), u.stats(t, n, 2, i)
			u.differences(t, n, more, stats, gain.RowRange(i, i+1), shift.RowRange(i, i+1))
			t.be.Normalize(u.at(dx.RowRange(i, i+1)), u.at(x.RowRange(i, i+1)), stats,
				more.RowRange(0, 1), more.RowRange(1, 2))
		})
		t.be.Axpy(1, d, dx)
	})
}

// differences sets more to what the derivative lacks, as multiples of x̂ and of 1: the mean over
// the channel that was subtracted, minus the mean over the group.
func (u *groupUnit) differences(t *pass, n *node, more, stats, gain, shift device.Matrix) {
	weight, scale := toHost(t.be, t.blocks[n.first], nil).Row(0), toHost(t.be, stats, nil).Row(1)
	host, wide := toHost(t.be, more, nil), u.channels/u.groups
	for k, sums := range []device.Matrix{gain, shift} {
		row, sum := host.Row(k), toHost(t.be, sums, nil).Row(0)
		for lo := 0; lo < u.channels; lo += wide {
			mean := 0.0
			for c := lo; c < lo+wide; c++ {
				mean += float64(weight[c]) * float64(sum[c]) / float64(wide)
			}
			for c := lo; c < lo+wide; c++ {
				row[c] = float32(float64(scale[c]) * (float64(weight[c])*float64(sum[c]) - mean) /
					float64(u.places))
			}
		}
	}
	t.upload(more, host)
}

func (u *groupUnit) uses(t *pass, n *node, list []use) []use {
	gain, shift := u.rows(t, n)
	return append(list, use{weight: -1, bias: n.first, rows: 1, d: gain},
		use{weight: -1, bias: n.first + 1, rows: 1, d: shift})
}
