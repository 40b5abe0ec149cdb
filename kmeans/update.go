package kmeans

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Shrink determines whether centres are moved towards the mean of all records to reduce their
// noise.
type Shrink int

const (
	// ShrinkToMean moves each centre towards the mean of all records by the positive-part rule of
	// James and Stein (1961). It reduces the distance by the fraction of the squared distance that
	// noise explains. Without shrinking, centres of clusters with few records have the largest norms
	// and lose their records to other centres.
	ShrinkToMean Shrink = iota
	// NoShrink only divides sums by counts, as the papers do.
	NoShrink
)

// updater computes centres from released numbers. It uses nothing private.
type updater struct {
	cfg   Config
	noise noise
	dim   int
	rng   *rand.Rand // public

	// total has the discounted totals of all releases so far; without Config.Memory it is the last
	// release. For each cluster, weight is the discounted number of releases in the total, and
	// variance is the variance of the total's noise. Both are in units of one release.
	total    released
	weight   []float64
	variance []float64
	active   int // centres in use: the first ones
}

func newUpdater(cfg Config, n noise, dim int, rng *rand.Rand) *updater {
	k := cfg.centers()
	return &updater{cfg: cfg, noise: n, dim: dim, rng: rng,
		total:    released{make([]float64, k*dim), make([]float64, k)},
		weight:   make([]float64, k),
		variance: make([]float64, k),
		active:   k,
	}
}

// remember adds a release to the discounted totals of earlier releases. Clusters converge, so old
// and new sums are over nearly the same records, but have independent noise.
func (u *updater) remember(r released) {
	m := u.cfg.Memory
	for i, v := range r.sums {
		u.total.sums[i] = m*u.total.sums[i] + v
	}
	for k, n := range r.counts {
		u.total.counts[k] = m*u.total.counts[k] + n
		u.weight[k] = m*u.weight[k] + 1
		u.variance[k] = m*m*u.variance[k] + 1
	}
}

// forget clears the totals of a cluster. It is needed after a split, which makes them invalid.
func (u *updater) forget(k int) {
	clear(u.sum(k))
	u.total.counts[k], u.weight[k], u.variance[k] = 0, 0, 0
}

// sum returns the total of cluster k's features.
func (u *updater) sum(k int) []float64 { return u.total.sums[k*u.dim : (k+1)*u.dim] }

// large reports whether cluster k's total count is at least the floor: three standard deviations of
// the total's noise, but at least one record.
func (u *updater) large(k int) bool {
	return u.total.counts[k] >= max(3*u.noise.count*math.Sqrt(u.variance[k]), u.weight[k])
}

// centers returns the centres of the next iteration.
func (u *updater) centers(previous [][]float64, r released) [][]float64 {
	u.remember(r)
	all := slices.Clone(previous)
	next := all[:u.active]
	for k := range next {
		if u.large(k) {
			next[k] = floats.ScaleTo(make([]float64, u.dim), 1/u.total.counts[k], u.sum(k))
		} else {
			next[k] = slices.Clone(previous[k])
		}
	}
	if u.cfg.Shrink == ShrinkToMean {
		u.shrink(next)
	}
	if u.cfg.Small == SplitLargest {
		u.split(next, r.counts[:u.active])
	}
	for _, c := range next {
		project(c, u.noise.clip)
	}
	return all
}

// shrink applies [ShrinkToMean]. It uses the mean of the records in all clusters above the floor. A
// centre's noise has an expected squared norm of d·s²/n². The noise of the mean is smaller and is
// ignored.
func (u *updater) shrink(centers [][]float64) {
	mean, records := make([]float64, u.dim), 0.0
	for k := range centers {
		if u.large(k) {
			records += u.total.counts[k]
			floats.Add(mean, u.sum(k))
		}
	}
	if records == 0 {
		return
	}
	floats.Scale(1/records, mean)
	for k, c := range centers {
		if !u.large(k) {
			continue
		}
		s := u.noise.sum / u.total.counts[k]
		explained := u.variance[k] * float64(u.dim) * s * s
		floats.Sub(c, mean)
		floats.Scale(max(1-explained/max(dot(c, c), math.SmallestNonzeroFloat64), minKeep), c)
		floats.Add(c, mean)
	}
}

// minKeep is the smallest shrinking factor. It keeps centres distinct.
const minKeep = 0.05

// split moves the centre of each small cluster next to the centre of the largest cluster. The two
// centres then divide the records of the largest cluster, whose count is halved, so the next small
// cluster may divide another cluster.
func (u *updater) split(centers [][]float64, counts []float64) {
	counts = slices.Clone(counts)
	for _, k := range u.small() {
		counts[k] = 0
	}
	for _, k := range u.small() {
		largest := floats.MaxIdx(counts)
		if !u.large(largest) {
			return
		}
		step := direction(u.rng, u.dim, splitStep*math.Sqrt(dot(centers[largest], centers[largest])))
		centers[k] = slices.Clone(centers[largest])
		floats.Add(centers[k], step)
		floats.Sub(centers[largest], step)
		counts[largest] /= 2
		defer u.forget(k)
		defer u.forget(largest)
	}
}

// small returns the clusters below the floor.
func (u *updater) small() (list []int) {
	for k := range u.active {
		if !u.large(k) {
			list = append(list, k)
		}
	}
	return list
}

// splitStep is the distance of the two new centres from the old centre, relative to the old
// centre's norm. The next assignment hardly depends on this distance.
const splitStep = 0.05

// project scales c to the norm radius if c has a larger norm.
func project(c []float64, radius float64) {
	if n := math.Sqrt(dot(c, c)); n > radius {
		floats.Scale(radius/n, c)
	}
}

// direction returns a random point, uniform on the sphere of the given radius.
func direction(rng *rand.Rand, dim int, radius float64) []float64 {
	for {
		v := make([]float64, dim)
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		if n := math.Sqrt(dot(v, v)); n > 0 {
			floats.Scale(radius/n, v)
			return v
		}
	}
}

func dot(a, b []float64) float64 {
	var s float64
	for i, v := range a {
		s += v * b[i]
	}
	return s
}
