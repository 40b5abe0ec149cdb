package models

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

// mixedVisible has blocks of every kind: a choice of 4, two numbers, a choice of 3, a number that
// can be missing, and two numbers that are missing together.
func mixedVisible(l Likelihood) Visible {
	return Visible{Dim: 14, Likelihood: l, Blocks: []Block{{Width: 4, OneHot: true}, {Width: 2},
		{Width: 3, OneHot: true}, {Width: 2, Missing: true}, {Width: 3, Missing: true}}}
}

// mixedBatch returns random records in blocks, with keys.
func mixedBatch(rng *rand.Rand, rows int, v Visible) device.Batch {
	b := binaryBatch(rng, rows, v.Dim, 0)
	for i := range rows {
		row := b.Dense.Row(i)
		lo := 0
		for _, block := range v.Blocks {
			part := row[lo : lo+block.Width]
			for j := range block.numbers() {
				part[j] = rng.Float32()
			}
			if block.OneHot {
				part[rng.IntN(block.Width)] = 1
			}
			if block.Missing && rng.IntN(3) == 0 {
				clear(part)
				part[block.Width-1] = 1
			}
			lo += block.Width
		}
	}
	return b
}

// mixedLoss64 returns the negative log-likelihood of a record given the decoder's sums, computed in
// float64 without the layout.
func mixedLoss64(v Visible, out []float64, x []float64) (sum float64) {
	bernoulli := func(o, x float64) float64 {
		return math.Log1p(math.Exp(-math.Abs(o))) + max(o, 0) - x*o
	}
	number := bernoulli
	if v.Likelihood == GaussianUnit {
		number = func(o, x float64) float64 { return 0.5 * (o - x) * (o - x) }
	}
	lo := 0
	for _, b := range v.Blocks {
		o, x := out[lo:lo+b.Width], x[lo:lo+b.Width]
		lo += b.Width
		switch {
		case b.OneHot:
			total := 0.0
			for _, s := range o {
				total += math.Exp(s)
			}
			for j, s := range o {
				sum += x[j] * (math.Log(total) - s)
			}
			continue
		case b.Missing:
			sum += bernoulli(o[b.Width-1], x[b.Width-1])
			if x[b.Width-1] == 1 {
				continue
			}
			o, x = o[:b.Width-1], x[:b.Width-1]
		}
		for j := range o {
			sum += number(o[j], x[j])
		}
	}
	return sum
}

func TestVAEGradientOfBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, a := range []VAE{
		{Hidden: []int{9}, Latent: 2, Activation: Tanh},
		{Hidden: []int{8, 5}, Latent: 3, Activation: Softplus, KLWeight: 2},
		{Hidden: nil, Latent: 2},
	} {
		for _, l := range []Likelihood{Bernoulli, GaussianUnit} {
			v := mixedVisible(l)
			n := newTestVAE(t, a, v)
			b := mixedBatch(rng, 11, v)
			checkDerivative(t, n, b, referenceVAE{n, b, rowsOf(b)}.loss)
			checkFactored(t, n, b, 0)
			checkEmpty(t, n, v.Dim)
			checkLosses(t, n, b)
			checkTotal(t, n, b)
		}
	}
}

// checkLosses compares the losses of n with the losses of the float64 reference.
func checkLosses(t *testing.T, n *vae, b device.Batch) {
	t.Helper()
	got, p := make([]float64, b.Rows), make([]float64, n.Params().Len())
	n.Gradients(b).(interface{ Losses([]float64) }).Losses(got)
	for j, x := range n.Params().Flat.Data {
		p[j] = float64(x)
	}
	for i := range got {
		if want := (referenceVAE{n, b, rowsOf(b)}).loss(p, i); math.Abs(got[i]-want) > 1e-4*(1+want) {
			t.Errorf("loss %v, want %v", got[i], want)
		}
	}
}

// TestAMissingNumberTeachesNothing: if a number is missing in a record, the record's gradient with
// respect to the decoder's output for this number is 0.
func TestAMissingNumberTeachesNothing(t *testing.T) {
	v := Visible{Dim: 2, Blocks: []Block{{Width: 2, Missing: true}}}
	n := newTestVAE(t, VAE{Latent: 1}, v)
	b := device.Batch{Rows: 1, Dense: device.HostMatrix(1, 2, []float32{0, 1}), Keys: []uint64{1}}
	each := exampleGradients(n, b)[0]
	bias := each[len(each)-2:]
	if bias[0] != 0 || bias[1] == 0 {
		t.Errorf("derivatives with respect to the output biases %v, want zero only for the number", bias)
	}
}

func TestVAEStatesProbabilitiesOfBlocks(t *testing.T) {
	v := mixedVisible(Bernoulli)
	n := newTestVAE(t, VAE{Hidden: []int{8}, Latent: 2}, v)
	out := device.CPU().New(600, v.Dim)
	n.Sample(rand.New(rand.NewPCG(1, 1)), out)
	checkMeans(t, v, out)
}

// checkMeans checks that all means are in [0,1] and that the probabilities of levels add up to 1.
func checkMeans(t *testing.T, v Visible, out device.Matrix) {
	t.Helper()
	for i := range out.Rows {
		lo := 0
		for _, b := range v.Blocks {
			sum := 0.0
			for _, p := range out.Row(i)[lo : lo+b.Width] {
				if !(p >= 0 && p <= 1) {
					t.Fatalf("row %d has the mean %v, want a number in [0,1]", i, p)
				}
				sum += float64(p)
			}
			if b.OneHot && math.Abs(sum-1) > 1e-5 {
				t.Fatalf("row %d: the probabilities of levels add up to %v, want 1", i, sum)
			}
			lo += b.Width
		}
	}
}

func TestRBMGradientOfBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 5))
	v := mixedVisible(Bernoulli)
	for _, a := range []RBM{{Hidden: 5, Chains: 3}, {Hidden: 9, Chains: 40, Sweeps: 3}} {
		n := newTestRBM(t, a, v)
		b := mixedBatch(rng, 9, v)
		rows := rowsOf(b)
		checkDerivative(t, n, b, func(p []float64, i int) float64 {
			loss := freeEnergy(p, rows[i], a.Hidden)
			for k := range a.Chains {
				loss -= freeEnergy(p, n.chains.state.Row(k), a.Hidden) / float64(a.Chains)
			}
			return loss
		})
		checkFactored(t, n, b, 1e-3)
		checkEmpty(t, n, v.Dim)
		checkTotal(t, n, b)
		for k := range a.Chains {
			if !n.layout.holds(n.chains.state.Row(k)) {
				t.Errorf("a chain holds %v, which is no record", n.chains.state.Row(k))
			}
		}
		out := device.CPU().New(300, v.Dim)
		n.Sample(rand.New(rand.NewPCG(1, 1)), out)
		checkMeans(t, v, out)
	}
}

// TestRBMOfBlocksSamplesItsEnergy compares chains with the distribution exp(−F)/Z over all records
// that the blocks allow.
//
// The total variation distance between a distribution on s cells and the frequencies of N
// independent draws exceeds √(s/4N) + √(ln(1/β)/2N) with probability at most β. The first term
// bounds the mean, by Cauchy–Schwarz; the second is McDiarmid's inequality. The bound is 0.0258 at
// s = 18, N = 40,000 and β = 1e-8. Each chain is an independent draw, after 60 sweeps of a machine
// whose weights are about 1. Power: without compete the distance is 0.39, and with sigmoids in
// place of the softmax 0.055.
func TestRBMOfBlocksSamplesItsEnergy(t *testing.T) {
	blocks := []Block{{Width: 3, OneHot: true}, {Width: 1}, {Width: 2, Missing: true}}
	v := Visible{Dim: 6, Blocks: blocks}
	a := RBM{Hidden: 2, Chains: 40_000}
	g := must(a.New(device.CPU(), v, 3))(t)
	n := g.(*rbm)
	perturb(n, rand.New(rand.NewPCG(8, 8)), 1)
	n.chains.advance(n, 60)
	want, total := map[string]float64{}, 0.0
	p := make([]float64, n.Params().Len())
	for j, x := range n.Params().Flat.Data {
		p[j] = float64(x)
	}
	for bits := range 1 << v.Dim {
		row := make([]float32, v.Dim)
		for j := range row {
			row[j] = float32(bits >> j & 1)
		}
		if n.layout.holds(row) {
			mass := math.Exp(-freeEnergy(p, row, a.Hidden))
			want[fmt.Sprint(row)], total = mass, total+mass
		}
	}
	if len(want) != 18 {
		t.Fatalf("%d records, want 3·2·3", len(want))
	}
	got := map[string]float64{}
	for i := range a.Chains {
		got[fmt.Sprint(n.chains.state.Row(i))] += 1 / float64(a.Chains)
	}
	distance, largest := 0.0, 0.0
	for row, mass := range want {
		distance += math.Abs(got[row]-mass/total) / 2
		largest = max(largest, mass/total)
		delete(got, row)
	}
	if distance > 0.0258 || len(got) > 0 || largest > 0.5 {
		t.Errorf("total variation %v, %d records that the blocks do not allow, largest probability %v",
			distance, len(got), largest)
	}
}

func TestRBMRefusesChainsThatAreNoRecords(t *testing.T) {
	v := mixedVisible(Bernoulli)
	n := newTestRBM(t, RBM{Hidden: 2, Chains: 2}, v)
	state := n.AppendState(nil)
	if err := n.SetState(state); err != nil {
		t.Fatal(err)
	}
	for at := 8; at < len(state); at++ {
		bad := append([]byte(nil), state...)
		bad[at] = 0xff
		if n.SetState(bad) == nil {
			t.Errorf("byte %d: two levels at once are accepted", at)
		}
	}
}

func TestMarginalsOfBlocks(t *testing.T) {
	v := mixedVisible(Bernoulli)
	n := newTestVAE(t, VAE{Hidden: []int{8}, Latent: 2, Activation: Tanh}, v)
	p := []float64{0.7, 0.2, 0.1, 0, 0.3, 0.9, 0.5, 0.25, 0.25, 0.4, 0.05, 0.5, 0.6, 0.3}
	n.SetMarginals(p, nil)
	out := device.CPU().New(20000, v.Dim)
	n.Sample(rand.New(rand.NewPCG(2, 2)), out)
	for j, want := range p {
		got := 0.0
		for i := range out.Rows {
			got += float64(out.Row(i)[j]) / float64(out.Rows)
		}
		if math.Abs(got-want) > 0.03 { // SetMarginals uses 512 draws; all seeds are fixed
			t.Errorf("coordinate %d has mean %v, want %v", j, got, want)
		}
	}
}

func TestBlocksAreChecked(t *testing.T) {
	for _, v := range []Visible{
		{Dim: 3, Blocks: []Block{{Width: 2, OneHot: true}}},
		{Dim: 2, Blocks: []Block{{Width: 3, OneHot: true}, {Width: -1}}},
		{Dim: 2, Blocks: []Block{{Width: 2, OneHot: true, Missing: true}}},
		{Dim: 1, Blocks: []Block{{Width: 1, Missing: true}}},
		{Dim: 2, Sparse: true, Blocks: []Block{{Width: 2, OneHot: true}}},
		{Dim: 1, Blocks: []Block{{Width: math.MaxInt}, {Width: math.MaxInt}}},
	} {
		if v.Validate() == nil {
			t.Errorf("%+v is accepted", v)
		}
	}
	if err := mixedVisible(GaussianUnit).Validate(); err != nil {
		t.Error(err)
	}
}

// TestSamplesOfBlocksAreConcurrent: concurrent callers get the same records as single callers with
// the same seeds.
func TestSamplesOfBlocksAreConcurrent(t *testing.T) {
	v := mixedVisible(Bernoulli)
	for _, n := range []Density{newTestVAE(t, VAE{Hidden: []int{8}, Latent: 2}, v),
		newTestRBM(t, RBM{Hidden: 5, Chains: 4, SampleSweeps: 5}, v)} {
		draw := func(seed uint64) []float32 {
			out := device.CPU().New(300, v.Dim)
			n.Sample(rand.New(rand.NewPCG(seed, 9)), out)
			return out.Data
		}
		want := [][]float32{draw(0), draw(1), draw(2)}
		var wg sync.WaitGroup
		for i := range 6 {
			wg.Go(func() {
				if !slices.Equal(draw(uint64(i%3)), want[i%3]) {
					t.Errorf("%T: concurrent callers get different records", n)
				}
			})
		}
		wg.Wait()
	}
}
