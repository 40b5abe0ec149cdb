package sgd

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
)

// rule is the rule by which a gradient changes a parameter. The zero value is invalid.
type rule int

const (
	noRule rule = iota
	plain
	heavyBall
	adam
)

var ruleNames = param.Names[rule]{Type: "sgd.Optimizer.Rule", List: []string{
	noRule: "", plain: "sgd", heavyBall: "momentum", adam: "adam",
}}

func (r rule) String() string                   { return ruleNames.String(r) }
func (r rule) MarshalText() ([]byte, error)     { return ruleNames.Marshal(r) }
func (r *rule) UnmarshalText(text []byte) error { return ruleNames.Unmarshal(text, r) }

// settings are a rule and its numbers.
type settings struct {
	Rule  rule    `json:"rule"`
	LR    float64 `json:"lr"`              // learning rate
	Beta1 float64 `json:"beta1,omitempty"` // momentum, or Adam's decay of the mean
	Beta2 float64 `json:"beta2,omitempty"` // Adam's decay of the squares
	Eps   float64 `json:"eps,omitempty"`   // number added to Adam's denominator
}

func (s settings) check(k *checker) {
	check := func(good bool, field string, value any, want string) {
		k.ok(good, "Optimizer."+field, value, want)
	}
	check(ruleNames.Known(s.Rule), "Rule", s.Rule, "sgd, momentum or adam")
	check(s.LR > 0 && s.LR <= math.MaxFloat32, "LR", s.LR, "a positive number up to 3.4e38")
	if s.Rule == heavyBall || s.Rule == adam {
		check(s.Beta1 >= 0 && float32(s.Beta1) < 1, "Beta1", s.Beta1, "a number in [0, 1 − 6e-8)")
	}
	if s.Rule == adam {
		check(s.Beta2 >= 0 && float32(s.Beta2) < 1, "Beta2", s.Beta2, "a number in [0, 1 − 6e-8)")
		check(float32(s.Eps) > 0 && s.Eps <= math.MaxFloat32, "Eps", s.Eps,
			"a positive number from 1e-45 to 3.4e38")
	}
}

// moments is the state of a rule, for parameters in host memory. Disjoint ranges of the parameters
// may be updated from different goroutines, so a trainer joins the averaging of the gradient with
// the update, chunk by chunk.
type moments struct {
	cfg  settings
	adam device.Adam // the current step of Adam
	m, v []float32
	g    []float32 // scaled gradient, for rules other than Adam
	t    int
	lr   float32 // learning rate of the current step
}

// start starts the rule for n parameters. The settings must be valid or the zero value. With the
// zero value, the state can only count steps, and no range may be updated.
func (c settings) start(n int) *moments {
	s := &moments{cfg: c}
	if c.Rule == plain || c.Rule == heavyBall {
		s.g = make([]float32, n)
	}
	if c.Rule == heavyBall || c.Rule == adam {
		s.m = make([]float32, n)
	}
	if c.Rule == adam {
		s.v = make([]float32, n)
	}
	return s
}

// begin starts the next step, with the learning rate multiplied by factor. Every parameter may be
// updated at most once in a step.
func (s *moments) begin(factor float64) {
	s.lr = float32(s.cfg.LR * factor)
	if s.t++; s.cfg.Rule == adam {
		s.adam = device.NewAdam(s.adamStep())
	}
}

// adamStep returns the settings of the current step of Adam.
func (s *moments) adamStep() device.AdamStep {
	return device.AdamStep{LR: s.lr, Beta1: float32(s.cfg.Beta1), Beta2: float32(s.cfg.Beta2),
		Eps: float32(s.cfg.Eps), T: s.t}
}

// updateRange applies the rule to params[lo:lo+len(grad)] with the gradient scale·grad. The ranges
// of one step must be disjoint and may be updated concurrently.
func (s *moments) updateRange(params []float32, lo int, grad []float64, scale float64) {
	hi := lo + len(grad)
	if s.cfg.Rule == adam {
		s.adam.MoveSum(params[lo:hi], grad, s.m[lo:hi], s.v[lo:hi], scale)
		return
	}
	g := s.g[lo:hi]
	for i, x := range grad {
		g[i] = float32(scale * x)
	}
	s.move(params[lo:hi], lo, g)
}

// updateRange32 is updateRange for float32 gradients.
func (s *moments) updateRange32(params []float32, lo int, grad []float32, scale float32) {
	hi := lo + len(grad)
	if s.cfg.Rule == adam {
		s.adam.Move(params[lo:hi], grad, s.m[lo:hi], s.v[lo:hi], scale)
		return
	}
	g := s.g[lo:hi]
	for i, x := range grad {
		g[i] = scale * x
	}
	s.move(params[lo:hi], lo, g)
}

func (s *moments) move(p []float32, lo int, g []float32) {
	switch s.cfg.Rule {
	case plain:
		descend(p, g, s.lr)
	case heavyBall:
		momentum(p, s.m[lo:lo+len(g)], g, s.lr, float32(s.cfg.Beta1))
	}
}

func descend(p, g []float32, lr float32) {
	p = p[:len(g)]
	for i, x := range g {
		p[i] -= lr * x
	}
}

// momentum makes one step of heavy-ball descent (Polyak 1964): u ← βu + g, p ← p − lr·u.
func momentum(p, u, g []float32, lr, beta float32) {
	p, u = p[:len(g)], u[:len(g)]
	for i, x := range g {
		ui := beta*u[i] + x
		u[i] = ui
		p[i] -= lr * ui
	}
}

// appendState appends the step number and the moments, from which an optimiser of the same size can
// continue.
func (s *moments) appendState(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, uint64(s.t))
	for _, list := range [][]float32{s.m, s.v} {
		for _, x := range list {
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(x))
		}
	}
	return dst
}

// stateLen returns the number of bytes that appendState appends.
func (s *moments) stateLen() int { return 8 + 4*(len(s.m)+len(s.v)) }

// setState restores the state that appendState wrote. Errors: an error for a state of another
// length, with a moment that is not finite, or with a step number outside [0, 2³¹−1].
func (s *moments) setState(state []byte) error {
	if len(state) != s.stateLen() {
		return fmt.Errorf("sgd: optimiser: the state has %d bytes; want %d", len(state), s.stateLen())
	}
	step := int64(binary.LittleEndian.Uint64(state))
	values := make([]float32, (len(state)-8)/4)
	for i := range values {
		x := math.Float32frombits(binary.LittleEndian.Uint32(state[8+4*i:]))
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return fmt.Errorf("sgd: optimiser: the state has the moment %v; want a finite number", x)
		}
		values[i] = x
	}
	if step < 0 || step > math.MaxInt32 {
		return fmt.Errorf("sgd: optimiser: the state has step number %d; want 0 to %d", step, math.MaxInt32)
	}
	s.t = int(step)
	copy(s.v, values[copy(s.m, values):])
	return nil
}
