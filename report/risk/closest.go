package risk

import (
	"slices"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/internal/compare"
)

// Closest holds the distances of synthetic records to the closest member, and to the closest of
// equally many other records, in ascending order. Members are the records that the generator was
// trained on. The distances prove nothing; see the package.
type Closest struct {
	Members, Others []float64
	// CloserToMembers is the fraction of the synthetic records that are closer to a member than to any
	// of the others, with ties counted half.
	CloserToMembers float64
}

// Distances measures the distances of synthetic records, drawn at random; rows bounds their number,
// and 0 means 2000. The distance of rows of tables, vectors and images is the mean over columns of
// |a − b| on the scale of the schema. Different levels or classes count as 1. The distance of sets
// is Jaccard's.
//
// Errors: *[param.Error] for records of different schemas, or none of a kind.
// Guarantee: none; see the package.
func Distances(synthetic, members, others records.Data, rows int, seed uint64) (Closest, error) {
	if err := compare.Alike("risk.Distances", members, synthetic, others); err != nil {
		return Closest{}, err
	}
	n := min(synthetic.Len(), members.Len(), others.Len())
	if n < 1 {
		return Closest{}, param.New("risk.Distances records", "none", "at least one of each kind")
	}
	if rows < 0 {
		return Closest{}, param.New("risk.Distances rows", rows, "a number of records, or 0 for 2000")
	}
	if rows == 0 {
		rows = 2000
	}
	real := min(4*rows, members.Len(), others.Len())
	fakes := read(synthetic, rows, seed)
	out := Closest{Members: fakes.closest(read(members, real, seed+1)),
		Others: fakes.closest(read(others, real, seed+2))}
	for i, m := range out.Members {
		switch o := out.Others[i]; {
		case m < o:
			out.CloserToMembers += 1 / float64(fakes.n)
		case m == o:
			out.CloserToMembers += 0.5 / float64(fakes.n)
		}
	}
	slices.Sort(out.Members)
	slices.Sort(out.Others)
	return out, nil
}
