package sgd

import (
	"encoding/binary"
	"errors"
	"math"
)

var errState = errors.New("sgd: a training state of the wrong length or form")

// AppendState appends the state that a run needs to resume after a step, except the network's
// parameters: the optimiser's moments, the average and the norm of Quantile. All of it is computed
// from released values.
func (t *Trainer) AppendState(dst []byte) []byte {
	t.toHost()
	dst = t.opt.AppendState(dst)
	for _, x := range t.average {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(x))
	}
	if q, ok := t.clip.(*quantileTracker); ok {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(q.norm))
	}
	return dst
}

// SetState restores the state that AppendState wrote for the same configuration and network. The
// network must already hold the parameters of the step after which AppendState was called. Call
// SetState before Steps.
//
// Errors: an error for state of another length or form.
func (t *Trainer) SetState(state []byte) error {
	q, tracks := t.clip.(*quantileTracker)
	want := len(state)
	n := want - 4*len(t.average)
	if tracks {
		n -= 8
	}
	if n < 0 {
		return errState
	}
	average := make([]float32, len(t.average))
	for i := range average {
		average[i] = math.Float32frombits(binary.LittleEndian.Uint32(state[n+4*i:]))
		if x := float64(average[i]); math.IsNaN(x) || math.IsInf(x, 0) {
			return errState
		}
	}
	norm := 0.0
	if tracks {
		norm = math.Float64frombits(binary.LittleEndian.Uint64(state[want-8:]))
		if !(norm >= smallestNorm && norm <= largestNorm) {
			return errState
		}
	}
	if err := t.opt.SetState(state[:n]); err != nil {
		return errState
	}
	copy(t.average, average)
	if tracks {
		q.norm = norm
	}
	if t.params.Flat.Mem != nil {
		t.be.Download(t.master, t.params.Flat)
	}
	t.changed()
	return nil
}
