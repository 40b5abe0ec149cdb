package sgd_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// blocky is a centre whose parameters are divided into blocks.
type blocky struct {
	*centre
	groups []sgd.Group // for statesGroups
}

func newBlocky(sizes ...int) *blocky {
	var shapes []device.Shape
	for range sizes {
		shapes = append(shapes, device.Shape{Name: "block", Rows: 1, Cols: sizes[len(shapes)]})
	}
	return &blocky{centre: &centre{params: device.NewParams(device.CPU(), shapes...)}}
}

func (n *blocky) Gradients(b device.Batch) models.Gradients {
	n.centre.Gradients(b)
	return n
}

func (n *blocky) BlockSquaredNorms(dst [][]float64) {
	for b := range dst {
		lo, hi := n.params.Range(b)
		for i, g := range n.rows {
			dst[b][i] = 0
			for _, v := range g[lo:hi] {
				dst[b][i] += float64(v) * float64(v)
			}
		}
	}
}

func (n *blocky) AddBlockSums(dst device.Params, weights [][]float32) {
	for b, w := range weights {
		lo, hi := n.params.Range(b)
		for i, g := range n.rows {
			for j := lo; j < hi && w[i] != 0; j++ {
				dst.Flat.Data[j] += w[i] * g[j]
			}
		}
	}
}

type statesGroups struct{ *blocky }

func (n statesGroups) ClipGroups() []sgd.Group { return n.groups }

func grouped(norms ...float64) sgd.Groups {
	var g sgd.Groups
	for i, c := range norms {
		g.List = append(g.List, sgd.Group{Blocks: []int{i}, ClipNorm: c})
	}
	return g
}

// TestGroupedEffect: adding, removing or replacing one record moves the joint release by at most
// 1/z standard deviations of its noise, for all divisions into groups. The test checks the
// definition by brute force.
func TestGroupedEffect(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	const z = 1.2
	tight := map[accountant.Relation]float64{}
	for trial := range 40 {
		sizes, norms, dim := []int{}, []float64{}, 0
		for range 1 + trial%5 {
			sizes = append(sizes, 1+rng.IntN(6))
			norms = append(norms, math.Exp(rng.NormFloat64()))
			dim += sizes[len(sizes)-1]
		}
		flat := make([]float32, 8*dim)
		for i := range flat {
			flat[i] = float32(20 * rng.NormFloat64())
		}
		flipped := append([]float32(nil), flat...)
		for j := 7 * dim; j < 8*dim; j++ {
			flipped[j] *= -1
		}
		cfg := with(grouped(norms...), 1, 1)
		cfg.NoiseMultiplier = z
		for r, other := range map[accountant.Relation][]float32{accountant.AddOrRemoveOne: flat[:7*dim],
			accountant.ReplaceOne: flipped} {
			a := observe(t, cfg, r, newBlocky(sizes...), fromFlat(t, dim, flat))
			b := observe(t, cfg, r, newBlocky(sizes...), fromFlat(t, dim, other))
			effect := distance(a.sums[0], b.sums[0]) / a.releases[0].Std[0]
			if effect > 1/z*(1+1e-6) {
				t.Errorf("%v: one record has the effect %v, want at most %v", r, effect, 1/z)
			}
			tight[r] = max(tight[r], effect*z)
		}
	}
	for r, near := range tight {
		if near < 0.98 {
			t.Errorf("%v: the largest effect is only %v of the bound: the test has no power", r, near)
		}
	}
}

// TestGroupNoise: the noise of group j's parameters has standard deviation s_j under
// add-or-remove-one, and 2s_j under replace-one. The test computes s_j from the formulas, not with
// the package. Each of six comparisons fails by chance with probability 1e-9.
func TestGroupNoise(t *testing.T) {
	sizes, norms, z := []int{30000, 8000, 12000}, []float64{2, 0.5, 0.1}, 1.7
	total := 0.0
	for j := range sizes {
		total += norms[j] * math.Sqrt(float64(sizes[j]))
	}
	none := must(records.FromFlat(records.Interval(50000, -1, 1), nil))(t)
	for r, factor := range map[accountant.Relation]float64{accountant.AddOrRemoveOne: 1,
		accountant.ReplaceOne: 2} {
		net := newBlocky(sizes...)
		cfg := sgd.Config{Clip: grouped(norms...), SamplingProbability: 0.5, Steps: 1,
			NoiseMultiplier: z, Optimizer: sgd.SGD(1), NominalBatch: 1}
		trainer := must(sgd.New(cfg, net,
			ledger.New(accountant.Budget{Epsilon: 1e4, Delta: 1e-5, Relation: r})))(t)
		for _, err := range trainer.Steps(t.Context(), none) {
			if err != nil {
				t.Fatal(err)
			}
		}
		effect := 0.0
		for j := range sizes {
			want := z * math.Sqrt(norms[j]/math.Sqrt(float64(sizes[j]))*total)
			effect += norms[j] / want * norms[j] / want
			lo, hi := net.params.Range(j)
			moved := net.params.Flat.Data[lo:hi]
			privacytest.GoodnessOfFit{Draw: func() float64 {
				x := moved[0]
				moved = moved[1:]
				return float64(x)
			},
				CDF: privacytest.NormalCDF(want * factor), FalseAlarm: 1e-9,
				Samples: min(hi-lo, 8000) / 2}.Check(t)
			for _, wrong := range []float64{0.7, 1.3} {
				rest := net.params.Flat.Data[lo:hi]
				if !(privacytest.GoodnessOfFit{Draw: func() float64 {
					x := rest[0]
					rest = rest[1:]
					return float64(x)
				},
					CDF: privacytest.NormalCDF(want * factor * wrong), FalseAlarm: 1e-9,
					Samples: hi - lo}).Rejected(t) {
					t.Errorf("the test would accept noise multiplied by %v", wrong)
				}
			}
		}
		if math.Abs(effect*z*z-1) > 1e-12 {
			t.Errorf("Σ(c/s)² = %v, want 1/z² = %v", effect, 1/(z*z))
		}
	}
}

// TestGroupedEventIsJoint: k groups with noise σ·c_j each cost the same as one release with
// multiplier σ/√k. Under parallel composition they would cost less, and k separately sampled
// releases would cost more. The constants are ε for σ = 1.086, q = 64/49000 and δ = 1e-5. The
// numbers of steps are from the two wrong accountings for the paper's claimed ε of 4.
func TestGroupedEventIsJoint(t *testing.T) {
	if testing.Short() {
		t.Skip("prices three runs")
	}
	for _, c := range []struct {
		k, steps int
		epsilon  float64
	}{{5, 51553, 13.98}, {7, 36823, 25.1}, {5, 257766, 34.5}} {
		norms := make([]float64, c.k)
		for j := range norms {
			norms[j] = float64(1 + j)
		}
		sigma := 1.086
		z := sigma / math.Sqrt(float64(c.k))
		cfg := sgd.Config{Clip: grouped(norms...), SamplingProbability: 64. / 49000,
			Steps: c.steps, NoiseMultiplier: z}
		got, err := accountant.Epsilon(accountant.Repeated{Event: cfg.Event(accountant.AddOrRemoveOne),
			Count: c.steps}, 1e-5, accountant.AddOrRemoveOne)
		if err != nil || math.Abs(got.Upper/c.epsilon-1) > 0.01 {
			t.Errorf("k = %d, %d steps: ε = %v (%v), want %v", c.k, c.steps, got.Upper, err, c.epsilon)
		}
	}
}

// TestLeastNoiseIsLeast: the total noise is at most the total noise of flat clipping. No
// other split with the same cost has less noise.
func TestLeastNoiseIsLeast(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	for range 200 {
		k := 1 + rng.IntN(6)
		norms, sizes, flat, params := make([]float64, k), make([]int, k), 0.0, 0.0
		equal := make([]float64, k) // the paper's
		for j := range norms {
			norms[j], sizes[j] = math.Exp(2*rng.NormFloat64()), 1+rng.IntN(1000)
			flat, params = flat+norms[j]*norms[j], params+float64(sizes[j])
			equal[j] = math.Sqrt(float64(k)) * norms[j]
		}
		variance := func(s []float64) (v float64) {
			for j, x := range s {
				v += float64(sizes[j]) * x * x
			}
			return v
		}
		best := sgd.GroupNoise(norms, sizes)
		if got := variance(best); got > flat*params*(1+1e-12) ||
			got > variance(equal)*(1+1e-12) {
			t.Errorf("variance %v, want at most %v of flat clipping and %v of equal noise multipliers",
				got, flat*params, variance(equal))
		}
		other, effect := append([]float64(nil), best...), 0.0
		for j := range other {
			other[j] *= math.Exp(0.3 * rng.NormFloat64())
			effect += norms[j] / other[j] * norms[j] / other[j]
		}
		for j := range other {
			other[j] *= math.Sqrt(effect) // the same cost
		}
		if variance(other) < variance(best)*(1-1e-12) {
			t.Errorf("another split has variance %v, less than the least %v", variance(other), variance(best))
		}
	}
}

// TestGroupsByNetwork: groups stated by the network have the same effect as groups listed in the
// configuration. The event of a step is also the same.
func TestGroupsByNetwork(t *testing.T) {
	data := table(t, 20, 6, 1)
	listed := grouped(0.5, 2)
	net := newBlocky(2, 4)
	a := observe(t, with(listed, 1, 3), accountant.AddOrRemoveOne, net, data)
	own := newBlocky(2, 4)
	own.groups = listed.List
	b := observe(t, with(sgd.Groups{}, 1, 3), accountant.AddOrRemoveOne, statesGroups{own}, data)
	if !reflect.DeepEqual(a.sums, b.sums) ||
		!reflect.DeepEqual(net.params.Flat.Data, own.params.Flat.Data) {
		t.Error("groups stated by the network and groups listed in Clip give different parameters")
	}
	cfg := with(listed, 1, 3)
	want := accountant.PoissonSampled{Probability: 1,
		Event: accountant.Gaussian{NoiseMultiplier: cfg.NoiseMultiplier}}
	if !accountant.EqualEvents(cfg.Event(accountant.ReplaceOne), want) {
		t.Errorf("the event of a step is %v", cfg.Event(accountant.ReplaceOne))
	}
}

func TestGroupMistakes(t *testing.T) {
	net := newBlocky(2, 3)
	for name, clip := range map[string]sgd.Groups{
		"no group for a block": {List: []sgd.Group{{Blocks: []int{0}, ClipNorm: 1}}},
		"a block twice": {List: []sgd.Group{{Blocks: []int{0, 1}, ClipNorm: 1},
			{Blocks: []int{1}, ClipNorm: 1}}},
		"no such block":  {List: []sgd.Group{{Blocks: []int{0, 1, 2}, ClipNorm: 1}}},
		"no norm":        {List: []sgd.Group{{Blocks: []int{0, 1}}}},
		"an empty group": {List: []sgd.Group{{Blocks: []int{0, 1}, ClipNorm: 1}, {ClipNorm: 1}}},
		"no groups":      {},
	} {
		if _, err := sgd.New(with(clip, 1, 1), net, ledger.New(budget(1e4))); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := sgd.New(with(grouped(1), 1, 1), newCentre(3),
		ledger.New(budget(1e4))); err == nil {
		t.Error("a network whose gradients have no blocks: accepted")
	}
}

func TestGroupsJSON(t *testing.T) {
	cfg := with(grouped(0.5, 2), 0.1, 3)
	text := must(json.Marshal(cfg))(t)
	var back sgd.Config
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(cfg, back) {
		t.Errorf("%v: %+v, want %+v", err, back, cfg)
	}
}

// TestGroupsLeaveOutNonFinite: a record that is not finite does not count in any group.
func TestGroupsLeaveOutNonFinite(t *testing.T) {
	nan := float32(math.NaN())
	good := [][]float32{{1, 2, 3}, {3, -1, 1}}
	schema := fromFlat(t, 3, []float32{0, 0, 0})
	clip := grouped(1, 2)
	a := observe(t, with(clip, 1, 2), accountant.AddOrRemoveOne, newBlocky(1, 2),
		raw{schema, append([][]float32{{nan, nan, nan}}, good...)}).sums[0]
	b := observe(t, with(clip, 1, 2), accountant.AddOrRemoveOne, newBlocky(1, 2),
		raw{schema, good}).sums[0]
	if distance(a, b) > 1e-6 {
		t.Errorf("a record that is not finite moves the sum by %v", distance(a, b))
	}
}

// TestGroupsLeaveOutNonFiniteBlock: a record with one block that is not finite does not count in
// the other block either.
func TestGroupsLeaveOutNonFiniteBlock(t *testing.T) {
	good := [][]float32{{1, 2, 3}, {3, -1, 1}}
	schema := fromFlat(t, 3, []float32{0, 0, 0})
	clip := grouped(1, 2)
	b := observe(t, with(clip, 1, 2), accountant.AddOrRemoveOne, newBlocky(1, 2),
		raw{schema, good}).sums[0]
	for i := range 6 {
		odd := []float32{9, 9, 9}
		odd[i%3] = []float32{float32(math.Inf(1)), float32(math.NaN())}[i/3]
		a := observe(t, with(clip, 1, 2), accountant.AddOrRemoveOne, newBlocky(1, 2),
			raw{schema, append([][]float32{odd}, good...)}).sums[0]
		if distance(a, b) > 1e-6 {
			t.Errorf("the record %v moves the sum by %v", odd, distance(a, b))
		}
	}
}

// TestResume: a run is saved after a step and read back together with its ledger. It continues as
// if it had not stopped. It takes no more uses than were reserved.
func TestResume(t *testing.T) {
	data := table(t, 30, 3, 1)
	for name, clip := range map[string]sgd.Clip{"flat": nil, "quantile": policies()["quantile"],
		"groups": grouped(1, 2)} {
		cfg := with(clip, 1, 6) // every record in every step, so that samples agree
		force := func(rel *entropy.Release) {
			for i := range rel.Outputs[0] {
				rel.Outputs[0][i] = math.Sin(float64(i)) + rel.Inputs[0][i]/100
			}
		}
		train := func(ctx context.Context, net *blocky, l *ledger.Ledger, steps int,
			state []byte) []byte {
			opts := []sgd.Option{sgd.WithAverage(0.9)}
			if state != nil {
				left := must(mechanism.Begin(ctx, l).Resume("DP-SGD step", cfg.Event(l.Relation())))(t)
				opts = append(opts, sgd.WithAllowance(left))
			}
			trainer := must(sgd.New(cfg, net, l, opts...))(t)
			if state != nil {
				if err := trainer.SetState(state); err != nil {
					t.Fatal(err)
				}
			}
			for s, err := range trainer.Steps(ctx, data) {
				if err != nil {
					t.Fatal(err)
				}
				if s.Number == steps {
					break
				}
			}
			state = trainer.AppendState(nil)
			trainer.UseAverage()
			return state
		}
		whole, parts := newBlocky(1, 2), newBlocky(1, 2)
		ctx := func() context.Context { return (&recorder{seed: 3, force: force}).context(t.Context()) }
		last := train(ctx(), whole, ledger.New(budget(1e4)), 6, nil)

		l := ledger.New(budget(1e4))
		trainer, _ := sgd.New(cfg, parts, l, sgd.WithAverage(0.9))
		for s, err := range trainer.Steps(ctx(), data) {
			if err != nil {
				t.Fatal(err)
			}
			if s.Number == 2 {
				break
			}
		}
		saved := must(json.Marshal(l))(t)
		again, err := ledger.Unmarshal(saved)
		if err != nil {
			t.Fatal(err)
		}
		fresh := newBlocky(1, 2)
		copy(fresh.params.Flat.Data, parts.params.Flat.Data)
		end := train(ctx(), fresh, again, 6, trainer.AppendState(nil))
		if !reflect.DeepEqual(end, last) ||
			!reflect.DeepEqual(fresh.params.Flat.Data, whole.params.Flat.Data) {
			t.Errorf("%s: a resumed run ends at %v, an uninterrupted one at %v", name, fresh.params.Flat.Data,
				whole.params.Flat.Data)
		}
		if e := again.Entries(); len(e) != 1 || e[0].Reserved != 6 || e[0].Spent != 6 {
			t.Errorf("%s: ledger %v, want one entry with 6 of 6 steps spent", name, e)
		}
		_, err = mechanism.Begin(t.Context(), again).Resume("DP-SGD step", cfg.Event(again.Relation()))
		if !errors.Is(err, ledger.ErrReservationExhausted) {
			t.Errorf("%s: a seventh step of six: %v", name, err)
		}
		for _, bad := range [][]byte{nil, end[1:], append(append([]byte(nil), end...), 0)} {
			if trainer.SetState(bad) == nil {
				t.Errorf("%s: a state of %d bytes was accepted", name, len(bad))
			}
		}
	}
}

// Two groups of parameters are clipped separately. The cost of a step does not depend on the
// groups.
func ExampleGroups() {
	groups := sgd.Groups{List: []sgd.Group{{Blocks: []int{0}, ClipNorm: 1},
		{Blocks: []int{1}, ClipNorm: 0.1}}}
	cfg := sgd.Config{Clip: groups, SamplingProbability: 0.01, Steps: 1000, NoiseMultiplier: 1.1,
		Optimizer: sgd.Adam(1e-3)}
	fmt.Println(accountant.Describe(cfg.Event(accountant.AddOrRemoveOne)))
	noise := sgd.GroupNoise([]float64{1, 0.1}, []int{10000, 100})
	fmt.Printf("noise %.3f and %.3f, for a multiplier of 1\n", noise[0], noise[1])
	// Output:
	// on a Poisson sample at rate 0.01: Gaussian release, noise multiplier 1.1
	// noise 1.005 and 1.005, for a multiplier of 1
}
