package accountant

import (
	"fmt"
	"slices"

	"github.com/seed7ba64551/privgen/param"
)

// owned returns a copy of an event and the copy's canonical text. The copy equals the event that
// [UnmarshalEvent] reads from that text, so a ledger prices what its file says.
//
// Errors: *param.Error for an invalid event, for a type that is not one of this package's events,
// such as a pointer, and for events nested too deep.
func owned(e Event) (Event, string, error) {
	own, err := copied(e, 0)
	if err != nil {
		return nil, "", err
	}
	key, err := eventKey(own)
	return own, key, err
}

// copied returns a copy that shares no memory with e, an event at the given depth of another one.
func copied(e Event, depth int) (Event, error) {
	if depth > maxEventDepth {
		return nil, tooDeep(depth)
	}
	var err error
	switch v := e.(type) {
	case nil: // Validate returns an error for the event around it
		return nil, nil
	case Gaussian, Laplace, DiscreteGaussian, DiscreteLaplace, RandomizedResponse,
		ExponentialMechanism, Pure, Approximate, ZCDP, TruncatedPoisson, SampledSum:
		return e, nil // numbers only
	case SameBatch:
		return SameBatch{slices.Clone(v.NoiseMultipliers)}, nil
	case GaussianMixture:
		return GaussianMixture{v.NoiseMultiplier, slices.Clone(v.Sensitivities),
			slices.Clone(v.Probabilities)}, nil
	case Curve:
		return Curve{v.Name, slices.Clone(v.Epsilons), slices.Clone(v.Deltas),
			slices.Clone(v.AddDeltas)}, nil
	case PoissonSampled:
		v.Event, err = copied(v.Event, depth+1)
		return v, err
	case SampledWithoutReplacement:
		v.Event, err = copied(v.Event, depth+1)
		return v, err
	case Repeated:
		v.Event, err = copied(v.Event, depth+1)
		return v, err
	case RepeatAndSelect:
		v.Event, err = copied(v.Event, depth+1)
		return v, err
	case Composed:
		v.Events, err = copiedAll(v.Events, depth+1)
		return v, err
	case OneOf:
		v.Events, err = copiedAll(v.Events, depth+1)
		return v, err
	case Disjoint:
		if v.Parts, err = copiedAll(v.Parts, depth+1); err != nil {
			return nil, err
		}
		v.Moving, err = copiedAll(v.Moving, depth+1)
		return v, err
	}
	return nil, param.New("accountant.Event", fmt.Sprintf("a %T", e),
		"a value of one of this package's types, not a pointer and not a type that embeds one")
}

func copiedAll(events []Event, depth int) ([]Event, error) {
	var out []Event
	for _, e := range events {
		c, err := copied(e, depth)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

func tooDeep(depth int) error {
	return param.New("accountant.Event", depth,
		fmt.Sprintf("events nested at most %d deep", maxEventDepth))
}
