package privacytest

import "github.com/seed7ba64551/privgen/accountant"

// sizesDiffer compares the numbers of rows from which two samples were drawn. It reports whether
// they differ as required for neighbours: by one under add/remove, and not at all under
// replace-one. If a record counted for more than one row, it would be drawn with a larger
// probability than the event's.
//
// The added record may be outside a part of disjoint records. The part then has the same number of
// rows as before. Its samples hold the same rows, so its inputs must be the same.
func (t *tape) sizesDiffer(a, b int, inPart bool) bool {
	d := max(a, b) - min(a, b)
	return t.addition && d == 1 || (!t.addition || inPart) && d == 0
}

// inPart reports whether a purpose was reserved on ledgers of disjoint parts only. A sample of
// such a part is drawn from fewer rows than the data set has.
func (t *tape) inPart(purpose string) bool {
	return t.ledger != nil && !reserves(t.ledger, purpose) && reservesBelow(t.ledger, purpose)
}

func reserves(l *accountant.Ledger, purpose string) bool {
	for _, e := range l.Entries() {
		if e.Purpose == purpose {
			return true
		}
	}
	return false
}

func reservesBelow(l *accountant.Ledger, purpose string) bool {
	for _, g := range l.Children() {
		for _, part := range g.Parts {
			if reserves(part, purpose) || reservesBelow(part, purpose) {
				return true
			}
		}
	}
	return false
}
