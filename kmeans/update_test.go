package kmeans

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/seed7ba64551/privgen/accountant"
)

func TestSpreadMeetsItsMultiplier(t *testing.T) {
	for _, clip := range []float64{0.01, 1, 28} {
		for _, z := range []float64{0.3, 1, 200} {
			for _, share := range []float64{1e-3, 0.034, 0.3, 0.5, 0.7, 0.99} {
				n := spread(accountant.AddOrRemoveOne, clip, z, share)
				if got := math.Hypot(clip/n.sum, 1/n.count); math.Abs(got*z-1) > 1e-12 {
					t.Errorf("add/remove, share %v: got effect %v with noise multiplier %v", share, got, z)
				}
				n = spread(accountant.ReplaceOne, clip, z, share)
				stays, moves := 2*clip/n.sum, math.Sqrt(2*clip*clip/(n.sum*n.sum)+2/(n.count*n.count))
				if got := max(stays, moves); math.Abs(got*z-1) > 1e-12 || math.Abs(got/n.effect-1) > 1e-12 {
					t.Errorf("replace one, share %v: got effect %v, declared %v, with noise multiplier %v", share,
						got,
						n.effect, z)
				}
				if share < 0.5 && math.Abs(n.sum-2*clip*z) > 1e-9*n.sum {
					t.Errorf("replace one: counts with a share below one half increase the noise on sums to %v",
						n.sum)
				}
			}
		}
	}
}

// TestDefaultCountShareIsOptimal checks that no other share gives a centre of half the clip norm a
// smaller error.
func TestDefaultCountShareIsOptimal(t *testing.T) {
	for _, d := range []int{2, 50, 200, 784} {
		loss := func(share float64) float64 {
			n := spread(accountant.AddOrRemoveOne, 1, 10, share)
			return float64(d)*n.sum*n.sum + 0.25*n.count*n.count
		}
		best := loss(defaultCountShare(d))
		for share := 0.001; share < 1; share += 0.001 {
			if loss(share) < best*(1-1e-9) {
				t.Fatalf("%d features: share %.3f has a smaller error than %.4f", d, share,
					defaultCountShare(d))
			}
		}
	}
}

func update(cfg Config, n noise, k, dim int) *updater {
	cfg.K = k
	return newUpdater(cfg, n, dim, rand.New(rand.NewPCG(1, 1)))
}

func TestSmallClustersKeepTheirCenter(t *testing.T) {
	n := noise{clip: 1, sum: 10, count: 10}
	before := [][]float64{{0.5, 0}, {0, 0.5}, {-0.5, 0}, {0.1, 0.1}}
	r := released{sums: []float64{60, 0, 5, 5, 900, 900, 3, 3},
		counts: []float64{100, 29.9, 1000, -500}}
	got := update(Config{Shrink: NoShrink}, n, 4, 2).centers(before, r)
	want := [][]float64{{0.6, 0}, {0, 0.5}, {math.Sqrt(0.5), math.Sqrt(0.5)}, {0.1, 0.1}}
	for k := range want {
		for j := range want[k] {
			if math.Abs(got[k][j]-want[k][j]) > 1e-12 {
				t.Errorf("centre %d is %v, want %v", k, got[k], want[k])
			}
		}
	}
	u := update(Config{Memory: 0.5, Shrink: NoShrink}, noise{clip: 1, sum: 1, count: 0.1}, 1, 1)
	for range 2 { // less than one record in a release
		c := u.centers([][]float64{{0.5}}, released{sums: []float64{0.2}, counts: []float64{0.9}})
		if c[0][0] != 0.5 {
			t.Errorf("a cluster of less than one record moves to %v", c)
		}
	}
	before[1][0] = 7
	if got[1][0] == 7 {
		t.Error("new centres share memory with the old ones")
	}
}

func TestSplitLargest(t *testing.T) {
	n := noise{clip: 1, sum: 0.1, count: 1}
	before := [][]float64{{1, 0}, {0, 1}, {0, -1}, {1, 0}}
	r := released{sums: []float64{0, 0, 500, 0, 0, 0, 0, 300}, counts: []float64{0, 1000, -3, 600}}
	got := update(Config{Small: SplitLargest, Shrink: NoShrink}, n, 4, 2).centers(before, r)
	// Cluster 1 of 1000 records is split for cluster 0, then cluster 3 of 600 records for cluster 2.
	for pair, middle := range map[[2]int][]float64{{0, 1}: {0.5, 0}, {2, 3}: {0, 0.5}} {
		a, b := got[pair[0]], got[pair[1]]
		for j := range middle {
			if math.Abs((a[j]+b[j])/2-middle[j]) > 1e-12 {
				t.Errorf("the middle of centres %v and %v is not %v", a, b, middle)
			}
		}
		if d := math.Hypot(a[0]-b[0], a[1]-b[1]); math.Abs(d-2*splitStep*0.5) > 1e-9 {
			t.Errorf("the distance of centres %v and %v is %v, want splitStep", a, b, d)
		}
	}
	// Halves of cluster 1 are larger than cluster 3, so cluster 1 is split again.
	r = released{sums: []float64{0, 0, 500, 0, 0, 0, 0, 100}, counts: []float64{0, 1000, -3, 200}}
	got = update(Config{Small: SplitLargest, Shrink: NoShrink}, n, 4, 2).centers(before, r)
	for k, c := range got[:3] {
		if d := math.Hypot(c[0]-.5, c[1]); !(d < 3*splitStep*.5) {
			t.Errorf("centre %d is %v, want it near (0.5, 0)", k, c)
		}
	}
	none := released{sums: make([]float64, 8), counts: []float64{-1, -2, 0, 0}}
	if got := update(Config{Small: SplitLargest, Shrink: NoShrink}, n, 4, 2).centers(before,
		none); got[0][0] != 1 || got[2][1] != -1 {
		t.Errorf("no cluster is large enough to split, but the centres moved: %v", got)
	}
}

// TestShrinkLowersTheError compares the errors of noisy centres with and without shrinking. The
// difference is more than 20 standard errors.
func TestShrinkLowersTheError(t *testing.T) {
	const k, dim, count, trials = 10, 50, 1000.0, 200
	rng := rand.New(rand.NewPCG(1, 7))
	n := noise{clip: 1, sum: 60, count: 30}
	plain, pulled := update(Config{Shrink: NoShrink}, n, k, dim),
		update(Config{Shrink: ShrinkToMean}, n, k, dim)
	var before, after float64
	for range trials {
		truth, r := make([][]float64, k), released{make([]float64, k*dim), make([]float64, k)}
		common := direction(rng, dim, 0.5)
		for c := range truth {
			truth[c] = slices.Clone(common)
			floats.Add(truth[c], direction(rng, dim, 0.2))
			r.counts[c] = count + n.count*rng.NormFloat64()
			for j := range dim {
				r.sums[c*dim+j] = count*truth[c][j] + n.sum*rng.NormFloat64()
			}
		}
		before += squaredError(plain.centers(truth, r), truth)
		after += squaredError(pulled.centers(truth, r), truth)
	}
	if after > 0.5*before {
		t.Errorf("squared error %.3f with shrinking, %.3f without, want at most half", after, before)
	}
}

func squaredError(a, b [][]float64) (s float64) {
	for i := range a {
		for j := range a[i] {
			s += (a[i][j] - b[i][j]) * (a[i][j] - b[i][j])
		}
	}
	return s
}

// TestMemoryAveragesNoise checks the noise variance of the centre of an unchanging cluster. Memory
// m multiplies this variance by (1−m)/(1+m). The observed variance has a scaled chi-square
// distribution with 2000 degrees of freedom, so the tolerance of 12 % is almost four standard
// deviations. The seed is fixed.
func TestMemoryAveragesNoise(t *testing.T) {
	const dim, n = 2000, 1000.0
	rng := rand.New(rand.NewPCG(2, 3))
	for _, m := range []float64{0, 0.5, 0.8} {
		u := update(Config{Memory: m, Shrink: NoShrink}, noise{clip: 1e9, sum: 10, count: 1}, 1, dim)
		c := [][]float64{make([]float64, dim)}
		for range 40 {
			r := released{make([]float64, dim), []float64{n}}
			for j := range r.sums {
				r.sums[j] = 10 * rng.NormFloat64()
			}
			c = u.centers(c, r)
		}
		got, want := dot(c[0], c[0])/dim*n*n/100, (1-m)/(1+m)
		if math.Abs(got/want-1) > 0.12 {
			t.Errorf("memory %v: noise variance ÷ variance of one release is %.3f, want %.3f", m, got, want)
		}
	}
}

func TestWeights(t *testing.T) {
	for _, c := range []struct{ counts, want []float64 }{
		{[]float64{1, 3, -2}, []float64{0.25, 0.75, 0}},
		{[]float64{-1, -3}, []float64{0.5, 0.5}},
		{[]float64{0}, []float64{1}},
	} {
		got := (&Model{Counts: c.counts}).Weights()
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("counts %v give weights %v", c.counts, got)
			}
		}
	}
}

func TestModelJSON(t *testing.T) {
	m := newModel([][]float64{{0.1, 0.2}, {0.3, -1e-30}}, []float64{-3.5, 1e6}, 1)
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var back Model
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	for i := range m.Centers {
		if back.Counts[i] != m.Counts[i] || back.Centers[i][0] != m.Centers[i][0] ||
			back.Centers[i][1] != m.Centers[i][1] {
			t.Errorf("wrote %v, read %v", m, back)
		}
	}
	for _, s := range []string{`{}`, `[]`, `null`, `{"centers":[[1]],"counts":[],"clip_norm":1}`,
		`{"centers":[[1],[1,2]],"counts":[1,2],"clip_norm":1}`,
		`{"centers":[[1e60]],"counts":[1],"clip_norm":1}`,
		`{"centers":[[1]],"counts":[1],"clip_norm":-1}`, `{"centers":[[]],"counts":[1],"clip_norm":1}`} {
		var m Model
		if err := m.UnmarshalJSON([]byte(s)); !errors.Is(err, ErrModel) {
			t.Errorf("%s: got %v, want ErrModel", s, err)
		}
	}
}

func TestConfigJSON(t *testing.T) {
	c := Config{K: 10, Iterations: 5, NoiseMultiplier: 2, Init: Init{Method: Given},
		Small: SplitLargest, Norm: &DPNorm{Max: 3, Bins: 4, NoiseMultiplier: 1}}
	data, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var back Config
	if err := json.Unmarshal(data, &back); err != nil || back.Init.Method != Given ||
		back.Small != SplitLargest || *back.Norm != *c.Norm {
		t.Errorf("%s was read as %+v (error %v)", data, back, err)
	}
	if err := json.Unmarshal([]byte(`{"init":{"method":"private"}}`), &back); err == nil {
		t.Error("an unknown method was read, want an error")
	}
}

// TestMergedCentresForgetReleases: after a merge, centres follow from the later releases alone,
// although Memory would weigh earlier ones.
func TestMergedCentresForgetReleases(t *testing.T) {
	cfg := Config{Centers: 4, Merge: 1, Memory: 0.5}
	n := noise{clip: 10, sum: 0.1, count: 0.1}
	first := released{[]float64{50, 0, 40, 10, -30, 5, -60, -9}, []float64{10, 10, 10, 10}}
	later := released{[]float64{90, 30, -80, 2, 0, 0, 0, 0}, []float64{20, 20, 0.2, -0.1}}
	u, fresh := update(cfg, n, 2, 2), update(cfg, n, 2, 2)
	centers := u.merge(u.centers(zeros(4, 2), first), first.counts, 2)
	fresh.active = 2
	if got, want := u.centers(centers, later), fresh.centers(centers, later); !reflect.DeepEqual(got,
		want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestMergedSizesAreTheLast: clusters of merged centres have the sizes of the last release, and
// equal ones if all releases after the merge were lost.
func TestMergedSizesAreTheLast(t *testing.T) {
	p := &path{l: &lloyd{cfg: Config{K: 2, Centers: 3, Merge: 1, Iterations: 4}}, s: start{clip: 1},
		centers: zeros(3, 2)}
	for n, release := range [][]float64{{1, 2, 3}, {4, 5, -6}, {7, 8, 9}, {10, 11, 0.5}} {
		p.counts = append(p.counts, release)
		m, err := p.merged()
		if err != nil {
			t.Fatal(err)
		}
		want := release[:2]
		if n == 0 {
			want = make([]float64, 2)
		}
		if len(m.Centers) != 2 || !slices.Equal(m.Counts, want) {
			t.Errorf("%d centres of sizes %v after %d releases, want %v", len(m.Centers), m.Counts, n+1,
				want)
		}
	}
}

// TestGivenCentresAreClipped: given centres beyond the clip norm start on its sphere.
func TestGivenCentresAreClipped(t *testing.T) {
	given := Init{Method: Given, Centers: [][]float32{{3, 4}, {0.3, 0.4}, {-6, 0}}}
	got := given.given(start{f: raw{dim: 2}, k: 3, clip: 2})
	for k, want := range [][]float64{{1.2, 1.6}, {0.3, 0.4}, {-2, 0}} {
		for j, v := range want {
			if math.Abs(got[k][j]-v) > 1e-6 {
				t.Errorf("centre %d is %v, want %v", k, got[k], want)
				break
			}
		}
	}
}
