package gan

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/sgd"
)

// TestCluster compares Algorithm 2 with a result computed by hand. The groups whose norms have the
// ratio closest to 1 merge first, to the norm √(c²+c′²).
func TestCluster(t *testing.T) {
	var groups []sgd.Group
	for b, c := range []float64{8, 1, 3, 1.1, 4} {
		groups = append(groups, sgd.Group{Blocks: []int{b}, ClipNorm: c})
	}
	got := cluster(groups, 3) // 1 with 1.1, then 3 with 4
	want := []sgd.Group{{Blocks: []int{0}, ClipNorm: 8},
		{Blocks: []int{1, 3}, ClipNorm: math.Hypot(1, 1.1)}, {Blocks: []int{2, 4}, ClipNorm: 5}}
	for j := range want {
		if !slices.Equal(got[j].Blocks, want[j].Blocks) ||
			math.Abs(got[j].ClipNorm-want[j].ClipNorm) > 1e-12 {
			t.Errorf("group %d is %v, want %v", j, got[j], want[j])
		}
	}
	if len(got) != 3 || len(cluster(groups, 1)) != 1 || len(groups) != 5 ||
		len(groups[1].Blocks) != 1 {
		t.Errorf("got groups %v, want 3; the argument became %v", got, groups)
	}
}

// TestGroupsPartition checks that every method puts each block into exactly one group. The sum of
// the squared norms must not change.
func TestGroupsPartition(t *testing.T) {
	critic, err := models.MLP{Hidden: []int{4, 3, 2},
		Activation: models.LeakyReLU}.Critic(device.CPU(), 5, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	norms := []float64{1, 2, 3, 4, 5, 6, 7, 8}
	for c, want := range map[*Clipping]int{{Groups: Whole}: 1, {Groups: WeightsAndBiases}: 2,
		{Groups: Clustered, K: 3}: 3} {
		seen, square := make([]int, 8), 0.0
		list := c.groups(critic, norms)
		for _, g := range list {
			square += g.ClipNorm * g.ClipNorm
			for _, b := range g.Blocks {
				seen[b]++
			}
		}
		if len(list) != want || slices.Max(seen) != 1 || slices.Min(seen) != 1 ||
			math.Abs(square-204) > 1e-9 {
			t.Errorf("%v: invalid groups %v", c.Groups, list)
		}
	}
	for _, c := range []Clipping{{Groups: WeightsAndBiases}, {Groups: Clustered, K: 4}} {
		biases := func(g sgd.Group) bool { return slices.Equal(g.Blocks, []int{1, 3, 5, 7}) }
		if list := c.groups(critic, norms); !slices.ContainsFunc(list, biases) {
			t.Errorf("%v: groups %v, want one of the biases 1, 3, 5, 7", c.Groups, list)
		}
	}
}

// TestAveragesFollowFasterAtFirst checks the weight of the parameters in the average after each of
// the first steps: nine in eleven, then less, and at last one minus the decay.
func TestAveragesFollowFasterAtFirst(t *testing.T) {
	critic, err := models.MLP{Hidden: []int{3}}.Critic(device.CPU(), 4, 0, 1)
	net, err2 := models.MLP{}.NewGenerator(device.CPU(), 2,
		[]models.Head{{Width: 4, Out: models.SigmoidHead}}, 1)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	l := newLearner(device.CPU(), critic, net, Config{Latent: 2, Average: 0.3, GeneratorBatch: 5,
		GeneratorOptimizer: sgd.Adam(0.1)})
	want, rng := slices.Clone(l.average), rand.New(rand.NewPCG(1, 1))
	for step, weight := range []float32{1 - 2./11, 1 - 3./12, 0.7, 0.7} {
		l.step(rng)
		for i, v := range l.average {
			want[i] += weight * (l.params[i] - want[i])
			if math.Abs(float64(v-want[i])) > 1e-5 {
				t.Errorf("parameter %d after step %d has the average %v, want %v", i, step+1, v, want[i])
			}
		}
	}
}

// TestFloored checks that clip norms are valid even if norms of public gradients are zero, NaN or
// infinite.
func TestFloored(t *testing.T) {
	for _, norms := range [][]float64{{0, 0}, {math.NaN(), 2}, {math.Inf(1), 1e-30}, {1e300, 1}} {
		for _, x := range floored(norms, 0.5) {
			if !(x >= smallestNorm && x <= largestNorm) {
				t.Errorf("clip norm %v, want one in [2^-60, 2^60]", x)
			}
		}
	}
}

// TestFakesBelongToRecords checks that a record's fake depends only on its key and its label.
func TestFakesBelongToRecords(t *testing.T) {
	c := Config{Latent: 3}
	net, err := models.MLP{Hidden: []int{6}, BatchNorm: true}.NewGenerator(device.CPU(), 3,
		[]models.Head{{Width: 4, Out: models.SigmoidHead}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	m := newMaker(device.CPU(), net, c)
	net.Forward(m.Draw(rng, make([]int32, 8))) // give batch norm some statistics
	keys := []uint64{rng.Uint64(), rng.Uint64(), rng.Uint64()}
	n := criticNetwork{fakes: m}
	all := n.keyed(keys, nil)
	among := append([]float32(nil), all.Row(2)...)
	if alone := n.keyed(keys[2:], nil); !slices.Equal(alone.Row(0), among) {
		t.Errorf("the fake is %v alone and %v in a batch", alone.Row(0), among)
	}
}
