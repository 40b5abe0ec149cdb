package models

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

// fixedCase is a network and a batch for it.
type fixedCase struct {
	net   Network
	batch device.Batch
}

func fixedCases(t *testing.T) map[string]fixedCase {
	t.Helper()
	rng := rand.New(rand.NewPCG(8, 8))
	binary := binaryBatch(rng, 300, 30, .3)
	list := map[string]fixedCase{
		"vae": {newTestVAE(t, VAE{Hidden: []int{20}, Latent: 3}, Visible{Dim: 30}),
			binary},
		"sparse vae": {newTestVAE(t, VAE{Hidden: []int{20}, Latent: 3}, Visible{Dim: 30,
			Sparse: true}), sparsify(binary)},
		"rbm": {newTestRBM(t, RBM{Hidden: 17, Chains: 6}, Visible{Dim: 30}), binary},
		"sparse rbm": {newTestRBM(t, RBM{Hidden: 17, Chains: 6}, Visible{Dim: 30, Sparse: true}),
			sparsify(binary)},
		"classifier": {newTestClassifier(t, MLP{Hidden: []int{12}}, 30, 4), wild(rng, 300, 30,
			4)},
		"convolutional": {newTestCNN(t, CNN{Height: 8, Width: 8, Channels: 1,
			Convolutions: []Convolution{{Maps: 3, Size: 3, Stride: 1, Pad: 1}, {Maps: 4, Size: 4,
				Stride: 2}}, Hidden: []int{6}}, 4), wild(rng, 150, 64, 4)},
	}
	critics := criticCases()
	for _, name := range slices.Sorted(maps.Keys(critics)) { // the cases share rng
		c := critics[name]
		list["critic "+name] = fixedCase{newPaired(t, c), wild(rng, 120, c.dim, max(c.classes, 1))}
	}
	return list
}

// wild returns a batch of records of very different sizes, in decreasing order.
func wild(rng *rand.Rand, rows, dim, classes int) device.Batch {
	b := greyBatch(rng, rows, dim, classes)
	for i := range rows {
		scale := float32(math.Exp2(float64(10 - 40*i/rows)))
		for j := range b.Dense.Row(i) {
			b.Dense.Row(i)[j] = scale * (b.Dense.Row(i)[j] - .4)
		}
	}
	b.Keys = make([]uint64, rows)
	for i := range b.Keys {
		b.Keys[i] = rng.Uint64()
	}
	return b
}

// fixedSum returns a fixed-point sum of gradients clipped to bound. The length of its chains is the
// largest safe length times stretch.
func fixedSum(n Network, form FixedForm, b device.Batch, bound, stretch float64) device.Fixed {
	return fixedSumIn(0x1p-18, n, form, b, bound, stretch)
}

// fixedSumIn is fixedSum in units of the given size.
func fixedSumIn(unit float32, n Network, form FixedForm, b device.Batch,
	bound, stretch float64) device.Fixed {
	sum := device.NewFixed(device.CPU(), n.Params().Shapes...)
	sum.Unit, sum.Limit = unit, float64(form.Reach)*bound
	half, most := float64(form.Terms)/2, bound/float64(unit)
	sum.Chain = int(stretch * (1<<22 - 1 - 2*(float64(form.Reach)*most+half)) / (most + half))
	g := n.Gradients(b).(FixedGradients)
	norms, weights := make([]float64, b.Rows), make([]float32, b.Rows)
	g.SquaredNorms(norms)
	for i, s := range norms {
		if s == s && s < math.Inf(1) {
			weights[i] = device.Odd(float32(min(1, bound*(1-0x1p-20)/math.Sqrt(s))))
		}
	}
	if f, ok := g.(FixedFinisher); ok {
		f.StartFixedSum()
		defer f.FinishFixedSum(sum)
	}
	g.AddFixedSum(sum, weights)
	return sum
}

// TestFixedSumsAreOfRecordsAlone: in fixed point, the sum over a batch is exactly the sum of its
// records' separate sums. So a record changes the sum by the same integers for all other records
// and at every position. The norm of these integers is at most the clip norm, apart from rounding.
// In the sum of a Boltzmann machine, one term is rounded for all records together, so elements may
// differ by up to three units.
func TestFixedSumsAreOfRecordsAlone(t *testing.T) {
	for name, c := range fixedCases(t) {
		t.Run(name, func(t *testing.T) {
			form := c.net.Gradients(c.batch.Slice(0, 1)).(FixedGradients).FixedForm()
			if !form.Fixed() {
				t.Fatal("no sum in fixed point")
			}
			const bound = 0.75
			whole := fixedSum(c.net, form, c.batch, bound, 1)
			records := make([][]int32, c.batch.Rows)
			total, slack := make([]int32, len(whole.Units)), int32(0)
			if _, ok := c.net.(FixedFinisher); ok {
				slack = int32(c.batch.Rows)
			}
			for i := range records {
				one := fixedSum(c.net, form, c.batch.Slice(i, i+1), bound, 1)
				records[i] = one.Units
				square := 0.0
				for k, v := range one.Units {
					total[k] += v
					square += float64(v) * float64(v)
				}
				most := bound/float64(one.Unit) + float64(form.Terms)/2*math.Sqrt(float64(len(one.Units)))
				if math.Sqrt(square) > most {
					t.Fatalf("record %d moves the sum by %v units, want at most %v", i,
						math.Sqrt(square), most)
				}
			}
			compareUnits(t, "all records", whole.Units, total, slack)
			// Remove one record: at the front, in the middle or at the end.
			for _, i := range []int{0, 1, c.batch.Rows / 2, c.batch.Rows - 1} {
				less := fixedSum(c.net, form, without(c.batch, i), bound, 1)
				for k := range less.Units {
					less.Units[k] += records[i][k]
				}
				compareUnits(t, "without one record", whole.Units, less.Units, min(slack, 3))
			}
		})
	}
}

func compareUnits(t *testing.T, what string, a, b []int32, slack int32) {
	t.Helper()
	for k := range a {
		if d := a[k] - b[k]; d > slack || d < -slack {
			t.Fatalf("%s: element %d is %d, want %d up to rounding", what, k, a[k], b[k])
		}
	}
}

// without returns the batch without record i.
func without(b device.Batch, i int) device.Batch {
	out := device.Batch{Rows: b.Rows - 1}
	keep := func(k int) int {
		if k >= i {
			return k + 1
		}
		return k
	}
	if b.Sparse != nil {
		out.Sparse = &device.Sparse{Cols: b.Sparse.Cols, Offsets: []int{0}}
	} else {
		out.Dense = device.HostMatrix(out.Rows, b.Dense.Cols, make([]float32,
			out.Rows*b.Dense.Cols))
	}
	for k := range out.Rows {
		if b.Sparse != nil {
			out.Sparse.Items = append(out.Sparse.Items, b.Sparse.Row(keep(k))...)
			out.Sparse.Offsets = append(out.Sparse.Offsets, len(out.Sparse.Items))
		} else {
			copy(out.Dense.Row(k), b.Dense.Row(keep(k)))
		}
		out.Keys = append(out.Keys, b.Keys[keep(k)])
		if b.Labels != nil {
			out.Labels = append(out.Labels, b.Labels[keep(k)])
		}
	}
	return out
}

// TestFixedSumsNeedShortChains: if a chain is too long, its sum leaves the range in which float32
// represents every integer. A record's contribution then depends on the records before it. This
// test shows that TestFixedSumsAreOfRecordsAlone can find such a fault.
func TestFixedSumsNeedShortChains(t *testing.T) {
	n := newTestVAE(t, VAE{Hidden: []int{20}, Latent: 3}, Visible{Dim: 30})
	one := binaryBatch(rand.New(rand.NewPCG(1, 1)), 1, 30, .3)
	const rows = 3000
	b := device.Batch{Rows: rows, Dense: device.HostMatrix(rows, 30, slices.Repeat(one.Dense.Data,
		rows)), Keys: slices.Repeat(one.Keys, rows)}
	form := n.tape.FixedForm()
	const unit = 0x1p-20 // so small that chains within the backend's own limit are too long
	differs := func(stretch float64) bool {
		whole := fixedSumIn(unit, n, form, b, .75, stretch)
		record := fixedSumIn(unit, n, form, one, .75, 1)
		for k, v := range record.Units {
			if whole.Units[k] != rows*v {
				return true
			}
		}
		return false
	}
	if differs(1) {
		t.Error("the sum of equal records is not a multiple of one record's sum")
	}
	if !differs(1000) {
		t.Error("chains a thousand times too long go unnoticed: the test has no power")
	}
}

// TestFixedSumsAreAccurate: sums in fixed point are close to sums in float64.
func TestFixedSumsAreAccurate(t *testing.T) {
	for name, c := range fixedCases(t) {
		const bound = 0.75
		compareSums(t, name, withinReach(t, c, bound), bound)
	}
}

// compareSums compares a fixed-point sum with a float64 sum.
func compareSums(t *testing.T, name string, c fixedCase, bound float64) {
	t.Helper()
	form := c.net.Gradients(c.batch.Slice(0, 1)).(FixedGradients).FixedForm()
	got := fixedSum(c.net, form, c.batch, bound, 1)
	norms, weights := make([]float64, c.batch.Rows), make([]float32, c.batch.Rows)
	c.net.Gradients(c.batch).SquaredNorms(norms)
	for i, s := range norms {
		if s == s && s < math.Inf(1) {
			weights[i] = device.Odd(float32(min(1, bound*(1-0x1p-20)/math.Sqrt(s))))
		}
	}
	most := float64(c.batch.Rows) * (float64(form.Terms)*float64(got.Unit)/2 + 1e-5)
	want := sumOfRecords(c, weights)
	for k, v := range got.Units {
		if x := float64(v) * float64(got.Unit); math.Abs(x-want[k]) > most {
			t.Errorf("%s: element %d is %v, want %v", name, k, x, want[k])
			return
		}
	}
}

// sumOfRecords returns the weighted sum of all records' gradients, each computed alone and added in
// float64.
func sumOfRecords(c fixedCase, weights []float32) []float64 {
	sum := make([]float64, len(device.NewParams(device.CPU(), c.net.Params().Shapes...).Flat.Data))
	for i := range c.batch.Rows {
		one := device.NewParams(device.CPU(), c.net.Params().Shapes...)
		c.net.Gradients(c.batch.Slice(i, i+1)).AddWeightedSum(one, weights[i:i+1])
		for k, v := range one.Flat.Data {
			sum[k] += float64(v)
		}
	}
	return sum
}

// withinReach returns the case without those records of a critic whose partial sums exceed the
// limit before their parts cancel. In fixed point these records get a smaller weight, by design.
// They are about one in ten thousand.
func withinReach(t *testing.T, c fixedCase, bound float64) fixedCase {
	t.Helper()
	dropped := 0
	for i := 0; i < c.batch.Rows; i++ {
		p, ok := c.net.Gradients(c.batch.Slice(i, i+1)).(*pairs)
		if !ok || p.parts == 1 {
			return c
		}
		norm := make([]float64, 1)
		p.SquaredNorms(norm)
		w := []float32{device.Odd(float32(min(1, bound*(1-0x1p-20)/math.Sqrt(norm[0]))))}
		for k := range p.list {
			if u := &p.list[k]; u.some() && p.within(u, true, w, u.rows, cancelledReach*bound)[0] < w[0] {
				c.batch = without(c.batch, i)
				dropped, i = dropped+1, i-1
				break
			}
		}
	}
	if dropped > 3 {
		t.Fatalf("the partial sums of %d records exceed the limit, want at most 3", dropped)
	}
	return c
}

// TestCancellingPartsCountForLess: of 180,000 records of a critic (seeds 0 to 1,499), a few have
// partial sums beyond the limit. One of them has a seed that this test uses. The sums of all other
// records are accurate.
func TestCancellingPartsCountForLess(t *testing.T) {
	c0 := criticCases()["linear"]
	const bound = 0.75
	beyond := 0
	for seed := uint64(760); seed < 780; seed++ {
		c := fixedCase{newPaired(t, c0), wild(rand.New(rand.NewPCG(seed, 9)), 120, c0.dim,
			max(c0.classes, 1))}
		kept := withinReach(t, c, bound)
		beyond += c.batch.Rows - kept.batch.Rows
		compareSums(t, fmt.Sprint("seed ", seed), kept, bound)
	}
	if beyond == 0 {
		t.Error("no record's partial sums exceed the limit: the test has no power")
	}
}
