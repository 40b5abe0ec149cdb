package defaults

import (
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// Task holds the inputs of the rules.
type Task struct {
	Schema  records.Schema
	Budget  accountant.Budget
	Nominal int     // public number, about the number of records
	Signal  float64 // see the package comment
}

// Largest is the largest nominal size.
const Largest = math.MaxInt32

// New returns the task and computes its signal.
//
// Errors: the errors of an invalid budget.
func New(s records.Schema, b accountant.Budget, nominal int) (Task, error) {
	z, _, err := accountant.CalibrateNoise(b, func(z float64) accountant.Event {
		return accountant.Gaussian{NoiseMultiplier: z}
	})
	if err != nil {
		return Task{}, err
	}
	if b.Relation == accountant.ReplaceOne {
		z *= 2 // noise is relative to the sensitivity, twice a record's contribution
	}
	return Task{Schema: s, Budget: b, Nominal: nominal, Signal: float64(nominal) / z}, nil
}

// Checked is New for the configuration of a system, which it checks first.
//
// Errors: joined *param.Error values; the errors of New.
func Checked(system string, s records.Schema, b accountant.Budget, nominal int) (Task, error) {
	var k param.Checker
	k.OK(nominal > 0 && nominal <= Largest, system+".Config.Nominal", nominal,
		"a public number of records, at most 2^31")
	k.Add(s.Validate())
	k.Add(b.Validate())
	if err := k.Err(); err != nil {
		return Task{}, err
	}
	t, err := New(s, b, nominal)
	if err != nil {
		return t, fmt.Errorf("%s: defaults: %w", system, err)
	}
	return t, nil
}

// gradientNoise is the largest noise of a step's mean gradient, as a fraction of the clip norm.
const gradientNoise = 0.35

// Afford returns the largest T·p, the number of steps times the number of parameters, for which the
// noise is at most gradientNoise.
func (t Task) Afford() float64 { return (gradientNoise * t.Signal) * (gradientNoise * t.Signal) }

// Width returns the largest width of a hidden layer, a power of two from least to most, that can be
// trained for the given number of steps. The layer has `beside` parameters for each unit.
func (t Task) Width(beside, steps, least, most int) int {
	w := t.Afford() / float64(steps) / float64(max(beside, 1))
	return 1 << int(math.Log2(max(min(max(w, float64(least)), float64(most)), 1)))
}

// After returns the task for a stage if another stage uses the given share of ε. The squares of the
// effects of Gaussian releases add up.
func (t Task) After(share float64) Task {
	t.Signal *= math.Sqrt(max(1-share*share, 0))
	return t
}

// Steps returns the number of steps, from least to most, that the noise permits for a network with
// the given number of parameters.
func (t Task) Steps(parameters float64, least, most int) int {
	steps := t.Afford() / max(parameters, 1)
	return round(min(max(steps, float64(least)), float64(most)))
}

// Rounded returns x rounded to two digits.
func Rounded(x float64) int { return round(x) }

func round(x float64) int {
	unit := math.Pow(10, math.Max(0, math.Floor(math.Log10(max(x, 1)))-1))
	return int(math.Round(x/unit) * unit)
}

// Batch returns the expected size of a Poisson sample: the smallest size for which the noise
// multiplier is above about 1. Smaller samples would need more noise, and larger samples would only
// take more time.
func (t Task) Batch(steps, least, most int) float64 {
	b := 2 * t.Signal / math.Sqrt(float64(max(steps, 1)))
	b = float64(round(min(max(b, float64(least)), float64(most))))
	return min(b, float64(t.Nominal))
}

// Rate returns the sampling probability of a batch.
func (t Task) Rate(batch float64) float64 { return min(batch/float64(t.Nominal), 1) }

// Features returns the largest length, from least to most, of released means for which the noise of
// each mean is below the given fraction of its norm. The records are divided into parts, and the
// mean of each part is released.
func (t Task) Features(parts int, noise float64, least, most int) int {
	d := noise * t.Signal / float64(max(parts, 1))
	return 2 * (round(min(max(d*d, float64(least)), float64(most))) / 2)
}

// Cost is the predicted time and memory of a run on two idle cores.
type Cost struct {
	Seconds float64
	Bytes   float64
}

// The rate of arithmetic on two cores, and the memory of a process in addition to its numbers.
const (
	flops    = 3e10 // operations per second
	overhead = 10 << 20
)

// CostOf returns the cost of operations on numbers of the given size.
func CostOf(operations, bytes float64) Cost {
	return Cost{Seconds: operations / flops, Bytes: overhead + bytes}
}

// String returns the prediction as text.
func (c Cost) String() string {
	return fmt.Sprintf("predicted: %s, and %.0f MiB in addition to the records, on two idle cores",
		duration(c.Seconds), math.Ceil(c.Bytes/(1<<20)))
}

func duration(seconds float64) string {
	switch {
	case seconds < 1:
		return "less than a second"
	case seconds < 90:
		return fmt.Sprintf("about %.0f s", seconds)
	}
	return fmt.Sprintf("about %.1f minutes", seconds/60)
}
