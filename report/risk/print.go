package risk

import (
	"fmt"
	"slices"

	"github.com/seed7ba64551/privgen/report/internal/compare"
	"github.com/seed7ba64551/privgen/report/internal/judge"
)

// String prints the middle distances, marked as not private.
func (c Closest) String() string {
	return fmt.Sprintf("%sdistance to the closest record, in the middle: %.4f to members, %.4f to "+
		"others; %.4f of %d synthetic records lie closer to a member (%s)", judge.Mark,
		middle(c.Members), middle(c.Others), c.CloserToMembers, len(c.Members), judge.Caveat)
}

func middle(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Sorted(slices.Values(v))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// MarshalJSON writes the result with its caveat.
func (c Closest) MarshalJSON() ([]byte, error) {
	type plain Closest
	return compare.JSON("distances to the closest record", plain(c))
}

// String prints the scores, marked as not private.
func (a Attack) String() string {
	return fmt.Sprintf("%smembership by %s, %d members and %d others: AUC %.4f, %.4f of members at "+
		"1 %% false ones, best accuracy %.4f (%s)", judge.Mark, a.Name, a.Members, a.Others,
		a.AUC, a.AtLow, a.Best, judge.Caveat)
}

// MarshalJSON writes the result with its caveat.
func (a Attack) MarshalJSON() ([]byte, error) {
	type plain Attack
	return compare.JSON("membership attack", plain(a))
}
