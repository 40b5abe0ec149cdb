package accountant

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/seed7ba64551/privgen/param"
)

// DPAccounting returns an event as a Python expression, with the names of the module dp_event of
// the dp_accounting library. An auditor can then price the event with an independent accountant.
// The names are stable.
//
// Under ReplaceOne the PLD accountant of dp_accounting expects noise relative to one record's clip
// norm, and doubles the sensitivity itself. DPAccounting therefore writes twice the multiplier of a
// Gaussian. The RDP accountant of dp_accounting does not double the sensitivity, so do not use it
// under ReplaceOne.
//
// Under ReplaceOne the library prices a Poisson sample as a sum of clipped vectors, in which a
// record's absence moves the sum half as far as its replacement. This is true of SampledSum only,
// so PoissonSampled is refused.
//
// Errors: ErrUnsupported for events that the library does not have.
func DPAccounting(e Event, r Relation) (string, error) {
	if e == nil {
		return "", param.New("accountant.DPAccounting.event", nil, "an event")
	}
	if err := e.Validate(); err != nil {
		return "", err
	}
	if err := r.validate("accountant.Relation"); err != nil {
		return "", err
	}
	return dpName(e, r)
}

func dpName(e Event, r Relation) (string, error) {
	clip := 1.0
	if r == ReplaceOne {
		clip = 2
	}
	switch v := e.(type) {
	case Gaussian:
		return dpCall("GaussianDpEvent", "noise_multiplier", pyFloat(clip*v.NoiseMultiplier)), nil
	case SameBatch:
		return dpCall("GaussianDpEvent", "noise_multiplier",
			pyFloat(clip*EffectiveMultiplier(v.NoiseMultipliers...))), nil
	case SampledSum:
		return dpSampled(v.Probability, dpCall("GaussianDpEvent", "noise_multiplier",
			pyFloat(v.NoiseMultiplier))), nil
	case Laplace:
		return dpCall("LaplaceDpEvent", "noise_multiplier", pyFloat(v.Scale)), nil
	case DiscreteLaplace:
		return dpCall("DiscreteLaplaceDpEvent", "noise_parameter", pyFloat(v.A), "sensitivity",
			strconv.Itoa(v.Sensitivity)), nil
	case RandomizedResponse:
		return dpCall("RandomizedResponseDpEvent", "noise_parameter", pyFloat(v.Noise), "num_buckets",
			strconv.Itoa(v.Categories)), nil
	case ZCDP:
		return dpCall("ZCDpEvent", "rho", pyFloat(v.Rho)), nil
	case GaussianMixture:
		return dpCall("MixtureOfGaussiansDpEvent", "standard_deviation", pyFloat(v.NoiseMultiplier),
			"sensitivities", pyList(v.Sensitivities), "sampling_probs", pyList(v.Probabilities)), nil
	case TruncatedPoisson:
		return dpCall("TruncatedSubsampledGaussianDpEvent", "dataset_size", strconv.Itoa(v.Population),
			"sampling_probability", pyFloat(v.Probability),
			"truncated_batch_size", strconv.Itoa(v.MaxBatch), "noise_multiplier",
			pyFloat(v.NoiseMultiplier)), nil
	}
	return dpNested(e, r)
}

func dpNested(e Event, r Relation) (string, error) {
	switch v := e.(type) {
	case PoissonSampled:
		if r == ReplaceOne {
			return "", fmt.Errorf("%w: dp_accounting prices every Poisson sample under replace-one as a "+
				"clipped sum, which only %s is", ErrUnsupported, SampledSum{}.kind())
		}
		return dpAround(v.Event, r, func(s string) string { return dpSampled(v.Probability, s) })
	case SampledWithoutReplacement:
		return dpAround(v.Event, r, func(s string) string {
			return dpCall("SampledWithoutReplacementDpEvent", "source_dataset_size",
				strconv.Itoa(v.Population), "sample_size", strconv.Itoa(v.Sample), "event", s)
		})
	case Repeated:
		return dpAround(v.Event, r, func(s string) string {
			if strings.Contains(s, "RandomizedResponse") { // dp_accounting 0.6 ignores its count
				return dpCall("ComposedDpEvent", "events", "["+s+"] * "+strconv.Itoa(v.Count))
			}
			return dpCall("SelfComposedDpEvent", "event", s, "count", strconv.Itoa(v.Count))
		})
	case RepeatAndSelect:
		shape := v.Shape
		if v.Poisson {
			shape = math.Inf(1)
		}
		return dpAround(v.Event, r, func(s string) string {
			return dpCall("RepeatAndSelectDpEvent", "event", s, "mean", pyFloat(v.Mean), "shape",
				pyFloat(shape))
		})
	case Composed:
		var parts []string
		for _, p := range v.Events {
			s, err := dpName(p, r)
			if err != nil {
				return "", err
			}
			parts = append(parts, s)
		}
		return dpCall("ComposedDpEvent", "events", "["+strings.Join(parts, ", ")+"]"), nil
	}
	return "", fmt.Errorf("%w: dp_accounting has no event for %s", ErrUnsupported, e.kind())
}

func dpSampled(probability float64, event string) string {
	return dpCall("PoissonSampledDpEvent", "sampling_probability", pyFloat(probability), "event",
		event)
}

func dpAround(e Event, r Relation, wrap func(string) string) (string, error) {
	s, err := dpName(e, r)
	if err != nil {
		return "", err
	}
	return wrap(s), nil
}

func dpCall(name string, args ...string) string {
	var b strings.Builder
	b.WriteString("dp_event." + name + "(")
	for i := 0; i < len(args); i += 2 {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(args[i] + "=" + args[i+1])
	}
	b.WriteByte(')')
	return b.String()
}

// pyFloat writes a number so that Python reads the same float64.
func pyFloat(v float64) string {
	if math.IsInf(v, 1) {
		return "float('inf')"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

func pyList(v []float64) string {
	var parts []string
	for _, x := range v {
		parts = append(parts, pyFloat(x))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// DPAccountingScript returns a Python program that prices everything reserved on the ledger with
// dp_accounting.
//
// Errors: ErrUnsupported for events that the library does not have, because a script without them
// would understate the cost; ErrDamaged and the errors of the journal, because the reservations of
// other processes are then unknown.
func (l *Ledger) DPAccountingScript() (string, error) {
	if err := l.shared.refresh(); err != nil {
		return "", err
	}
	l.shared.state.Lock()
	e, fault := l.event(nil, nil, 0), l.shared.root.fault
	l.shared.state.Unlock()
	if fault != nil {
		return "", fault
	}
	s, err := DPAccounting(e, l.Relation())
	if err != nil {
		return "", err
	}
	relation := "ADD_OR_REMOVE_ONE"
	if l.Relation() == ReplaceOne {
		relation = "REPLACE_ONE"
	}
	return fmt.Sprintf(`from dp_accounting import dp_event, privacy_accountant
from dp_accounting.pld import pld_privacy_accountant

accountant = pld_privacy_accountant.PLDAccountant(
    privacy_accountant.NeighboringRelation.%s)
accountant.compose(%s)
print(accountant.get_epsilon(%s))
`, relation, s, pyFloat(l.budget.Delta)), nil
}
