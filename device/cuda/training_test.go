//go:build cuda && cgo

package cuda_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/chunked"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// noiseless is a device without a method for noise: the host makes it, and moves the parameters.
type noiseless struct{ device.FixedSummer }

// watched counts the sums that get their noise on the device.
type watched struct {
	device.FixedSummer
	drawn *int
}

func (w watched) NoisySum(units device.Memory, n int) any {
	sum := w.FixedSummer.(interface {
		NoisySum(units device.Memory, n int) any
	}).NoisySum(units, n)
	return watchedSum{sum.(noisySum), w.drawn}
}

type noisySum interface {
	chunked.Device
	Adam(p, m, v, average device.Matrix, lo, hi int, scale float64, mix float32, a device.AdamStep)
}

type watchedSum struct {
	noisySum
	drawn *int
}

func (w watchedSum) Draw(c *chunked.Chunks) []int32 {
	*w.drawn++
	return w.noisySum.Draw(c)
}

// TestStepsStayOnTheDevice checks, bit by bit, that parameters, averages and states are the same if
// noise and Adam are on the device as if they are on the host, also if they change places.
func TestStepsStayOnTheDevice(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	flat := make([]float32, 60*20)
	for i := range flat {
		flat[i] = float32(rng.IntN(2))
	}
	data := must(records.FromFlat(records.Binary(20), flat))(t)
	be := open(t).(device.FixedSummer)
	plain := sgd.Config{ClipNorm: 1, SamplingProbability: 0.5, Steps: 4, NoiseMultiplier: 1,
		Optimizer: sgd.Adam(1e-2), MicroBatch: 30}
	quantile, groups, momentum := plain, plain, plain
	quantile.Clip, quantile.ClipNorm = sgd.Quantile{Quantile: .5, Initial: 1, Rate: .2,
		NoiseMultiplier: 20}, 0
	quantile.NominalBatch = 50
	groups.Clip, groups.ClipNorm = sgd.Groups{List: []sgd.Group{
		{Blocks: []int{0, 1, 2, 3}, ClipNorm: 1}, {Blocks: []int{4, 5, 6, 7}, ClipNorm: .3}}}, 0
	momentum.Optimizer, momentum.NominalBatch = sgd.Momentum(.1, .9), 50
	for name, c := range map[string]struct {
		cfg sgd.Config
		opt sgd.Option
	}{
		"plain": {plain, nil}, "average": {plain, sgd.WithAverage(.9)},
		"mean": {plain, sgd.WithMean(2)}, "quantile": {quantile, nil},
		"groups": {groups, sgd.WithAverage(.5)}, "momentum": {momentum, nil},
	} {
		drawn, want := 0, 2*c.cfg.Steps
		if name == "momentum" || !entropy.OnDevices() {
			want = 0
		}
		there := stepped(t, watched{be, &drawn}, c.cfg, c.opt, data)
		if drawn != want {
			t.Errorf("%s: noise is on the device in %d steps, want %d", name, drawn, want)
		}
		here := stepped(t, noiseless{be}, c.cfg, c.opt, data)
		if !slices.Equal(there.params, here.params) {
			t.Errorf("%s: other parameters than with noise from the host", name)
		}
		if !slices.Equal(there.state, here.state) {
			t.Errorf("%s: another state than with noise from the host", name)
		}
	}
}

// end is what training ends with.
type end struct {
	params []float32
	state  []byte
}

// stepped trains, resumes from a state, and uses the average halfway.
func stepped(t *testing.T, be device.Backend, cfg sgd.Config, opt sgd.Option,
	data records.Data) end {
	t.Helper()
	net := must(models.VAE{Hidden: []int{12}, Latent: 2}.New(be, models.Visible{Dim: 20}, 1))(t)
	ctx := context.Context(privacytest.Seeded(t, t.Context(), 4))
	var state []byte
	for range 2 {
		trainer := must(sgd.New(cfg, net, ledger.New(accountant.Budget{Epsilon: 1e6, Delta: 1e-5}),
			sgd.WithBackend(be), opt))(t)
		if state != nil {
			if err := trainer.SetState(state); err != nil {
				t.Fatal(err)
			}
		}
		n := 0
		for _, err := range trainer.Steps(ctx, data) {
			if err != nil {
				t.Fatal(err)
			}
			if n++; n == 2 {
				trainer.UseAverage()
			}
		}
		state = trainer.AppendState(nil)
	}
	return end{host(be, net.Params().Flat), state}
}
