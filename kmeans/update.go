package kmeans

import (
	"math"
	"math/rand/v2"
)

// Shrink says whether centres are pulled together against their noise.
type Shrink int

const (
	// NoShrink divides sums by counts and no more.
	NoShrink Shrink = iota
	// ShrinkToMean pulls each centre toward the mean of all records, by the
	// part of its distance that its noise explains.
	ShrinkToMean
)

// updater turns released numbers into centres. It sees nothing private.
type updater struct {
	cfg   Config
	noise noise
	dim   int
	floor float64
	rng   *rand.Rand // public

	// With Config.Memory: discounted totals of what was released so far, and
	// the variance of their noise in units of one release's.
	past     released
	variance []float64
}

func newUpdater(cfg Config, n noise, dim int, rng *rand.Rand) *updater {
	u := &updater{cfg: cfg, noise: n, dim: dim, floor: cfg.Floor, rng: rng}
	if u.floor == 0 {
		u.floor = max(3*n.count, 1)
	}
	u.past = released{make([]float64, cfg.K*dim), make([]float64, cfg.K)}
	u.variance = make([]float64, cfg.K)
	return u
}

// remember adds a release to the discounted totals of those before it.
// Clusters move less and less, so old sums hold nearly the same records as new
// ones under independent noise.
func (u *updater) remember(r released) released {
	m := u.cfg.Memory
	for i, v := range r.sums {
		u.past.sums[i] = m*u.past.sums[i] + v
	}
	for k, n := range r.counts {
		u.past.counts[k] = m*u.past.counts[k] + n
		u.variance[k] = m*m*u.variance[k] + 1
	}
	return u.past
}

// forget drops a cluster's past, which a split makes meaningless.
func (u *updater) forget(k int) {
	clear(u.past.sums[k*u.dim : (k+1)*u.dim])
	u.past.counts[k], u.variance[k] = 0, 0
}

// centers returns the centres of the next iteration.
func (u *updater) centers(previous [][]float64, r released) [][]float64 {
	next, small := make([][]float64, len(previous)), []int(nil)
	total := u.remember(r)
	for k := range next {
		if total.counts[k] < u.floorOf(k) {
			next[k] = clone(previous[k])
			small = append(small, k)
			continue
		}
		next[k] = scaled(u.sum(total, k), 1/total.counts[k])
	}
	if u.cfg.Shrink == ShrinkToMean {
		u.shrink(next, total)
	}
	if u.cfg.Small == SplitLargest {
		u.split(next, small, r.counts)
	}
	for _, c := range next {
		project(c, u.noise.clip)
	}
	return next
}

// floorOf is the floor of a cluster's total count: that of one release, times
// the growth of the total's noise.
func (u *updater) floorOf(k int) float64 { return u.floor * math.Sqrt(u.variance[k]) }

func (u *updater) sum(r released, k int) []float64 { return r.sums[k*u.dim : (k+1)*u.dim] }

// shrink is the positive-part James-Stein rule around the mean of all clusters
// above the floor, whose own noise is smaller.
func (u *updater) shrink(centers [][]float64, r released) {
	mean, total := make([]float64, u.dim), 0.0
	for k, n := range r.counts {
		if n >= u.floorOf(k) {
			total += n
			axpy(mean, 1, u.sum(r, k))
		}
	}
	if total == 0 {
		return
	}
	scale(mean, 1/total)
	for k, n := range r.counts {
		if n < u.floorOf(k) {
			continue
		}
		axpy(centers[k], -1, mean)
		explained := u.variance[k] * float64(u.dim) * u.noise.sum * u.noise.sum / (n * n)
		keep := 1 - explained/dot(centers[k], centers[k])
		scale(centers[k], max(keep, minKeep))
		axpy(centers[k], 1, mean)
	}
}

// minKeep is what shrinking leaves at least, so that centres stay apart.
const minKeep = 0.05

// split moves each small cluster next to the largest, whose records the two
// then share; noisy counts are halved so that the next one goes elsewhere.
func (u *updater) split(centers [][]float64, small []int, counts []float64) {
	counts = clone(counts)
	for _, k := range small {
		largest := argmax(counts)
		if counts[largest] < u.floor || largest == k {
			return
		}
		step := direction(u.rng, u.dim, splitStep*math.Sqrt(dot(centers[largest], centers[largest])))
		centers[k] = clone(centers[largest])
		axpy(centers[k], 1, step)
		axpy(centers[largest], -1, step)
		u.forget(k)
		u.forget(largest)
		counts[largest] /= 2
		counts[k] = counts[largest]
	}
}

// splitStep is the distance of the two halves from the centre they come from,
// relative to its norm. Only the direction matters to the next assignment.
const splitStep = 0.05

func argmax(v []float64) int {
	at := 0
	for i := range v {
		if v[i] > v[at] {
			at = i
		}
	}
	return at
}

// project brings c into the ball of the given radius.
func project(c []float64, radius float64) {
	if n := math.Sqrt(dot(c, c)); n > radius {
		scale(c, radius/n)
	}
}

// direction is uniform on the sphere of the given radius.
func direction(rng *rand.Rand, dim int, radius float64) []float64 {
	for {
		v := make([]float64, dim)
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		if n := math.Sqrt(dot(v, v)); n > 0 {
			scale(v, radius/n)
			return v
		}
	}
}

func clone(v []float64) []float64 { return append([]float64(nil), v...) }

func scaled(v []float64, f float64) []float64 {
	w := clone(v)
	scale(w, f)
	return w
}

func scale(v []float64, f float64) {
	for i := range v {
		v[i] *= f
	}
}

func axpy(dst []float64, f float64, v []float64) {
	for i, x := range v {
		dst[i] += f * x
	}
}

func dot(a, b []float64) float64 {
	var s float64
	for i, v := range a {
		s += v * b[i]
	}
	return s
}
