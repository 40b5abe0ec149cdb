package judge

import (
	"math"

	"github.com/seed7ba64551/privgen/internal/param"
)

// Setting is a named number.
type Setting struct {
	field string
	value any
}

// Number returns a setting of any range.
func Number(field string, value any) Setting { return Setting{field, value} }

// Fraction returns a setting that lies in [0, 1].
func Fraction(field string, v float64) Setting {
	if v > 1 {
		v = math.NaN()
	}
	return Setting{field, v}
}

// NotNegative returns an error for each setting that is negative, not finite or outside its range;
// 0 always means the default.
func NotNegative(path string, settings ...Setting) error {
	var k param.Checker
	for _, s := range settings {
		bad := false
		switch v := s.value.(type) {
		case int:
			bad = v < 0
		case float64:
			bad = !(v >= 0 && v < math.MaxFloat32)
		}
		k.OK(!bad, path+"."+s.field, s.value, "a number in its range, or 0 for the default")
	}
	return k.Err()
}
