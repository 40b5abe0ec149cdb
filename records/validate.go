package records

import (
	"errors"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/internal/param"
)

// Validate reports every mistake in the schema.
//
// Errors: *[param.Error], joined.
func (s Schema) Validate() error {
	var errs []error
	bad := func(field string, value any, want string) {
		errs = append(errs, param.New("records.Schema."+field, value, want))
	}
	switch s.kind {
	case BinaryVector, IntervalVector:
		if s.dim < 1 || s.dim > maxDim {
			bad("Dim", s.dim, fmt.Sprintf("a dimension in [1, %d]", maxDim))
		}
	case GreyImage, BlackWhiteImage, ColourImage:
		if s.dim != area(s.height, s.width, s.Channels()) || s.dim == 0 {
			bad("Height×Width", fmt.Sprintf("%d×%d", s.height, s.width),
				fmt.Sprintf("sides of at least 1 and at most %d pixels", maxDim/s.Channels()))
		}
	case ItemSet:
		if s.dim < 1 || s.dim > maxDim {
			bad("Universe", s.dim, fmt.Sprintf("a number of items in [1, %d]", maxDim))
		} else if s.maxItems < 1 || s.maxItems > s.dim {
			bad("MaxItems", s.maxItems, fmt.Sprintf("a number in [1, %d], the size of the universe", s.dim))
		}
	case MixedTable:
		errs = append(errs, validateColumns(s.table.columns))
	default:
		bad("Kind", int(s.kind),
			"a schema made by Binary, Interval, Image, BinaryImage, RGBImage, Sets or NewSchema")
	}
	if s.kind == IntervalVector && !validBounds(s.lo, s.hi) {
		bad("Bounds", fmt.Sprintf("[%g, %g]", s.lo, s.hi),
			"finite float32 bounds, the lower below the upper")
	}
	errs = append(append(errs, s.validateClasses()...), s.validatePersons())
	if s.table != nil {
		errs = append(errs, s.table.fault)
	}
	return errors.Join(errs...)
}

func (s Schema) validateClasses() (errs []error) {
	if len(s.classes) > maxClasses {
		return []error{param.New("records.Schema.Classes", len(s.classes),
			fmt.Sprintf("at most %d", maxClasses))}
	}
	seen := make(map[string]bool, len(s.classes))
	for i, name := range s.classes {
		if (name == "" || seen[name]) && len(errs) < maxDefects {
			errs = append(errs,
				param.New(fmt.Sprintf("records.Schema.Classes[%d]", i), quotedName(name), "a unique name"))
		}
		seen[name] = true
	}
	if s.unknown != 0 && (s.unknown < 0 || s.unknown >= len(s.classes)) {
		errs = append(errs, param.New("records.Schema.Unknown", s.unknown, "one of the class names"))
	}
	return errs
}

// validBounds reports whether an interval holds at least two float32 values, since encoded records
// are float32.
func validBounds(lo, hi float64) bool {
	if !(math.Abs(lo) <= math.MaxFloat32 && math.Abs(hi) <= math.MaxFloat32) {
		return false
	}
	l, h := innerBounds(lo, hi)
	return l < h
}

// innerBounds returns the bounds rounded inward to float32. An encoded value is then never outside
// the declared interval.
func innerBounds(lo, hi float64) (float32, float32) {
	l, h := float32(lo), float32(hi)
	if float64(l) < lo {
		l = math.Nextafter32(l, float32(math.Inf(1)))
	}
	if float64(h) > hi {
		h = math.Nextafter32(h, float32(math.Inf(-1)))
	}
	return l + 0, h + 0
}

// quotedName quotes a name for an error, cut if it is long.
func quotedName(name string) string { return fmt.Sprintf("%.40q", name) }
