package accountant

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// dpAccounting returns an event as a Python expression, with the names of the module dp_event of
// the dp_accounting library. An auditor can then price the event with an independent accountant.
// The names are stable.
//
// Under ReplaceOne the PLD accountant of dp_accounting expects noise relative to one record's clip
// norm, and doubles the sensitivity itself. dpAccounting therefore writes twice the multiplier of a
// Gaussian. The RDP accountant of dp_accounting does not double the sensitivity, so do not use it
// under ReplaceOne.
//
// Under ReplaceOne the library prices a Poisson sample as a sum of clipped vectors, in which a
// record's absence moves the sum half as far as its replacement. This is true of SampledSum only,
// so PoissonSampled is refused.
//
// Errors: ErrUnsupported for events that the library does not have.
func dpAccounting(e Event, r Relation) (string, error) {
	if err := e.check(); err != nil {
		return "", err
	}
	if err := r.validate("accountant.Relation"); err != nil {
		return "", err
	}
	return dpName(e, r)
}

func dpName(e Event, r Relation) (string, error) {
	if !known(e) {
		return notInDPAccounting(e)
	}
	return e.dpAccounting(r)
}

// notInDPAccounting is the answer of an event that dp_accounting does not have.
func notInDPAccounting(e Event) (string, error) {
	return "", fmt.Errorf("%w: dp_accounting has no event for %s", ErrUnsupported, e.kind())
}

// clipNorms returns the sensitivity, in clip norms, by which the multiplier of a Gaussian is
// stated.
func clipNorms(r Relation) float64 {
	if r == ReplaceOne {
		return 2
	}
	return 1
}

func dpGaussian(noiseMultiplier float64) string {
	return dpCall("GaussianDpEvent", "noise_multiplier", pyFloat(noiseMultiplier))
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

// DPAccountingScript returns a Python program that prices an event with dp_accounting.
//
// Errors: ErrUnsupported for events that the library does not have, because a script without them
// would understate the cost.
func DPAccountingScript(e Event, delta float64, r Relation) (string, error) {
	s, err := dpAccounting(e, r)
	if err != nil {
		return "", err
	}
	relation := "ADD_OR_REMOVE_ONE"
	if r == ReplaceOne {
		relation = "REPLACE_ONE"
	}
	return fmt.Sprintf(`from dp_accounting import dp_event, privacy_accountant
from dp_accounting.pld import pld_privacy_accountant

accountant = pld_privacy_accountant.PLDAccountant(
    privacy_accountant.NeighboringRelation.%s)
accountant.compose(%s)
print(accountant.get_epsilon(%s))
`, relation, s, pyFloat(delta)), nil
}
