package models

import "github.com/seed7ba64551/privgen/device"

// groupUnit scales groups of a record's channels to mean 0 and variance 1 over all its positions,
// and then every channel by a gain and a shift, before it applies f. Source: Wu and He, "Group
// Normalization", 2018.
type groupUnit struct {
	gainUnit
	groups int
	f      device.Func // of the result
}

// stats returns the means and the scales of every channel of the records, in host memory.
func (u *groupUnit) stats(t *pass, n *node) device.Matrix {
	return toHost(t.be, t.keep(n, 1, 2*u.channels), nil)
}

// of returns record i, with a row for each position or, for stats, two rows.
func (u *groupUnit) of(m device.Matrix, i int) device.Matrix {
	return m.RowRange(i, i+1).Reshape(m.Cols/u.channels, u.channels)
}

func (u *groupUnit) forward(t *pass, n *node) {
	x, y, stats := toHost(t.be, t.operand(n, 0), nil), toHost(t.be, t.value(n), nil), u.stats(t, n)
	gain, shift := toHost(t.be, t.blocks[n.first], nil), toHost(t.be, t.blocks[n.first+1], nil)
	t.share(t.rows, func(i int) {
		out := u.of(y, i)
		host.NormalizeGroups(u.channels/u.groups, scalingEps, out, u.of(x, i), u.of(stats, i), gain,
			shift)
		host.BiasApply(u.f, out, device.Matrix{})
	})
	upload(t.be, t.keep(n, 1, 2*u.channels), stats)
	upload(t.be, t.value(n), y)
}

// rows returns the records' gradients with respect to the gain and the shift.
func (u *groupUnit) rows(t *pass, n *node) (gain, shift device.Matrix) {
	return t.keep(n, 3, u.channels), t.keep(n, 4, u.channels)
}

// backward overwrites the derivative that arrives, unless the operand's can be set.
func (u *groupUnit) backward(t *pass, n *node) {
	x, y, d := toHost(t.be, t.operand(n, 0), nil), toHost(t.be, t.value(n), nil), t.delta(n)
	stats, gain := u.stats(t, n), toHost(t.be, t.blocks[n.first], nil)
	gains, shifts := u.rows(t, n)
	dGain, dShift := toHost(t.be, gains, nil), toHost(t.be, shifts, nil)
	delta, dx := toHost(t.be, d, nil), d
	dst := delta
	to, add := t.give(n, 0)
	if to.Rows > 0 && !add {
		dx, dst = to, toHost(t.be, to, nil)
	}
	t.share(t.rows, func(i int) {
		host.Gradient(u.f, delta.RowRange(i, i+1), y.RowRange(i, i+1))
		host.NormalizeGroupsGradient(u.channels/u.groups, u.of(dst, i), u.of(delta, i), u.of(x, i),
			u.of(stats, i), gain, dGain.RowRange(i, i+1), dShift.RowRange(i, i+1))
	})
	upload(t.be, dx, dst)
	upload(t.be, gains, dGain)
	upload(t.be, shifts, dShift)
	if add {
		t.be.Axpy(1, d, to)
	}
}

func (u *groupUnit) uses(t *pass, n *node, list []use) []use {
	gain, shift := u.rows(t, n)
	return append(list, use{weight: -1, bias: n.first, rows: 1, d: gain},
		use{weight: -1, bias: n.first + 1, rows: 1, d: shift})
}
