package records

import (
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/internal/param"
)

// Validate reports every mistake in the schema.
//
// Errors: *[param.Error], joined.
func (s Schema) Validate() error {
	const path = "records.Schema."
	var k param.Checker
	switch s.kind {
	case BinaryVector, IntervalVector:
		k.OK(s.dim >= 1 && s.dim <= maxDim, path+"Dim", s.dim,
			fmt.Sprintf("a dimension in [1, %d]", maxDim))
	case GreyImage, BlackWhiteImage, ColourImage:
		k.OK(s.dim == area(s.height, s.width, s.Channels()) && s.dim != 0, path+"Height×Width",
			fmt.Sprintf("%d×%d", s.height, s.width),
			fmt.Sprintf("sides of at least 1 and at most %d pixels", maxDim/s.Channels()))
	case ItemSet:
		k.OK(s.dim >= 1 && s.dim <= maxDim, path+"Universe", s.dim,
			fmt.Sprintf("a number of items in [1, %d]", maxDim))
		k.OK(s.maxItems >= 1 && s.maxItems <= max(s.dim, 1), path+"MaxItems", s.maxItems,
			"a positive number, at most the size of the universe")
	case MixedTable:
		if !s.table.valid {
			k.Add(validateColumns(s.table.columns))
		}
	default:
		k.OK(false, path+"Kind", int(s.kind),
			"a schema made by Binary, Interval, Image, BinaryImage, RGBImage, Sets or NewSchema")
	}
	k.OK(s.kind != IntervalVector || validBounds(s.lo, s.hi), path+"Bounds",
		fmt.Sprintf("[%g, %g]", s.lo, s.hi), "finite float32 bounds, the lower below the upper")
	s.validateClasses(&k)
	k.Add(s.validatePersons())
	if s.table != nil {
		k.Add(s.table.fault)
	}
	return k.Err()
}

func (s Schema) validateClasses(k *param.Checker) {
	if len(s.classes) > maxClasses {
		k.OK(false, "records.Schema.Classes", len(s.classes), fmt.Sprintf("at most %d", maxClasses))
		return
	}
	names := s.classes
	if s.distinct {
		names = nil
	}
	seen, faults := make(map[string]bool, len(names)), 0
	for i, name := range names {
		if (name == "" || seen[name]) && faults < maxDefects {
			k.OK(false, fmt.Sprintf("records.Schema.Classes[%d]", i), quotedName(name), "a unique name")
			faults++
		}
		seen[name] = true
	}
	k.OK(s.unknown == 0 || s.unknown > 0 && s.unknown < len(s.classes), "records.Schema.Unknown",
		s.unknown, "one of the class names")
}

// distinct reports whether there are names, and validateClasses finds no mistake in them.
func distinct(names []string) bool {
	var k param.Checker
	Schema{classes: names}.validateClasses(&k)
	return len(names) > 0 && k.Err() == nil
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
