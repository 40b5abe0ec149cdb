package kmeans

import (
	"math"

	"github.com/seed7ba64551/privgen/accountant"
)

// noise holds the noise of one iteration's release of sums and counts.
type noise struct {
	clip   float64
	sum    float64 // standard deviation on each coordinate of each sum
	count  float64 // standard deviation on each count
	effect float64 // largest difference of neighbours' sums and counts, each ÷ its std
}

// spread returns the noise for which counts use the fraction share of the squared effect 1/z².
//
// Add or remove: one record changes one count by 1 and one sum by at most C, so μ² = C²/s² +
// 1/s_c².
//
// Replace one: if the old and the new record are in the same cluster, one sum changes by at most 2C
// (features are signed) and no count changes. If they are in different clusters, two sums change by
// at most C each and two counts by 1. So μ² = max(4C²/s², 2C²/s² + 2/s_c²). A fraction for counts
// of at most one half therefore does not increase the noise on sums.
func spread(r accountant.Relation, clip, z, share float64) noise {
	n := noise{clip: clip}
	if r == accountant.ReplaceOne {
		share = max(share, 0.5)
		n.sum = clip * z * math.Sqrt(2/(1-share))
		n.count = z * math.Sqrt(2/share)
	} else {
		n.sum = clip * z / math.Sqrt(1-share)
		n.count = z / math.Sqrt(share)
	}
	n.effect = effect(r, n)
	return n
}

func effect(r accountant.Relation, n noise) float64 {
	sum, count := n.clip/n.sum, 1/n.count
	if r == accountant.ReplaceOne {
		return max(2*sum, math.Sqrt2*math.Hypot(sum, count))
	}
	return math.Hypot(sum, count)
}
