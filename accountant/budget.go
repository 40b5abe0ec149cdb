package accountant

import (
	"errors"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/internal/param"
)

// MinDelta is the smallest positive δ that the package supports.
const MinDelta = 1e-30

// Budget is a target guarantee: (Epsilon, Delta)-differential privacy under Relation.
//
// A Delta of exactly 0 means pure differential privacy. It is supported only if every event is
// pure (Laplace, exponential mechanism, randomized response, ..., see [Epsilon]); other events
// result in ErrUnsupported.
type Budget struct {
	Epsilon  float64  `json:"epsilon"`
	Delta    float64  `json:"delta"`
	Relation Relation `json:"relation"`
}

// UnmarshalJSON reads a budget without validating it. Unknown and duplicate fields are errors.
func (b *Budget) UnmarshalJSON(text []byte) error {
	type plain Budget
	return param.Decode(text, (*plain)(b))
}

// Validate reports every mistake at once.
//
// Errors: *param.Error values, joined.
func (b Budget) Validate() error {
	var errs []error
	if !(b.Epsilon > 0) || math.IsInf(b.Epsilon, 0) {
		errs = append(errs, param.New("accountant.Budget.Epsilon", b.Epsilon, "a positive finite number"))
	}
	if err := checkTarget("accountant.Budget.Delta", b.Delta); err != nil {
		errs = append(errs, err)
	}
	if err := b.Relation.validate("accountant.Budget.Relation"); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// String returns, for example, "(ε=1, δ=1e-05) under add_or_remove_one".
func (b Budget) String() string {
	return fmt.Sprintf("(ε=%g, δ=%g) under %s", b.Epsilon, b.Delta, b.Relation)
}

func checkDelta(path string, delta float64) error {
	if !(delta >= MinDelta && delta < 1) {
		return param.New(path, delta, "a number in [1e-30, 1)")
	}
	return nil
}

// checkTarget is like checkDelta, but accepts 0, which stands for pure differential privacy.
func checkTarget(path string, delta float64) error {
	if delta == 0 {
		return nil
	}
	if checkDelta(path, delta) != nil {
		return param.New(path, delta, "a number in [1e-30, 1), or 0 for pure differential privacy")
	}
	return nil
}

// Bound brackets a privacy parameter. Upper is sound and is the published value. Lower is a proven
// lower bound of the cost of the worst case that the accountant models. Estimate lies between the
// two.
type Bound struct {
	Lower    float64 `json:"lower"`
	Estimate float64 `json:"estimate"`
	Upper    float64 `json:"upper"`
}

// String returns the bound with the published end first.
func (b Bound) String() string {
	upper := FormatUpper(b.Upper, 6)
	return fmt.Sprintf("%s (between %s and %s)", upper, FormatLower(b.Lower, 6), upper)
}
