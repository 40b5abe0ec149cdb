package privacytest

import (
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/ledger"
)

// sizesDiffer compares the numbers of rows from which two samples were drawn. It reports whether
// they differ as required for neighbours: by one under add/remove, and not at all under
// replace-one. If a record counted for more than one row, it would be drawn with a larger
// probability than the event's.
//
// The added record may be outside a part of disjoint records. The part then has the same number of
// rows as before. Its samples hold the same rows, so its inputs must be the same.
// A replaced record may leave one part and enter another.
func (t *tape) sizesDiffer(a, b int, inPart bool) bool {
	d := max(a, b) - min(a, b)
	return d == 0 && (!t.addition || inPart) || d == 1 && (t.addition || inPart)
}

// changedInPart returns a function that reports whether a row of a part may differ between two data
// sets whose parts have a and b rows. Replay knows the number of the changed row in the data set. A
// part keeps the order of the rows, so the row's number in the part is not larger, and as many rows
// or fewer follow it.
func (t *tape) changedInPart(a, b int) func(row int32) bool {
	if t.addition && a == b {
		return func(int32) bool { return false } // the added row is in another part
	}
	lo, hi := 0, math.MaxInt
	switch c := t.change; {
	case t.addition && c.extra < 0: // the last row; see Replay
		lo = max(a, b) - 1
	case t.addition:
		lo = max(a, b) - (c.size - c.extra)
	case len(c.replaced) == 0: // the data sets are equal
		lo = math.MaxInt
	default:
		if c.size > 0 {
			lo = max(a, b) - (c.size - slices.Min(c.replaced))
		}
		if a == b { // otherwise the rows after the changed one have other numbers
			hi = slices.Max(c.replaced)
		}
	}
	return func(row int32) bool { return int(row) >= lo && int(row) <= hi }
}

// inPart reports whether a purpose was reserved on ledgers of disjoint parts only. A sample of
// such a part is drawn from fewer rows than the data set has.
func (t *tape) inPart(purpose string) bool {
	return t.ledger != nil && !reserves(t.ledger, purpose) && reservesBelow(t.ledger, purpose)
}

func reserves(l *ledger.Ledger, purpose string) bool {
	return slices.ContainsFunc(l.Entries(), func(e ledger.Entry) bool {
		return e.Purpose == purpose
	})
}

func reservesBelow(l *ledger.Ledger, purpose string) bool {
	for _, g := range l.Children() {
		for _, part := range g.Parts {
			if reserves(part, purpose) || reservesBelow(part, purpose) {
				return true
			}
		}
	}
	return false
}
