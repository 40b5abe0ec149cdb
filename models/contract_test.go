package models_test

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
)

// checkContract checks what private training relies on, with a batch of at least four records. They
// have keys and are finite, and the loss is smooth near the network's parameters. It puts NaN into
// the batch at the end.
func checkContract(t reporter, net models.Network, b device.Batch) {
	t.Helper()
	s := &subject{t: t, net: net, batch: b}
	for i := range b.Rows {
		s.alone = append(s.alone, s.gradient(b.Slice(i, i+1), 0))
	}
	s.independent()
	s.repeatable()
	s.normsBound()
	s.sumsAddUp()
	s.derivatives()
	s.fixedSums()
	s.replicas()
	s.notFinite()
	s.empty()
}

// reporter is the part of testing.T that the checks use.
type reporter interface {
	Helper()
	Error(...any)
	Errorf(string, ...any)
}

type losser interface{ Losses(dst []float64) }

type subject struct {
	t     reporter
	net   models.Network
	batch device.Batch
	alone [][]float32 // every record's gradient, computed from a batch of its own
}

// norms returns the squared norms of a batch.
func (s *subject) norms(net models.Network, b device.Batch) []float64 {
	dst := make([]float64, b.Rows)
	net.Gradients(b).SquaredNorms(dst)
	return dst
}

// sum returns the weighted sum of a batch's gradients.
func (s *subject) sum(b device.Batch, weights []float32) []float32 {
	p := device.NewParams(device.CPU(), s.net.Params().Shapes...)
	s.net.Gradients(b).AddWeightedSum(p, weights)
	return p.Flat.Data
}

// gradient returns the gradient of record i of a batch.
func (s *subject) gradient(b device.Batch, i int) []float32 {
	w := make([]float32, b.Rows)
	w[i] = 1
	return s.sum(b, w)
}

func (s *subject) independent() {
	s.t.Helper()
	all := s.norms(s.net, s.batch)
	for i := range s.batch.Rows {
		if one := s.norms(s.net, s.batch.Slice(i, i+1)); one[0] != all[i] {
			s.t.Errorf("the norm of record %d depends on the other records of its batch", i)
			return
		}
		if d := distance(s.gradient(s.batch, i), s.alone[i]); d > 1e-5*length(s.alone[i]) {
			s.t.Errorf("the gradient of record %d depends on the other records of its batch", i)
			return
		}
	}
}

func (s *subject) repeatable() {
	s.t.Helper()
	first, half := s.norms(s.net, s.batch), s.batch.Rows/2
	s.norms(s.net, s.batch.Slice(half, s.batch.Rows))
	if !slices.Equal(first, s.norms(s.net, s.batch)) {
		s.t.Error("the gradients of a batch depend on the batch before it")
	}
}

func (s *subject) normsBound() {
	s.t.Helper()
	norms := s.norms(s.net, s.batch)
	for i, g := range s.alone {
		if exact := length(g); !(norms[i] >= exact*exact*(1-1e-6)) {
			s.t.Errorf("record %d states the norm %g, but its gradient has norm %g", i,
				math.Sqrt(norms[i]), exact)
			return
		}
	}
	blocks, ok := s.net.Gradients(s.batch).(models.BlockGradients)
	if !ok {
		return
	}
	p := s.net.Params()
	each := make([][]float64, p.Blocks())
	for k := range each {
		each[k] = make([]float64, s.batch.Rows)
	}
	blocks.BlockSquaredNorms(each)
	for k := range each {
		lo, hi := p.Range(k)
		for i, g := range s.alone {
			if exact := length(g[lo:hi]); !(each[k][i] >= exact*exact*(1-1e-6)) {
				s.t.Errorf("record %d states the norm %g for block %s, which has norm %g", i,
					math.Sqrt(each[k][i]), p.Shapes[k].Name, exact)
				return
			}
		}
	}
}

func (s *subject) sumsAddUp() {
	s.t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	weights := make([]float32, s.batch.Rows)
	want, size := make([]float32, len(s.alone[0])), 0.0
	for i, g := range s.alone {
		if weights[i] = rng.Float32() - .5; i%4 == 1 {
			weights[i] = 0
		}
		size += math.Abs(float64(weights[i])) * length(g)
		for j, v := range g {
			want[j] += weights[i] * v
		}
	}
	if distance(s.sum(s.batch, weights), want) > 1e-4*size {
		s.t.Error("the weighted sum of a batch is not the sum of its records' gradients")
	}
}

// derivatives compares gradients with differences of losses along a direction in each block, and
// along one of all parameters. A direction is half the gradient and half random.
func (s *subject) derivatives() {
	s.t.Helper()
	if _, ok := s.net.Gradients(s.batch).(losser); !ok {
		return
	}
	rng, p := rand.New(rand.NewPCG(2, 2)), s.net.Params()
	direction := make([]float32, p.Len())
	for i, g := range s.alone[:4] {
		for k := range p.Blocks() + 1 {
			lo, hi := 0, p.Len()
			clear(direction)
			if k < p.Blocks() {
				lo, hi = p.Range(k)
			}
			norm, width := max(length(g[lo:hi]), 1e-30), math.Sqrt(float64(hi-lo))
			for j := lo; j < hi; j++ {
				direction[j] = float32(float64(g[j])/norm + rng.NormFloat64()/width)
			}
			if size := length(direction); size > 0 {
				s.difference(i, g, direction, size, norm, k)
			}
		}
	}
}

// difference compares the slope of record i's loss along a direction with the gradient's.
func (s *subject) difference(i int, g, direction []float32, size, norm float64, block int) {
	s.t.Helper()
	want, flat := 0.0, s.net.Params().Flat.Data
	for j, v := range direction {
		want += float64(g[j]) * float64(v) / size
	}
	before := slices.Clone(flat)
	loss := func(h float64) float64 {
		for j, v := range direction {
			flat[j] = before[j] + float32(h*float64(v)/size)
		}
		l := make([]float64, 1)
		s.net.Gradients(s.batch.Slice(i, i+1)).(losser).Losses(l)
		copy(flat, before)
		return l[0]
	}
	// A difference has an error of rounding for a small h, and of curvature for a large one.
	for _, h := range []float64{1e-2, 3e-3, 1e-3, 3e-4, 3e-2, 1e-1} {
		up, down := loss(h), loss(-h)
		slack := .005*max(norm, .01*length(g)) + 2e-7*(1+math.Abs(up))/h
		if got := (up - down) / (2 * h); math.Abs(got-want) <= slack {
			return
		}
	}
	name := "all parameters"
	if block < s.net.Params().Blocks() {
		name = "block " + s.net.Params().Shapes[block].Name
	}
	s.t.Errorf("the loss of record %d does not have the slope %g along %s that its gradient has", i,
		want, name)
}

// fixedSums checks that a sum in fixed point is exactly the sum of the records' own sums.
func (s *subject) fixedSums() {
	s.t.Helper()
	g, ok := s.net.Gradients(s.batch).(models.FixedGradients)
	if !ok || !g.FixedForm().Fixed() {
		return
	}
	if _, ok := g.(models.FixedFinisher); ok {
		return
	}
	form, norms := g.FixedForm(), s.norms(s.net, s.batch)
	if s.net.Gradients(device.Batch{}).(models.FixedGradients).FixedForm() != form {
		s.t.Error("the form of a sum in fixed point depends on the batch")
		return
	}
	add := func(lo, hi int) []int32 {
		f := device.NewFixed(s.net.Params().Shapes...)
		f.Unit, f.Limit, f.Chain = 0x1p-18, float64(form.Reach), 2
		w := make([]float32, hi-lo)
		for i := range w {
			w[i] = device.Odd(float32(1 / math.Sqrt(norms[lo+i]) * (1 - 0x1p-20)))
		}
		s.net.Gradients(s.batch.Slice(lo, hi)).(models.FixedGradients).AddFixedSum(f, w)
		return f.Units
	}
	total := add(0, s.batch.Rows)
	for i := range s.batch.Rows {
		square := 0.0
		for j, v := range add(i, i+1) {
			total[j] -= v
			square += float64(v) * float64(v)
		}
		rounded := float64(form.Terms) / 2 * math.Sqrt(float64(len(total)))
		if math.Sqrt(square) > 0x1p18+rounded {
			s.t.Errorf("record %d moves the sum by %g times the norm to which it is clipped", i,
				math.Sqrt(square)/0x1p18)
		}
	}
	if !slices.Equal(total, make([]int32, len(total))) {
		s.t.Error("the sum of a batch in fixed point is not the sum of its records' own sums")
	}
}

func (s *subject) replicas() {
	s.t.Helper()
	net, ok := s.net.(models.Replicable)
	if !ok {
		return
	}
	r := net.Replica(device.CPUWith(1))
	if r != nil && !slices.Equal(s.norms(r, s.batch), s.norms(s.net, s.batch)) {
		s.t.Error("a replica of the network computes other norms")
	}
}

// notFinite checks that a record that is not finite has no norm, and adds nothing with weight 0.
func (s *subject) notFinite() {
	s.t.Helper()
	if s.batch.Sparse != nil {
		return
	}
	weights := make([]float32, s.batch.Rows)
	for i := 1; i < len(weights); i++ {
		weights[i] = 1 / float32(i)
	}
	norms, want := s.norms(s.net, s.batch), s.sum(s.batch, weights)
	for j := range s.batch.Dense.Row(0) {
		s.batch.Dense.Row(0)[j] = float32(math.NaN())
	}
	after := s.norms(s.net, s.batch)
	if !slices.Equal(after[1:], norms[1:]) {
		s.t.Error("a record that is not finite changes the norms of other records")
	}
	if slices.ContainsFunc(s.sum(s.batch, weights), func(v float32) bool { return v != v }) ||
		distance(s.sum(s.batch, weights), want) > 1e-6*length(want) {
		s.t.Error("a record of weight 0 that is not finite changes the sum")
	}
	if g := s.gradient(s.batch.Slice(0, 1), 0); after[0] < math.Inf(1) && !(length(g) < math.Inf(1)) {
		s.t.Error("a gradient that is not finite has a finite norm")
	}
}

func (s *subject) empty() {
	s.t.Helper()
	g := s.net.Gradients(device.Batch{})
	g.SquaredNorms(nil)
	p := device.NewParams(device.CPU(), s.net.Params().Shapes...)
	g.AddWeightedSum(p, nil)
	if length(p.Flat.Data) != 0 {
		s.t.Error("an empty batch has a gradient")
	}
}

func length(x []float32) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum)
}

func distance(a, b []float32) float64 {
	d := make([]float32, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	return length(d)
}
