package merf

import (
	"sync"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
)

// ensemble is the state of training all networks of one generator against one release.
type ensemble struct {
	e       *Embedding
	g       GeneratorConfig
	be      device.Backend
	members []*training
	cores   [][]*training // the members that each core trains
	done    int           // steps made
}

// newEnsemble prepares the training of all networks and divides the cores among them.
func newEnsemble(e *Embedding, g GeneratorConfig, be device.Backend) (*ensemble, error) {
	m := &ensemble{e: e, g: g, be: be}
	backends, parts := device.Divide(be, g.Generators), divide(e, g)
	m.cores = make([][]*training, len(backends))
	for i := range g.Generators {
		own, core := g, i%len(backends)
		// Runs with consecutive seeds do not share a member's seed.
		own.Seed += uint64(i) * 0x9e3779b97f4a7c15
		t, err := newTraining(e, parts, own, backends[core])
		if err != nil {
			return nil, err
		}
		m.members, m.cores[core] = append(m.members, t), append(m.cores[core], t)
	}
	return m, nil
}

// step makes one training step of every network.
func (m *ensemble) step() {
	m.each(func(t *training) { t.step(m.done) })
	m.done++
}

// each calls work for every network. The cores run concurrently.
func (m *ensemble) each(work func(*training)) {
	var group sync.WaitGroup
	for _, own := range m.cores[1:] {
		group.Go(func() {
			for _, t := range own {
				work(t)
			}
		})
	}
	for _, t := range m.cores[0] {
		work(t)
	}
	group.Wait()
}

// model finishes the training and returns the model.
func (m *ensemble) model() (*Model, error) {
	m.each((*training).finish)
	out := &Model{schema: m.e.config.Schema, generator: m.g, backend: m.be,
		shares: m.e.proportions()}
	for _, t := range m.members {
		net, err := m.onAllCores(t)
		if err != nil {
			return nil, err
		}
		out.nets = append(out.nets, net)
	}
	return out, nil
}

// onAllCores returns a member's network on the backend that uses all cores.
func (m *ensemble) onAllCores(t *training) (models.Generator, error) {
	if len(m.cores) == 1 {
		return t.net, nil
	}
	net, err := t.g.network(m.be, m.e.config.Schema)
	if err != nil {
		return nil, err
	}
	m.be.Apply(device.Identity, net.Params().Flat, t.net.Params().Flat)
	return net, net.SetState(t.net.AppendState(nil))
}
