package sgd_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/device/devicetest"
	"github.com/seed7ba64551/privgen/internal/chunked"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// noisy is a device with the CPU's results that adds noise and moves parameters itself. It counts
// its sums.
type noisy struct {
	device.FixedSummer
	sums *int
}

func (b noisy) NoisySum(units device.Memory, n int) any {
	return &noisySum{b, device.Matrix{Rows: 1, Cols: n, Stride: n, Mem: units}, make([]float64, n)}
}

type noisySum struct {
	be      noisy
	units   device.Matrix
	numbers []float64
}

func (s *noisySum) host(m device.Matrix) []float32 {
	x := make([]float32, m.Cols)
	s.be.Download(x, m)
	return x
}

func (s *noisySum) Units(dst []int32) {
	for i, x := range s.host(s.units) {
		dst[i] = int32(math.Float32bits(x))
	}
}

// Draw leaves all chunks to the host, and noise in them that the host must replace.
func (s *noisySum) Draw(c *chunked.Chunks) []int32 {
	for i := range s.numbers {
		s.numbers[i] = 1e9
	}
	return slices.Repeat([]int32{-1}, len(c.Counters)/2)
}

func (s *noisySum) Sum(unit, grid float64) {
	*s.be.sums++
	for i, x := range s.host(s.units) {
		s.numbers[i] += math.RoundToEven(float64(int32(math.Float32bits(x))) * unit)
		s.numbers[i] *= grid
	}
	s.be.Fill(s.units, 0)
}

func (s *noisySum) Replace(offset int, numbers []float64) { copy(s.numbers[offset:], numbers) }
func (s *noisySum) Noisy(dst []float64)                   { copy(dst, s.numbers) }

func (s *noisySum) Adam(p, m, v, average device.Matrix, lo, hi int, scale float64, mix float32,
	a device.AdamStep) {
	if lo >= hi {
		panic("an empty part has no memory")
	}
	rule, host := device.NewAdam(a), [3][]float32{s.host(p), s.host(m), s.host(v)}
	rule.MoveSum(host[0][lo:hi], s.numbers[lo:hi], host[1][lo:hi], host[2][lo:hi], scale)
	if !average.Empty() {
		mean := s.host(average)
		for i, x := range host[0][lo:hi] {
			mean[lo+i] += mix * (x - mean[lo+i])
		}
		s.be.Upload(average, mean)
	}
	s.be.Upload(p, host[0])
	s.be.Upload(m, host[1])
	s.be.Upload(v, host[2])
}

// roomy is a device with room for records. It counts the numbers that it gets.
type roomy struct {
	noisy
	spare int64
	sent  *[]int
}

func newRoomy(spare int64) roomy {
	return roomy{noisy{devicetest.SeparateMemory(device.CPU()).(device.FixedSummer), new(int)}, spare,
		new([]int)}
}

func (b roomy) Spare() int64 { return b.spare }

func (b roomy) Upload(dst device.Matrix, src []float32) {
	*b.sent = append(*b.sent, len(src))
	b.noisy.Upload(dst, src)
}

// TestRecordsAreSentOnce: a device gets a table's records once if they take at most half of its
// memory and if the network is known to read them there. Otherwise it gets every batch.
func TestRecordsAreSentOnce(t *testing.T) {
	const rows, dim = 5000, 3
	data := table(t, rows, dim, .5)
	type own struct{ models.Network }
	for _, c := range []struct {
		spare   int64
		own     bool
		batches int
	}{{8 * rows * dim, false, 0}, {8*rows*dim - 1, false, 3}, {1 << 40, true, 3}} {
		be := newRoomy(c.spare)
		var net models.Network = encoder(t, be, dim)
		if c.own {
			net = own{net}
		}
		cfg := with(nil, .2, 3)
		cfg.MicroBatch = rows
		trainer, err := sgd.New(cfg, net, ledger.New(budget(1e6)), sgd.WithBackend(be))
		if err != nil {
			t.Fatal(err)
		}
		*be.sent = nil
		for range 2 {
			for _, err := range trainer.Steps((&recorder{seed: 4}).context(t.Context()), data) {
				if err != nil {
					t.Fatal(err)
				}
				break
			}
		}
		for _, err := range trainer.Steps((&recorder{seed: 4}).context(t.Context()), data) {
			if err != nil {
				t.Fatal(err)
			}
		}
		var large []int // others are draws and weights, one number for each record of a batch
		for _, n := range *be.sent {
			if n > rows*dim/6 {
				large = append(large, n)
			}
		}
		if c.batches == 0 && !slices.Equal(large, []int{4096 * dim, 904 * dim}) ||
			c.batches > 0 && len(large) != c.batches {
			t.Errorf("%+v: the device gets %v numbers at once", c, large)
		}
	}
}

func encoder(t *testing.T, be device.Backend, dim int) models.Density {
	t.Helper()
	net, err := models.VAE{Hidden: []int{3}, Latent: 1}.New(be, models.Visible{Dim: dim}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return net
}

// parted is a network with segments, of which some are empty.
type parted struct{ linear }

func (n parted) Segments() []sgd.Segment {
	return []sgd.Segment{{NominalBatch: 5}, {Params: 1, NominalBatch: 3}, {NominalBatch: 2},
		{Params: n.Params().Len() - 1, NominalBatch: 7}, {NominalBatch: 9}}
}

// journey is a run on a backend, and what happens in it.
type journey struct {
	net  func(t *testing.T, be device.Backend) models.Network
	cfg  sgd.Config
	data records.Data
	opt  sgd.Option
}

// cancelled reports whether a step is cancelled: other data is not for persons, nor for steps that
// share their records.
func (j journey) cancelled() bool {
	_, table := j.data.(*records.Table)
	return table && j.cfg.Bands < 2
}

// travel trains. The caller moves the parameters between steps, saves and uses the average; a step
// is cancelled, another trainer takes steps in between, and a second run resumes from the first
// one's state. travel returns the parameters and the state.
func (j journey) travel(t *testing.T, be device.Backend) ([]float32, []byte) {
	t.Helper()
	net := j.net(t, be)
	flat := net.Params().Flat
	params := func() []float32 {
		x := make([]float32, flat.Cols)
		be.Download(x, flat)
		return x
	}
	start := func() *sgd.Trainer {
		trainer, err := sgd.New(j.cfg, net, ledger.New(budget(1e6),
			ledger.WithUnit(records.UnitOf(j.data))), sgd.WithBackend(be), j.opt)
		if err != nil {
			t.Fatal(err)
		}
		return trainer
	}
	reads, tap := 0, &recorder{seed: 4}
	once := func(trainer *sgd.Trainer, data records.Data) {
		ctx, cancel := context.WithCancel(tap.context(t.Context()))
		defer cancel()
		if data == nil {
			reads, data = 0, interrupted{j.data.(*records.Table), cancel, &reads}
		}
		for _, err := range trainer.Steps(ctx, data) {
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			break
		}
	}
	first, other := start(), start()
	for step := range j.cfg.Steps {
		switch step {
		case 1, 4: // a caller moves the parameters
			x := params()
			for i := range x {
				x[i] = x[i]/2 + .25
			}
			be.Upload(flat, x)
		case 2:
			first.UseAverage()
		case 3:
			first.AppendState(nil)
		case 5:
			if j.cancelled() {
				once(first, nil)
				continue
			}
		case 6:
			once(other, j.data)
		}
		once(first, j.data)
	}
	second := start()
	if err := second.SetState(first.AppendState(nil)); err != nil {
		t.Fatal(err)
	}
	once(second, j.data)
	if err := second.SetState(first.AppendState(nil)); err != nil {
		t.Fatal(err)
	}
	once(second, j.data)
	return params(), second.AppendState(nil)
}

func journeys(t *testing.T) map[string]journey {
	simple := func(t *testing.T, be device.Backend) models.Network { return newLinear(t, be) }
	of := func(clip sgd.Clip) journey {
		j := journey{simple, with(clip, .6, 9), hostile(t, 3, 9, -1), nil}
		j.cfg.MicroBatch = 2
		return j
	}
	all := map[string]journey{}
	for policy, clip := range policies() {
		all[policy] = of(clip)
	}
	average, mean, momentum := of(nil), of(nil), of(nil)
	parts, machine, large := of(nil), of(nil), of(nil)
	average.opt, mean.opt = sgd.WithAverage(.9), sgd.WithMean(3)
	momentum.cfg.Optimizer = sgd.Momentum(.1, .9)
	parts.net = func(t *testing.T, be device.Backend) models.Network {
		return parted{newLinear(t, be)}
	}
	// A sum of more records than fit into 31 bits, in about half of the steps.
	large.data = hostile(t, 0, 93619, -1)
	large.cfg.SamplingProbability, large.cfg.MicroBatch = .5, 2000
	large.opt = sgd.WithAverage(.9)
	// The host adds a part to the sum of a Boltzmann machine, unless no record is sampled.
	machine.net = func(t *testing.T, be device.Backend) models.Network {
		net, err := models.RBM{Hidden: 3, Chains: 2}.New(be, models.Visible{Dim: 2}, 1)
		if err != nil {
			t.Fatal(err)
		}
		return net
	}
	machine.data, machine.opt = table(t, 15, 2, .5), sgd.WithAverage(.9)
	machine.cfg.SamplingProbability, machine.cfg.Steps = .05, 20
	persons := of(nil)
	persons.data = personsOf(t, 2, 3, person{{3, 0}, {-.2, .4}, {.1, 7}}, person{{1, 2}},
		person{{0, .3}, {9, 9}}, person{{-4, .1}, {5, 0}}, person{{-.1, -.1}})
	bands := of(nil)
	bands.cfg.Bands, bands.cfg.SamplingProbability = 2, .3
	all["persons"], all["bands"] = persons, bands
	coder, labels := of(nil), of(nil)
	coder.data = machine.data
	coder.net = func(t *testing.T, be device.Backend) models.Network { return encoder(t, be, 2) }
	labels.net = func(t *testing.T, be device.Backend) models.Network {
		net, err := models.MLP{Hidden: []int{3}}.Classifier(be, 2, 3, 1)
		if err != nil {
			t.Fatal(err)
		}
		return net
	}
	classes, err := records.FromFlat(records.Interval(2, -1, 1).WithLabels("a", "b", "c"),
		slices.Repeat([]float32{.1, .2, 5, -.3, .4, float32(math.NaN()), 0, -.9}, 4),
		slices.Repeat([]int32{2, 0, 1, 2}, 4)...)
	if err != nil {
		t.Fatal(err)
	}
	labels.data = classes
	all["encoder"], all["labels"] = coder, labels
	all["average"], all["mean"], all["momentum"] = average, mean, momentum
	all["parts"], all["machine"], all["large"] = parts, machine, large
	return all
}

// TestStepsOnADeviceAreThoseOfTheCPU: parameters, averages and states have the CPU's bits on a
// device with the CPU's results, whether noise and Adam are there, on the host, or there in some
// steps only.
func TestStepsOnADeviceAreThoseOfTheCPU(t *testing.T) {
	for name, j := range journeys(t) {
		want, state := j.travel(t, device.CPU())
		apart := devicetest.SeparateMemory(device.CPU()).(device.FixedSummer)
		sums := 0
		for place, be := range map[string]device.Backend{"device": noisy{apart, &sums},
			"host": struct{ device.FixedSummer }{apart}, "device of all records": newRoomy(1 << 30)} {
			got, after := j.travel(t, be)
			if !slices.Equal(got, want) || !bytes.Equal(after, state) {
				t.Errorf("%s, noise on the %s: other bits than on the CPU", name, place)
			}
		}
		all := j.cfg.Steps + 2 // another trainer takes one, a second run two, and one is cancelled
		if !j.cancelled() {
			all++
		}
		switch name {
		case "momentum", "bands":
			if sums != 0 {
				t.Errorf("%s: %d sums stay on the device, want none", name, sums)
			}
		case "machine", "large":
			if sums == 0 || sums >= all {
				t.Errorf("%s: %d sums of %d stay on the device, want some", name, sums, all)
			}
		default:
			if sums != all {
				t.Errorf("%s: %d sums stay on the device, want %d", name, sums, all)
			}
		}
	}
}

// failing is a device that fails in one of its methods once, as a device out of memory does.
type failing struct {
	noisy
	fails *string
}

func (b failing) NoisySum(units device.Memory, n int) any {
	return failingSum{b.noisy.NoisySum(units, n).(*noisySum), b.fails}
}

type failingSum struct {
	*noisySum
	fails *string
}

func (s failingSum) fail(in string) {
	if *s.fails == in {
		*s.fails = ""
		panic("a device fails")
	}
}

func (s failingSum) Draw(c *chunked.Chunks) []int32 {
	s.fail("Draw")
	return s.noisySum.Draw(c)
}

func (s failingSum) Replace(offset int, numbers []float64) {
	s.fail("Replace")
	s.noisySum.Replace(offset, numbers)
}

func (s failingSum) Sum(unit, grid float64) {
	s.fail("Sum")
	s.noisySum.Sum(unit, grid)
}

func (s failingSum) Adam(p, m, v, average device.Matrix, lo, hi int, scale float64, mix float32,
	a device.AdamStep) {
	s.fail("Adam")
	s.noisySum.Adam(p, m, v, average, lo, hi, scale, mix, a)
}

// TestStepThatFailsOnADeviceLeavesNothing: if a device fails between a sum and the move of the
// parameters, no later step has a record of this sum, nor its noise.
func TestStepThatFailsOnADeviceLeavesNothing(t *testing.T) {
	if !entropy.OnDevices() {
		t.Skip("this machine cannot hand a key to a device")
	}
	sums, fails := 0, ""
	be := failing{noisy{devicetest.SeparateMemory(device.CPU()).(device.FixedSummer), &sums}, &fails}
	cfg := with(nil, 1, 12)
	cfg.Optimizer = sgd.Adam(1e-12)
	tap := &recorder{seed: 4}
	noise := map[float64]bool{}
	tap.force = func(r *entropy.Release) { noise[r.Outputs[0][0]] = true }
	trainer, err := sgd.New(cfg, newLinear(t, be), ledger.New(budget(1e6)), sgd.WithBackend(be))
	if err != nil {
		t.Fatal(err)
	}
	once := func(in string) (failed bool) {
		defer func() { failed = recover() != nil }()
		fails = in
		for _, err := range trainer.Steps(tap.context(t.Context()), hostile(t, 3, 5, -1)) {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
		return false
	}
	for _, in := range []string{"", "Draw", "", "Replace", "", "Sum", "", "Adam", ""} {
		if once(in) != (in != "") {
			t.Fatalf("a device that fails in %q", in)
		}
	}
	for i, sum := range tap.sums {
		if !slices.Equal(sum, tap.sums[0]) {
			t.Errorf("sum %d is %v, want %v", i, sum, tap.sums[0])
		}
	}
	if len(noise) != 6 || len(tap.sums) != 6 {
		t.Errorf("%d releases of %d sums, want 6", len(noise), len(tap.sums))
	}
}
