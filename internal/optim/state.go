package optim

import (
	"encoding/binary"
	"fmt"
	"math"
)

// AppendState appends the step number and the moments, from which an optimiser of the same size can
// continue.
func (s *State) AppendState(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, uint64(s.t))
	for _, list := range [][]float32{s.m, s.v} {
		for _, x := range list {
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(x))
		}
	}
	return dst
}

// StateLen returns the number of bytes that AppendState appends.
func (s *State) StateLen() int { return 8 + 4*(len(s.m)+len(s.v)) }

// SetState restores the state that AppendState wrote. Errors: an error for a state of another
// length, with a moment that is not finite, or with a step number outside [0, 2³¹−1].
func (s *State) SetState(state []byte) error {
	if len(state) != s.StateLen() {
		return fmt.Errorf("optim: the state has %d bytes; want %d", len(state), s.StateLen())
	}
	step := int64(binary.LittleEndian.Uint64(state))
	values := make([]float32, (len(state)-8)/4)
	for i := range values {
		x := math.Float32frombits(binary.LittleEndian.Uint32(state[8+4*i:]))
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return fmt.Errorf("optim: the state has the moment %v; want a finite number", x)
		}
		values[i] = x
	}
	if step < 0 || step > math.MaxInt32 {
		return fmt.Errorf("optim: the state has step number %d; want 0 to %d", step, math.MaxInt32)
	}
	s.t = int(step)
	copy(s.v, values[copy(s.m, values):])
	return nil
}
