// Package optim moves parameters along gradients: plain gradient descent, momentum and Adam. It
// provides no privacy: every gradient must be a released value, or be computed from released values
// and public data only.
//
// A State works on ranges of one flat parameter vector. Disjoint ranges may be updated from
// different goroutines, so a caller can combine the computation of the gradient (noise, averaging)
// with the update, chunk by chunk.
package optim

import (
	"errors"
	"math"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
)

// Rule is the rule by which a gradient changes a parameter.
type Rule int

// These are the rules. Unset is invalid: a configuration must choose another rule.
const (
	Unset Rule = iota
	SGD
	Momentum
	Adam
)

var ruleNames = param.Names[Rule]{Type: "optim.Rule", List: []string{
	Unset: "", SGD: "sgd", Momentum: "momentum", Adam: "adam",
}}

// String returns the name.
func (r Rule) String() string { return ruleNames.String(r) }

// MarshalText writes the name.
func (r Rule) MarshalText() ([]byte, error) { return ruleNames.Marshal(r) }

// UnmarshalText reads a name that MarshalText wrote.
//
// Errors: *[param.Error] for any other text, listing the accepted names.
func (r *Rule) UnmarshalText(text []byte) error { return ruleNames.Unmarshal(text, r) }

// Config describes an optimiser.
type Config struct {
	Rule  Rule
	LR    float64 // learning rate
	Beta1 float64 // momentum, or Adam's decay of the mean
	Beta2 float64 // Adam's decay of the squares
	Eps   float64 // number added to Adam's denominator
}

// Problems returns the mistakes in the configuration. The path of each mistake is the name of a
// field.
func (c Config) Problems() []*param.Error {
	var list []*param.Error
	check := func(good bool, field string, value any, want string) {
		if !good {
			list = append(list, param.New(field, value, want))
		}
	}
	check(c.Rule == SGD || c.Rule == Momentum ||
		c.Rule == Adam, "Rule", c.Rule, "sgd, momentum or adam")
	check(c.LR > 0 && c.LR <= math.MaxFloat32, "LR", c.LR, "a positive number up to 3.4e38")
	if c.Rule == Momentum || c.Rule == Adam {
		check(c.Beta1 >= 0 && c.Beta1 < 1, "Beta1", c.Beta1, "a number in [0, 1)")
	}
	if c.Rule == Adam {
		check(c.Beta2 >= 0 && c.Beta2 < 1, "Beta2", c.Beta2, "a number in [0, 1)")
		check(c.Eps > 0 && c.Eps <= math.MaxFloat32, "Eps", c.Eps, "a positive number up to 3.4e38")
	}
	return list
}

// Validate returns the problems joined into one error, or nil if there are none.
func (c Config) Validate() error {
	var errs []error
	for _, p := range c.Problems() {
		errs = append(errs, p)
	}
	return errors.Join(errs...)
}

// State is the state of an optimiser, for parameters in host memory.
type State struct {
	cfg  Config
	adam device.Adam // the current step of Adam
	m, v []float32
	g    []float32 // scaled gradient, for rules other than Adam
	t    int
	lr   float32 // learning rate of the current step
}

// New starts an optimiser for n parameters. The configuration must be valid or the zero value. With
// the zero value, the State can only count steps, and no range may be updated.
func (c Config) New(n int) *State {
	s := &State{cfg: c}
	if c.Rule != Adam && c.Rule != Unset {
		s.g = make([]float32, n)
	}
	if c.Rule == Momentum || c.Rule == Adam {
		s.m = make([]float32, n)
	}
	if c.Rule == Adam {
		s.v = make([]float32, n)
	}
	return s
}

// BeginStep starts the next step. Every parameter may be updated at most once in a step.
func (s *State) BeginStep() { s.BeginStepAt(1) }

// BeginStepAt is BeginStep with the configuration's learning rate multiplied by factor.
func (s *State) BeginStepAt(factor float64) {
	s.lr = float32(s.cfg.LR * factor)
	if s.t++; s.cfg.Rule == Adam {
		s.adam = device.NewAdam(device.AdamStep{LR: s.lr, Beta1: float32(s.cfg.Beta1),
			Beta2: float32(s.cfg.Beta2), Eps: float32(s.cfg.Eps), T: s.t})
	}
}

// Step returns the number of steps that have begun.
func (s *State) Step() int { return s.t }

// UpdateRange applies the rule to params[lo:lo+len(grad)] with the gradient scale·grad. The ranges
// of one step must be disjoint and may be updated concurrently.
func (s *State) UpdateRange(params []float32, lo int, grad []float64, scale float64) {
	hi := lo + len(grad)
	if s.cfg.Rule == Adam {
		s.adam.MoveSum(params[lo:hi], grad, s.m[lo:hi], s.v[lo:hi], scale)
		return
	}
	g := s.g[lo:hi]
	for i, x := range grad {
		g[i] = float32(scale * x)
	}
	s.move(params[lo:hi], lo, g)
}

// UpdateRange32 is UpdateRange for float32 gradients.
func (s *State) UpdateRange32(params []float32, lo int, grad []float32, scale float32) {
	hi := lo + len(grad)
	if s.cfg.Rule == Adam {
		s.adam.Move(params[lo:hi], grad, s.m[lo:hi], s.v[lo:hi], scale)
		return
	}
	g := s.g[lo:hi]
	for i, x := range grad {
		g[i] = scale * x
	}
	s.move(params[lo:hi], lo, g)
}

func (s *State) move(p []float32, lo int, g []float32) {
	switch s.cfg.Rule {
	case SGD:
		descend(p, g, s.lr)
	case Momentum:
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
