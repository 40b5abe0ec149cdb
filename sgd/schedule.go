package sgd

import (
	"math"

	"github.com/seed7ba64551/privgen/internal/param"
)

// Schedule determines how the learning rate changes from step to step. It depends only on the
// step number, which is public, so it does not affect the guarantee. The zero value keeps the
// rate constant.
type Schedule struct {
	Decay Decay `json:"decay,omitempty"`
	// Warmup is the number of first steps over which the rate grows linearly to its full size.
	Warmup int `json:"warmup,omitempty"`
	// Steps is the step at which Cosine ends, including warm-up. 0 means Config.Steps, which is
	// known only in a private run.
	Steps int `json:"steps,omitempty"`
	// Final is the fraction of the rate at the end of Cosine, in [0, 1].
	Final float64 `json:"final,omitempty"`
}

// Decay is the shape of a decreasing learning rate.
type Decay int

const (
	// Constant keeps the rate constant.
	Constant Decay = iota
	// Cosine falls along half a wave, from the end of the warm-up to Schedule.Steps.
	// Source: Loshchilov and Hutter 2017, without restarts.
	Cosine
)

var decayNames = param.Names[Decay]{Type: "sgd.Decay", List: []string{
	Constant: "constant", Cosine: "cosine",
}}

// String returns the name.
func (d Decay) String() string { return decayNames.String(d) }

// MarshalText writes the name.
func (d Decay) MarshalText() ([]byte, error) { return decayNames.Marshal(d) }

// UnmarshalText reads a name that MarshalText wrote.
//
// Errors: *[param.Error] for any other text, listing the accepted names.
func (d *Decay) UnmarshalText(text []byte) error { return decayNames.Unmarshal(text, d) }

// factor returns the factor of the learning rate at a step, counted from 1.
func (s Schedule) factor(step int) float64 {
	if step <= s.Warmup {
		return float64(step) / float64(s.Warmup)
	}
	if s.Decay != Cosine {
		return 1
	}
	done := min(float64(step-s.Warmup)/float64(max(s.Steps-s.Warmup, 1)), 1)
	return s.Final + (1-s.Final)*(1+math.Cos(math.Pi*done))/2
}

func (s Schedule) check(k *checker) {
	k.ok(decayNames.Known(s.Decay), "Optimizer.Schedule.Decay", int(s.Decay), "Constant or Cosine")
	k.ok(s.Warmup >= 0, "Optimizer.Schedule.Warmup", s.Warmup, "a number of steps, or 0")
	k.ok(s.Steps == 0 || s.Steps > s.Warmup, "Optimizer.Schedule.Steps", s.Steps,
		"more steps than Warmup, or 0 for the steps of the run")
	k.ok(s.Final >= 0 && s.Final <= 1, "Optimizer.Schedule.Final", s.Final, "a fraction in [0, 1]")
}
