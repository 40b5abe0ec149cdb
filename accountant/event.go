package accountant

import (
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/seed7ba64551/privgen/internal/param"
)

// Event describes one use of private records in enough detail to price it. Events are plain values:
// build them as literals, compare them with [EqualEvents], write them with [MarshalEvent].
//
// Every noise multiplier is a noise standard deviation divided by the L2 sensitivity (L1 for
// Laplace and discrete Laplace scales). The sensitivity depends on the relation: a sum of records
// clipped to norm C has sensitivity C under AddOrRemoveOne and 2C under ReplaceOne. The caller
// states the multiplier for the relation in use.
type Event interface {
	// check returns a *param.Error for every parameter out of range and every event missing inside.
	check() error
	// kind names the type in JSON and in errors.
	kind() string
	// describe describes the event in words.
	describe() string
	// charge adds the atoms of n adaptive uses to c.
	charge(c *collector, n int) error
	// sampling says how the event samples records.
	sampling() sampling
	// dpAccounting returns the event as dp_accounting writes it.
	dpAccounting(r Relation) (string, error)
}

// eventTypes has one event of every type, each of which is one file. A new type adds its line here.
var eventTypes = []Event{
	Gaussian{},
	Laplace{},
	DiscreteGaussian{},
	DiscreteLaplace{},
	RandomizedResponse{},
	ExponentialMechanism{},
	Pure{},
	Approximate{},
	ZCDP{},
	TruncatedPoisson{},
	SampledSum{},
	BandedSum{},
	RandomAllocation{},
	SameBatch{},
	GaussianMixture{},
	Curve{},
	Composed{},
	OneOf{},
	Disjoint{},
	PoissonSampled{},
	SampledWithoutReplacement{},
	Repeated{},
	RepeatAndSelect{},
	SparseHistogram{},
}

// known reports whether e is a value of one of this package's types. Pointers and types that embed
// an event have its methods, but not its meaning.
func known(e Event) bool {
	_, ok := eventForms[reflect.TypeOf(e)]
	return ok
}

// Describe describes an event in words.
func Describe(e Event) string {
	if !known(e) {
		return "unknown event"
	}
	return e.describe()
}

func describeAll(events []Event, sep string) string {
	const most = 8
	var parts []string
	for i, e := range events {
		if i == most {
			parts = append(parts, fmt.Sprintf("… and %d more", len(events)-most))
			break
		}
		parts = append(parts, Describe(e))
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, sep)
}

func positive(path string, v float64) error {
	if !(v > 0) || math.IsInf(v, 0) {
		return param.New(path, v, "a positive finite number")
	}
	return nil
}

func positiveInt(path string, v int) error {
	if v <= 0 {
		return param.New(path, v, "a positive integer")
	}
	return nil
}

func populationSize(path string, v int) error {
	if v <= 0 || int64(v) > 1<<40 {
		return param.New(path, v, "a positive integer of at most 2^40")
	}
	return nil
}

func probability(path string, v float64) error {
	if !(v >= 0 && v <= 1) {
		return param.New(path, v, "a probability in [0, 1]")
	}
	return nil
}

func inner(path string, e Event) error {
	if e == nil {
		return param.New(path, nil, "an event")
	}
	return e.check()
}
