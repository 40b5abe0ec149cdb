// Package modelstest checks what private training relies on: that the gradients of a network belong
// to single records and are at most as long as stated, and that a user-defined operation keeps the
// contract of models.Op. A check fails with one sentence that says what is wrong.
//
// Checks call; they do not read code. They miss what first happens after many thousands of calls,
// and a number of a package that the first record of the program sets for good.
package modelstest

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
)

// Network checks the gradients of a network on the CPU: of every record alone and in batches of up
// to 1,100 records, by block, in fixed point, on replicas, before and after a step, and where
// numbers are not finite. If the gradients have a method Losses, they are compared with differences
// of losses.
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
		s.together, s.steps)
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
	form  models.FixedForm
	units [][]int32 // of every record in fixed point, with the weight of clip norm 1, if possible
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
		out.Index = append(out.Index, int32(i))
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

// several returns batches of copies of records, some of which are of one record, and some large.
func (s *subject) several() [][]int {
	n := s.batch.Rows
	list := [][]int{{n - 1}, {0}, s.all, {1, 1, 0}, {2}, s.rng.Perm(n), {1}}
	for _, size := range []int{2, 16, 17, 33, 48, 64, 65, 100, 129, 256, 600, 1100} {
		rows := make([]int, size)
		for i := range rows {
			rows[i] = s.rng.IntN(n)
		}
		list = append(list, rows)
	}
	return list
}

// together computes gradients of records in several batches.
func (s *subject) together() string {
	params := slices.Clone(s.net.Params().Flat.Data)
	for _, rows := range s.several() {
		because := fmt.Sprintf("on the other records of a batch of %d", len(rows))
		if len(rows) == 1 {
			because = "on earlier batches, or on random numbers besides the key"
		}
		b, weights := s.pick(rows...), row(len(rows), s.rng.NormFloat64)
		g, want, size := s.net.Gradients(b), make([]float32, len(params)), 0.0
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
		p, given := device.NewParams(device.CPU(), s.net.Params().Shapes...), slices.Clone(weights)
		g.AddWeightedSum(p, given)
		if !slices.Equal(given, weights) {
			return "it changes weights"
		}
		if g.AddWeightedSum(p, weights); far(p.Flat.Data, want, 2, 1e-4*size) {
			return "weighted sums are not the sums of gradients, or depend " + because
		}
		if after := norms(g, len(rows)); after[0] != s.norms[rows[0]] {
			return "norms are different after a sum"
		}
		if !reflect.DeepEqual(b, s.pick(rows...)) {
			return "it changes its batch"
		}
	}
	if !slices.Equal(s.net.Params().Flat.Data, params) {
		return "the parameters change when gradients are computed"
	}
	return ""
}

// blocks compares the norms and sums of every block with its part of the gradients, of single
// records and of all together.
func (s *subject) blocks() string {
	p := s.net.Params()
	if _, ok := s.net.Gradients(device.Batch{}).(models.BlockGradients); !ok {
		return ""
	}
	alone := map[[2]int]float64{}
	for first := range s.batch.Rows + 1 {
		rows := s.all
		if first < s.batch.Rows {
			rows = []int{first}
		}
		g, sum := s.net.Gradients(s.pick(rows...)).(models.BlockGradients), device.NewParams(
			device.CPU(), p.Shapes...)
		each, weights, size := make([][]float64, p.Blocks()), make([][]float32, p.Blocks()), 0.0
		for k := range each {
			each[k], weights[k] = make([]float64, len(rows)), row(len(rows), s.rng.NormFloat64)
			weights[k][len(rows)/2] = float32(k % 3)
		}
		g.BlockSquaredNorms(each)
		g.AddBlockSums(sum, weights)
		for k := range each {
			lo, hi := p.Range(k)
			want := make([]float32, hi-lo)
			for j, i := range rows {
				of := fmt.Sprintf("record %d, block %s,", i, p.Shapes[k].Name)
				if wrong := short(each[k][j], s.grads[i][lo:hi], of); wrong != "" {
					return wrong
				}
				if own, ok := alone[[2]int{k, i}]; ok && own != each[k][j] && own == own {
					return of + " has a norm that depends on the other records"
				}
				alone[[2]int{k, i}] = each[k][j]
				add(want, weights[k][j], s.grads[i][lo:hi])
				size += length(s.grads[i]) * math.Abs(float64(weights[k][j]))
			}
			if far(sum.Flat.Data[lo:hi], want, 1, 1e-5*size) {
				return fmt.Sprintf("block %s has other sums if each block has its weights", p.Shapes[k].Name)
			}
		}
	}
	return ""
}

// fixed checks that a sum in fixed point is exactly the sum of the records' own sums, which are
// not too long.
func (s *subject) fixed() string {
	g, ok := s.net.Gradients(device.Batch{}).(models.FixedGradients)
	if _, parts := g.(models.FixedFinisher); !ok || parts || !g.FixedForm().Fixed() {
		return ""
	}
	s.form = g.FixedForm()
	for i, own := range s.grads {
		f := s.noUnits()
		s.net.Gradients(s.pick(i)).(models.FixedGradients).AddFixedSum(f, []float32{s.weight(i)})
		most := 0x1p18 + float64(s.form.Terms)/2*math.Sqrt(float64(len(own)))
		if d := length(f.Units); d > most || d == 0 && s.norms[i] > 1e-30 {
			return fmt.Sprintf("record %d moves a sum in fixed point by %g times the clip norm", i, d/0x1p18)
		}
		s.units = append(s.units, f.Units)
	}
	for _, rows := range s.several() {
		if wrong := s.exact(s.net, rows); wrong != "" {
			return wrong
		}
	}
	return ""
}

// weight scales the gradient of a record to norm 1.
func (s *subject) weight(i int) float32 {
	return device.Odd(float32((1 - 0x1p-20) / math.Sqrt(max(s.norms[i], 1e-30))))
}

func (s *subject) noUnits() device.Fixed {
	f := device.NewFixed(device.CPU(), s.net.Params().Shapes...)
	f.Unit, f.Limit, f.Chain = 0x1p-18, float64(s.form.Reach), 2
	return f
}

// exact adds records to minus their own sums, in all blocks and in every second one. Every third
// record has weight 0, and its numbers are not finite.
func (s *subject) exact(net models.Network, rows []int) string {
	all, some, b := s.noUnits(), s.noUnits(), s.pick(rows...)
	weights := make([]float32, len(rows))
	for j, i := range rows {
		if j%3 == 1 && b.Sparse == nil {
			b.Dense.Row(j)[0] = float32(math.NaN())
		}
		if j%3 == 1 {
			continue
		}
		weights[j] = s.weight(i)
		for k, v := range s.units[i] {
			all.Units[k] -= v
		}
	}
	byBlock := make([][]float32, s.net.Params().Blocks())
	for k := range byBlock {
		byBlock[k] = make([]float32, len(rows))
		if lo, hi := s.net.Params().Range(k); k%2 == 0 {
			byBlock[k] = weights
			copy(some.Units[lo:hi], all.Units[lo:hi])
		}
	}
	g := net.Gradients(b).(models.FixedGradients)
	if g.AddFixedSum(all, weights); g.FixedForm() != s.form || length(all.Units) != 0 {
		return fmt.Sprintf("a sum in fixed point of %d records is not the sum of their own", len(rows))
	}
	blocks, ok := g.(models.FixedBlockGradients)
	if ok {
		blocks.AddFixedBlockSums(some, byBlock)
	}
	if ok && length(some.Units) != 0 {
		return "a sum in fixed point is another if each block has its weights"
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

// atOnce is how long several cores compute at the same time.
const atOnce = 60 * time.Millisecond

// caught turns a panic into a sentence.
func caught(wrong *string) {
	if p := recover(); p != nil {
		*wrong = fmt.Sprintf("it panics if several cores compute at the same time: %v", p)
	}
}

// replicas compute at the same time as the network.
func (s *subject) replicas() string {
	net, ok := s.net.(models.Replicable)
	if !ok {
		return ""
	}
	nets := []models.Network{net, net.Replica(device.CPUWith(1)), net.Replica(device.CPUWith(1))}
	var group sync.WaitGroup
	wrong, weights := make([]string, len(nets)), row(len(s.all), s.rng.NormFloat64)
	want, size := make([]float32, s.net.Params().Len()), 0.0
	for i, g := range s.grads {
		add(want, weights[i], g)
		size += math.Abs(float64(weights[i])) * length(g)
	}
	for k, r := range nets {
		group.Go(func() {
			defer caught(&wrong[k])
			for start := time.Now(); r != nil && wrong[k] == "" && time.Since(start) < atOnce; {
				if !slices.Equal(norms(r.Gradients(s.pick(s.all[k:]...)), len(s.all)-k), s.norms[k:]) {
					wrong[k] = "norms are different if replicas compute at the same time"
				} else if far(s.sum(r.Gradients(s.pick(s.all...)), weights...), want, 1, 1e-4*size) {
					wrong[k] = "sums are different if replicas compute at the same time"
				} else if s.units != nil {
					wrong[k] = s.exact(r, s.all[k:])
				}
			}
		})
	}
	group.Wait()
	return slices.Max(wrong)
}

// steps checks that what a network does once a step does not depend on records. It does not know
// the state of a network that cannot give it.
func (s *subject) steps() string {
	net, ok := s.net.(interface {
		models.Stepper
		models.Stateful
	})
	if !ok {
		return ""
	}
	start := net.AppendState(nil)
	want := ""
	for _, rows := range [][]int{{0}, {1, 2}, {0}, s.all} {
		if err := net.SetState(start); err != nil {
			return "it refuses its own state: " + err.Error()
		}
		g := s.net.Gradients(s.pick(rows...))
		norms(g, len(rows))
		s.sum(g, row(len(rows), s.rng.NormFloat64)...)
		if !bytes.Equal(net.AppendState(nil), start) {
			return "its state changes when gradients are computed"
		}
		net.BeginStep()
		then := binary.LittleEndian.AppendUint64(net.AppendState(nil),
			math.Float64bits(norms(s.net.Gradients(s.pick(3)), 1)[0]))
		if want = cmp.Or(want, string(then)); string(then) != want {
			return "the first batch after a step began depends on earlier batches"
		}
	}
	if err := net.SetState(start); err != nil {
		return err.Error()
	}
	return ""
}

// notFinite spoils the first record, as a whole or one number.
func (s *subject) notFinite() string {
	weights := row(s.batch.Rows, s.rng.NormFloat64)
	weights[0] = 0
	want := s.sum(s.net.Gradients(s.pick(s.all...)), weights...)
	byBlock := slices.Repeat([][]float32{weights}, s.net.Params().Blocks())
	for k, v := range []float64{math.NaN(), math.Inf(1), 3e38, -.7, math.NaN(), math.Inf(-1), -1e25,
		1e12} {
		b := s.pick(s.all...)
		if b.Sparse != nil {
			return ""
		}
		x := b.Dense.Row(0)
		if k > 3 {
			x = x[k*len(x)/8:][:1]
		}
		copy(x, row(len(x), func() float64 { return v }))
		of, own := fmt.Sprintf("a record with the number %g", v), make([]float32, b.Rows)
		own[0] = 1
		alone := norms(s.net.Gradients(b.Slice(0, 1)), 1)
		g := s.net.Gradients(b)
		got := norms(g, b.Rows)
		if !slices.Equal(got[1:], s.norms[1:]) {
			return of + " changes the norms of other records"
		}
		if math.Float64bits(alone[0]) != math.Float64bits(got[0]) && got[0] == got[0] {
			return "the norm of " + of + " depends on other records"
		}
		if wrong := short(got[0], s.sum(g, own...), of); wrong != "" {
			return wrong
		}
		sums := [][]float32{s.sum(s.net.Gradients(b), weights...), want}
		if g, ok := s.net.Gradients(b).(models.BlockGradients); ok {
			p := device.NewParams(device.CPU(), s.net.Params().Shapes...)
			g.AddBlockSums(p, byBlock)
			sums[1] = p.Flat.Data
		}
		if far(sums[0], want, 1, 1e-6*length(want)) || far(sums[1], want, 1, 1e-6*length(want)) {
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
