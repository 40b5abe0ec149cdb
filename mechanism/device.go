package mechanism

import (
	"slices"

	"github.com/seed7ba64551/privgen/internal/chunked"
	"github.com/seed7ba64551/privgen/internal/entropy"
)

// there makes the noise of a sum on the device that holds the sum, and adds it there. It draws from
// the same streams as run, and the same bits. Chunks with a draw that the device does not decide
// are drawn here, and so are all chunks if this machine cannot hand over a key.
func (p *parallel) there(d chunked.Device) {
	dim := p.spec.dim()
	count := (dim + chunk - 1) / chunk
	left := slices.Repeat([]int32{-1}, count)
	if entropy.OnDevices() {
		left = d.Draw(p.described(p.lanes[:count], dim))
	}
	if len(p.workers) == 0 {
		p.workers = append(p.workers, newWorker(p, 0))
	}
	for i, buffers := range left {
		if buffers >= 0 {
			p.lanes[i].Skip(int(buffers))
			continue
		}
		steps := make([]float64, min(chunk, dim-i*chunk))
		p.workers[0].open(i)
		p.workers[0].drawSteps(p.normal, steps)
		d.Replace(i*chunk, steps)
	}
	d.Sum(p.spec.Unit*p.inverse, p.grid)
}

// described describes the noise to a device.
func (p *parallel) described(lanes []*entropy.Stream, dim int) *chunked.Chunks {
	c := &chunked.Chunks{Size: chunk, Dim: dim}
	p.normal.Describe(c)
	for _, lane := range lanes {
		keys, first, number := lane.Counter()
		c.Schedule, c.Counters = keys, append(c.Counters, first, number)
	}
	return c
}

// there makes a release on a device. With a test's tap, the numbers also come to the host.
func (g *Grant) there(job *parallel, effect, std float64) error {
	defer func() { job.spec = Gradient{} }()
	d := job.spec.Device
	if g.a.run.tap == nil {
		job.there(d)
		return nil
	}
	job.spec.Units = make([]int32, job.spec.Dim)
	d.Units(job.spec.Units)
	rel := g.told(job, effect, std)
	job.there(d)
	d.Noisy(rel.Outputs[0])
	if err := g.a.run.tap.Release(rel); err != nil {
		return err
	}
	d.Replace(0, rel.Outputs[0])
	return nil
}
