package models

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
)

// chains are the persistent Gibbs chains of a Boltzmann machine. Their number is public, they start
// from a public seed, and they depend only on released parameters and public randomness. So they
// are post-processing.
type chains struct {
	be     device.Backend
	layout *layout
	seed   uint64
	step   uint64
	count  int
	state  device.Matrix // count × visible, zeros and ones
	hidden device.Matrix // count × (hidden+1), the last column 1
	column device.Matrix // scratch
	host   []float32

	// The blocks of the negative phase N′, the mean of v̂′ĥ′ᵀ.
	inner   device.Matrix // [N | n_v], visible × (hidden+1)
	border  device.Matrix // [n_h | 1]
	squared float64       // ‖N′‖²
	norms   []float64
}

func newChains(be device.Backend, a RBM, l *layout, visible int, seed uint64) *chains {
	k := &chains{be: be, layout: l, seed: seed, count: a.Chains,
		state: be.New(a.Chains, visible), hidden: be.New(a.Chains, a.Hidden+1),
		inner: be.New(visible, a.Hidden+1), border: be.New(1, a.Hidden+1),
		column: be.New(a.Chains, 1), norms: make([]float64, visible)}
	be.Fill(k.hidden, 1)
	be.Fill(k.state, float32(a.VisibleBias))
	if l != nil {
		l.compete(be, k.state, k.column)
		l.means(be, k.state)
	} else {
		be.Apply(device.Sigmoid, k.state, k.state)
	}
	k.sample(k.state, l)
	return k
}

func (k *chains) units() device.Matrix { return k.hidden.Slice(0, k.count, 0, k.hidden.Cols-1) }

// advance makes Gibbs sweeps. A sweep samples the hidden units given the visible ones, then the
// visible units given the hidden ones.
func (k *chains) advance(n *rbm, sweeps int) {
	for range sweeps {
		k.meanHidden(n)
		k.sample(k.units(), nil)
		n.meanVisible(k.units(), k.state, k.column)
		k.sample(k.state, k.layout)
	}
}

func (k *chains) meanHidden(n *rbm) {
	k.be.Gemm(false, false, 1, k.state, n.w, 0, k.units())
	k.be.BiasApply(device.Sigmoid, k.units(), n.c)
}

// sample replaces probabilities with draws from the chains' public randomness. l is the layout of
// the units, or nil if all units are independent.
func (k *chains) sample(m device.Matrix, l *layout) {
	k.step++
	draw := func(host device.Matrix) {
		for i := range host.Rows {
			s := newStream(k.seed, k.step, uint64(i))
			l.draw(&s, host.Row(i))
		}
	}
	if m.Mem == nil {
		draw(m)
		return
	}
	k.host = grow(k.host, m.Rows*m.Cols)
	k.be.Download(k.host, m)
	draw(device.HostMatrix(m.Rows, m.Cols, k.host))
	k.be.Upload(m, k.host)
}

// refresh computes the negative phase from the mean field of the hidden units.
func (k *chains) refresh(n *rbm) {
	k.meanHidden(n)
	share := 1 / float32(k.count)
	k.be.Gemm(true, false, share, k.state, k.hidden, 0, k.inner)
	k.be.ColSums(nil, k.hidden, 0, k.border)
	host := grow(k.host, k.border.Cols)
	k.host = host
	k.be.Download(host, k.border)
	for j := range host {
		host[j] *= share
	}
	host[len(host)-1] = 1 // the corner, which must cancel exactly
	k.be.Upload(k.border, host)
	k.measure()
}

func (k *chains) measure() {
	k.be.RowSquaredNorms(k.norms[:1], k.border)
	k.squared = k.norms[0]
	k.be.RowSquaredNorms(k.norms, k.inner)
	for _, x := range k.norms {
		k.squared += x
	}
}

// addMeans adds total times (N, n_v, n_h) to the blocks of dst.
func (k *chains) addMeans(dst device.Params, total float32) {
	last := k.inner.Cols - 1
	k.be.Axpy(total, k.inner.Slice(0, k.inner.Rows, 0, last), dst.Block(rbmWeights))
	bias := dst.Block(rbmVisible) // as a column
	bias.Rows, bias.Cols, bias.Stride = bias.Cols, 1, 1
	k.be.Axpy(total, k.inner.Slice(0, k.inner.Rows, last, last+1), bias)
	k.be.Axpy(total, k.border.Slice(0, 1, 0, last), dst.Block(rbmHidden))
}

// appendState appends the state of the chains: the number of draws made, then one bit for each
// visible unit.
func (k *chains) appendState(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, k.step)
	host := toHost(k.be, k.state, nil)
	bits := make([]byte, k.stateLen()-8)
	at := 0
	for i := range host.Rows {
		for _, v := range host.Row(i) {
			if v != 0 {
				bits[at/8] |= 1 << (at % 8)
			}
			at++
		}
	}
	return append(dst, bits...)
}

func (k *chains) stateLen() int { return 8 + (k.state.Rows*k.state.Cols+7)/8 }

func (k *chains) setState(state []byte) error {
	if len(state) != k.stateLen() {
		return fmt.Errorf("models: the state of Boltzmann chains has the wrong length: %d bytes; want %d",
			len(state), k.stateLen())
	}
	row := make([]float32, k.state.Cols)
	for i := range k.count {
		for j := range row {
			at := i*len(row) + j
			row[j] = float32(state[8+at/8] >> (at % 8) & 1)
		}
		if k.layout != nil && !k.layout.holds(row) {
			return errors.New("models: the state of a Boltzmann chain does not fit the blocks of a " +
				"record: want one level in each one-hot block, and zeros for missing numbers")
		}
		k.be.Upload(k.state.RowRange(i, i+1), row)
	}
	k.step = binary.LittleEndian.Uint64(state)
	return nil
}

// rbmScratch is one caller's Gibbs chains while sampling.
type rbmScratch struct{ v, h, column device.Matrix }

// Sample runs Gibbs chains from the states of random persistent chains. It sets dst to the
// probabilities of the visible units given the last hidden units.
func (n *rbm) Sample(rng *rand.Rand, dst device.Matrix) {
	n.SampleUntil(rng, dst, func() error { return nil })
}

// SampleUntil is Sample until ended returns an error, which it is asked for before every sweep.
func (n *rbm) SampleUntil(rng *rand.Rand, dst device.Matrix, ended func() error) {
	s, _ := n.scratch.Get().(*rbmScratch)
	if most := min(dst.Rows, sampleRows); s == nil || s.v.Rows < most {
		s = &rbmScratch{n.be.New(most, n.visible.Dim), n.be.New(most, n.arch.Hidden), n.be.New(most, 1)}
	}
	defer n.scratch.Put(s)
	for lo := 0; lo < dst.Rows; lo += sampleRows {
		n.sampleBlock(s, rng, dst.RowRange(lo, min(lo+sampleRows, dst.Rows)), ended)
	}
}

func (n *rbm) sampleBlock(s *rbmScratch, rng *rand.Rand, dst device.Matrix, ended func() error) {
	v, h := s.v.RowRange(0, dst.Rows), s.h.RowRange(0, dst.Rows)
	column := s.column.RowRange(0, dst.Rows)
	for i := range dst.Rows {
		j := rng.IntN(n.chains.count)
		n.be.Apply(device.Identity, v.RowRange(i, i+1), n.chains.state.RowRange(j, j+1))
	}
	draws := chains{be: n.be, seed: rng.Uint64()}
	for i := 0; i < n.arch.SampleSweeps && ended() == nil; i++ {
		draws.sample(v, n.layout) // does not change the states of the first sweep, which are 0 or 1
		n.be.Gemm(false, false, 1, v, n.w, 0, h)
		n.be.BiasApply(device.Sigmoid, h, n.c)
		draws.sample(h, nil)
		n.meanVisible(h, v, column)
	}
	if dst.Mem != nil || v.Mem == nil {
		n.be.Apply(device.Identity, dst, v)
		return
	}
	downloadRows(n.be, dst, v)
}
