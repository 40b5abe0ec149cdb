package evaluate

import (
	"errors"
	"math"

	"github.com/seed7ba64551/privgen/param"
)

// setting is a named number of some method.
type setting struct {
	field string
	value any
}

// part is a setting that lies in [0, 1].
func part(field string, v float64) setting {
	if v > 1 {
		v = math.NaN()
	}
	return setting{field, v}
}

// notNegative reports settings below zero or not finite: 0 always stands for the default.
func notNegative(method string, settings ...setting) error {
	var errs []error
	for _, s := range settings {
		bad := false
		switch v := s.value.(type) {
		case int:
			bad = v < 0
		case float64:
			bad = !(v >= 0 && v < math.MaxFloat32)
		}
		if bad {
			errs = append(errs, param.New("evaluate."+method+"."+s.field, s.value, "a number in its range, or 0 for the default"))
		}
	}
	return errors.Join(errs...)
}

// orDefault is v, or its default where it is 0.
func orDefault[T int | float64](v, standard T) T {
	if v == 0 {
		return standard
	}
	return v
}

// isqrt is the root of n, rounded down.
func isqrt(n int) int { return int(math.Sqrt(float64(n))) }
