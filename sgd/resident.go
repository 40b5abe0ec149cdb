package sgd

import (
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/chunked"
	"github.com/seed7ba64551/privgen/mechanism"
)

// resident is what a device with separate memory keeps from step to step, so that neither sums nor
// parameters cross the bus: the moments of Adam, the average, and the sum with its noise. The host
// has the same numbers, of an earlier step: see toHost.
type resident struct {
	sum           noisySum
	m, v, average device.Matrix
	here, there   bool // whether the host, or the device, has the current numbers
}

// noisySum is a sum in the memory of a device that gets its noise there, and then moves parameters.
type noisySum interface {
	chunked.Device
	Adam(p, m, v, average device.Matrix, lo, hi int, scale float64, mix float32, a device.AdamStep)
}

// newResident returns nil if noise or the optimiser need the host.
func newResident(t *Trainer) *resident {
	be, ok := t.be.(interface {
		NoisySum(units device.Memory, n int) any
	})
	if !ok || t.exact == nil || t.exact.sum.Mem == nil || t.opt.own != nil ||
		t.opt.state.cfg.Rule != adam || t.cfg.Bands > 1 {
		return nil
	}
	n := t.params.Len()
	r := &resident{here: true, m: t.be.New(1, n), v: t.be.New(1, n)}
	if t.average != nil {
		r.average = t.be.New(1, n)
	}
	r.sum, ok = be.NoisySum(t.exact.sum.Mem, n).(noisySum)
	if !ok {
		return nil
	}
	return r
}

// stays reports whether the current sum gets its noise on the device. If a part of it is on the
// host, the whole sum goes there.
func (t *Trainer) stays() bool {
	return t.resident != nil && t.finish == nil && !t.exact.carried
}

// releaseThere is release on the device.
func (t *Trainer) releaseThere(grant *mechanism.Grant, sum mechanism.Gradient) error {
	r := t.resident
	t.toDevice()
	sum.Device, sum.Dim, sum.Unit = r.sum, t.exact.size, float64(t.exact.sum.Unit)
	t.opt.begin()
	t.mix = t.averageWeight()
	if err := grant.ReleaseGradient(sum, nil); err != nil {
		return err
	}
	t.exact.released()
	r.here = false
	lo := 0
	for _, s := range t.divisors() {
		r.sum.Adam(t.params.Flat, r.m, r.v, r.average, lo, s.end, s.scale, t.mix,
			t.opt.state.adamStep())
		lo = s.end
	}
	return t.clip.finish(grant)
}

// toHost brings the current parameters, moments and average to the host.
func (t *Trainer) toHost() {
	if r := t.resident; r != nil && !r.here {
		t.be.Download(t.master, t.params.Flat)
		t.be.Download(t.opt.state.m, r.m)
		t.be.Download(t.opt.state.v, r.v)
		t.be.Download(t.average, r.average)
		r.here = true
	}
}

// toDevice brings the current moments and average to the device.
func (t *Trainer) toDevice() {
	if r := t.resident; !r.there {
		t.be.Upload(r.m, t.opt.state.m)
		t.be.Upload(r.v, t.opt.state.v)
		t.be.Upload(r.average, t.average)
		r.there = true
	}
}

// changed records that the host has moved the parameters, or their moments or average.
func (t *Trainer) changed() {
	if r := t.resident; r != nil {
		r.here, r.there = true, false
	}
}
