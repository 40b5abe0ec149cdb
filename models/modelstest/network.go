// Package modelstest checks what private training relies on: that the gradients of a network belong
// to single records and are at most as long as stated, and that a user-defined operation keeps the
// contract of models.Op. A check fails with one sentence that says what is wrong.
package modelstest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
)

// Network checks the gradients of a network on the CPU: of every record alone and in several
// batches, in fixed point, on replicas, and where numbers are not finite. If the gradients have a
// method Losses, they are compared with differences of losses.
//
// The batch has at least four finite records, which differ, with keys if the network draws. The
// loss should be smooth almost everywhere, and probabilities not so near to 0 or 1 that float32
// numbers cannot tell. The parameters are not quite those of the network, some of which may be 0.
func Network(t testing.TB, net models.Network, b device.Batch) {
	t.Helper()
	s := &subject{net: net, batch: b, rng: rand.New(rand.NewPCG(1, 2))}
	params := net.Params().Flat.Data
	defer copy(params, slices.Clone(params))
	add(params, .03, row(len(params), s.rng.NormFloat64))
	first(t, s.alone, s.together, s.slopes, s.blocks, s.fixed, s.replicas, s.notFinite,
		s.together)
}

// first reports the first fault that the checks find.
func first(t testing.TB, checks ...func() string) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("it panics, and a record may be the reason: %v", p)
		}
	}()
	for _, check := range checks {
		if wrong := check(); wrong != "" {
			t.Error(wrong)
			return
		}
	}
}

type subject struct {
	net   models.Network
	batch device.Batch
	rng   *rand.Rand
	all   []int       // the numbers of the records
	norms []float64   // of every record in a batch of its own
	grads [][]float32 // likewise
}

// pick returns a batch of copies of records.
func (s *subject) pick(rows ...int) device.Batch {
	b, out := s.batch, device.Batch{Rows: len(rows)}
	if b.Sparse != nil {
		out.Sparse = &device.Sparse{Cols: b.Sparse.Cols, Offsets: []int{0}}
	}
	for _, i := range rows {
		one := b.Slice(i, i+1)
		out.Labels, out.Keys = append(out.Labels, one.Labels...), append(out.Keys, one.Keys...)
		if b.Sparse == nil {
			x := append(out.Dense.Data, one.Dense.Row(0)...)
			out.Dense = device.HostMatrix(out.Dense.Rows+1, b.Dim(), x)
			continue
		}
		out.Sparse.Items = append(out.Sparse.Items, one.Sparse.Row(0)...)
		out.Sparse.Offsets = append(out.Sparse.Offsets, len(out.Sparse.Items))
	}
	return out
}

func norms(g models.Gradients, rows int) []float64 {
	dst := slices.Repeat([]float64{float64(rows)}, rows) // which must not matter
	g.SquaredNorms(dst)
	return dst
}

func (s *subject) sum(g models.Gradients, weights ...float32) []float32 {
	p := device.NewParams(device.CPU(), s.net.Params().Shapes...)
	g.AddWeightedSum(p, weights)
	return p.Flat.Data
}

func (s *subject) alone() string {
	for i := range s.batch.Rows {
		g := s.net.Gradients(s.pick(i))
		s.norms, s.grads = append(s.norms, norms(g, 1)...), append(s.grads, s.sum(g, 1))
		if wrong := short(s.norms[i], s.grads[i], fmt.Sprintf("record %d", i)); wrong != "" {
			return wrong
		}
		s.all = append(s.all, i)
	}
	if g := s.net.Gradients(device.Batch{}); length(s.sum(g)) != 0 {
		return "an empty batch has a gradient"
	}
	return ""
}

// short returns a sentence if a stated squared norm is less than that of a gradient.
func short(stated float64, g []float32, of string) string {
	if exact := length(g); stated < exact*exact*(1-1e-6) || stated < math.Inf(1) && exact != exact {
		return fmt.Sprintf("%s states the norm %g, but its gradient has the norm %g", of,
			math.Sqrt(stated), exact)
	}
	return ""
}

// together computes gradients of records in several batches, some of which are of one record.
func (s *subject) together() string {
	n, params := s.batch.Rows, slices.Clone(s.net.Params().Flat.Data)
	for _, rows := range [][]int{{n - 1}, {0}, s.all, slices.Repeat(s.all, 1+130/n), {1, 1, 0}, {2},
		s.rng.Perm(n), {1}} {
		because := fmt.Sprintf("on the other records of a batch of %d", len(rows))
		if len(rows) == 1 {
			because = "on earlier batches, or on random numbers besides the key"
		}
		g, weights := s.net.Gradients(s.pick(rows...)), row(len(rows), s.rng.NormFloat64)
		want, size := make([]float32, len(params)), 0.0
		for j, norm := range norms(g, len(rows)) {
			if math.Float64bits(norm) != math.Float64bits(s.norms[rows[j]]) {
				return fmt.Sprintf("the norm of record %d depends %s", rows[j], because)
			}
			if j%4 == 1 {
				weights[j] = 0
			}
			add(want, weights[j], s.grads[rows[j]])
			size += math.Abs(float64(weights[j])) * length(s.grads[rows[j]])
		}
		p := device.NewParams(device.CPU(), s.net.Params().Shapes...)
		g.AddWeightedSum(p, weights)
		if g.AddWeightedSum(p, weights); far(p.Flat.Data, want, 2, 1e-4*size) {
			return "weighted sums are not the sums of gradients, or depend " + because
		}
	}
	if !slices.Equal(s.net.Params().Flat.Data, params) {
		return "the parameters change when gradients are computed"
	}
	return ""
}

// blocks compares the norms and sums of every block with its part of the gradients.
func (s *subject) blocks() string {
	p := s.net.Params()
	each, weights := make([][]float64, p.Blocks()), make([][]float32, p.Blocks())
	for i, g := range s.grads {
		blocks, ok := s.net.Gradients(s.pick(i)).(models.BlockGradients)
		if !ok {
			return ""
		}
		for k := range each {
			each[k], weights[k] = make([]float64, 1), []float32{float32(k % 3)}
		}
		blocks.BlockSquaredNorms(each)
		sum := device.NewParams(device.CPU(), p.Shapes...)
		blocks.AddBlockSums(sum, weights)
		for k := range each {
			lo, hi := p.Range(k)
			of := fmt.Sprintf("record %d, block %s,", i, p.Shapes[k].Name)
			if wrong := short(each[k][0], g[lo:hi], of); wrong != "" {
				return wrong
			}
			if far(sum.Flat.Data[lo:hi], g[lo:hi], weights[k][0], 1e-5*length(g)) {
				return of + " has another gradient in sums with a weight for each block"
			}
		}
	}
	return ""
}

// fixed checks that a sum in fixed point is exactly the sum of the records' own sums, which are not
// too long.
func (s *subject) fixed() string {
	g, ok := s.net.Gradients(device.Batch{}).(models.FixedGradients)
	if _, parts := g.(models.FixedFinisher); !ok || parts || !g.FixedForm().Fixed() {
		return ""
	}
	form := g.FixedForm()
	sum := func(rows ...int) []int32 {
		f, weights := device.NewFixed(s.net.Params().Shapes...), []float32{}
		f.Unit, f.Limit, f.Chain = 0x1p-18, float64(form.Reach), 2
		for _, i := range rows {
			w := (1 - 0x1p-20) / math.Sqrt(max(s.norms[i], 1e-30))
			weights = append(weights, device.Odd(float32(w)))
		}
		if g := s.net.Gradients(s.pick(rows...)).(models.FixedGradients); g.FixedForm() == form {
			g.AddFixedSum(f, weights)
		}
		return f.Units
	}
	total := sum(s.all...)
	for i := range s.all {
		own := sum(i)
		for j, v := range own {
			total[j] -= v
		}
		most := 0x1p18 + float64(form.Terms)/2*math.Sqrt(float64(len(own)))
		if length(own) > most || length(own) == 0 && s.norms[i] > 1e-30 {
			return fmt.Sprintf("record %d moves a sum in fixed point by %g times the clip norm", i,
				length(own)/0x1p18)
		}
	}
	if length(total) != 0 {
		return "a sum in fixed point is not the sum of the records' own sums"
	}
	return ""
}

type losser interface{ Losses(dst []float64) }

// slopes compares gradients with differences of losses, along directions in each block and along
// directions of all parameters.
func (s *subject) slopes() string {
	p := s.net.Params()
	for i := range min(s.batch.Rows, 4) {
		for k := range p.Blocks() + 1 {
			lo, hi, name := 0, p.Len(), "all parameters"
			if k < p.Blocks() {
				lo, hi = p.Range(k)
				name = p.Shapes[k].Name
			}
			if _, ok := s.net.Gradients(device.Batch{}).(losser); ok && !s.slope(i, lo, hi) {
				return fmt.Sprintf("the gradient of record %d is not the slope of its loss along %s", i, name)
			}
		}
	}
	return ""
}

// slope tries directions that are half the gradient and half random, at several points, since one
// may be a kink.
func (s *subject) slope(i, lo, hi int) bool {
	all, one := s.net.Params().Flat.Data, s.pick(i)
	defer copy(all, slices.Clone(all))
	for range 3 {
		whole := s.sum(s.net.Gradients(one), 1)
		g, before, params := whole[lo:hi], slices.Clone(all), all[lo:hi]
		norm := max(length(g), 1e-30)
		direction, slope, dst := row(hi-lo, s.rng.NormFloat64), 0.0, []float64{0}
		add(direction, float32(math.Sqrt(float64(hi-lo))/norm), g)
		for j, v := range direction {
			slope += float64(g[j]) * float64(v) / length(direction)
		}
		loss := func(h float64) float64 {
			add(params, float32(h/length(direction)), direction)
			s.net.Gradients(one).(losser).Losses(dst)
			copy(all, before)
			return dst[0]
		}
		if agree(loss, slope, .005*max(norm, .01*length(whole)), 2e-7*(1+math.Abs(loss(0)))) {
			return true
		}
		add(all, .01, row(len(all), s.rng.NormFloat64))
	}
	return false
}

// replicas compute at the same time as the network.
func (s *subject) replicas() string {
	net, ok := s.net.(models.Replicable)
	if !ok {
		return ""
	}
	nets := []models.Network{net, net.Replica(device.CPUWith(1)), net.Replica(device.CPUWith(1))}
	var group sync.WaitGroup
	wrong := make([]string, len(nets))
	for k, r := range nets {
		group.Go(func() {
			for try := 0; r != nil && try < 20; try++ {
				if !slices.Equal(norms(r.Gradients(s.pick(s.all[k:]...)), len(s.all)-k), s.norms[k:]) {
					wrong[k] = "norms are different if replicas compute at the same time"
				}
			}
		})
	}
	group.Wait()
	return slices.Max(wrong)
}

// notFinite spoils the first record, as a whole or one number.
func (s *subject) notFinite() string {
	weights := row(s.batch.Rows, s.rng.NormFloat64)
	weights[0] = 0
	want := s.sum(s.net.Gradients(s.pick(s.all...)), weights...)
	for k, v := range []float64{math.NaN(), math.Inf(1), 3e38, math.NaN(), math.Inf(-1), -1e25, 1e12} {
		b := s.pick(s.all...)
		if b.Sparse != nil {
			return ""
		}
		x := b.Dense.Row(0)
		if k > 2 {
			x = x[k*len(x)/7:][:1]
		}
		copy(x, row(len(x), func() float64 { return v }))
		g, of := s.net.Gradients(b), fmt.Sprintf("a record with the number %g", v)
		got, own := norms(g, b.Rows), make([]float32, b.Rows)
		own[0] = 1
		if !slices.Equal(got[1:], s.norms[1:]) {
			return of + " changes the norms of other records"
		}
		if wrong := short(got[0], s.sum(g, own...), of); wrong != "" {
			return wrong
		}
		if far(s.sum(s.net.Gradients(b), weights...), want, 1, 1e-6*length(want)) {
			return of + " and weight 0 changes a sum"
		}
	}
	return ""
}

func length[T float32 | int32](x []T) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum)
}

// add adds w·x to dst.
func add(dst []float32, w float32, x []float32) {
	for i, v := range x {
		dst[i] += w * v
	}
}

// far reports whether the distance between a and w·b is more than most, or not a number.
func far(a, b []float32, w float32, most float64) bool {
	d := slices.Clone(a)
	add(d, -w, b)
	return !(length(d) <= most)
}
