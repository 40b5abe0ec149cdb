package sgd_test

import (
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/device/devicetest"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/models/modelstest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

var long = flag.Bool("long", false, "train built networks under every policy and on seven cores, too")

// computation is what a built network computes.
type computation = func(x models.Value) models.Loss

// builtNetworks are networks of ten kinds, on records of 16 numbers from 0 to 4 with three labels.
var builtNetworks = map[string]computation{
	"dense": func(x models.Value) models.Loss {
		return x.Dense(6).Apply(device.Tanh).Dense(3).CrossEntropy()
	},
	"convolutional": func(x models.Value) models.Loss {
		pool := models.Convolution{Size: 2}
		h := x.Shape(4, 4, 1).Conv(models.Convolution{Maps: 3, Size: 3, Pad: 1}).Apply(device.ReLU)
		h = h.MaxPool(pool).Conv(models.Convolution{Maps: 4, Size: 2}).Apply(device.ReLU).MaxPool(pool)
		return h.Dense(5).Apply(device.ReLU).Dense(3).CrossEntropy()
	},
	"residual": func(x models.Value) models.Loss {
		c := models.Convolution{Maps: 4, Size: 3, Pad: 1}
		h := x.Shape(4, 4, 1).Conv(c)
		h = h.Plus(h.GroupNorm(2).Apply(device.ReLU).Conv(c))
		return h.MeanPool(models.Convolution{Size: 2, Stride: 2}).Mean().Dense(3).CrossEntropy()
	},
	"LSTM": func(x models.Value) models.Loss {
		h := x.Shape(1, 4, 4).LSTM(3).Shape(1, 1, 12)
		return h.Columns(9, 12).Dense(3).CrossEntropy()
	},
	"GRU": func(x models.Value) models.Loss {
		return x.Shape(1, 4, 4).GRU(3).Mean().Dense(3).CrossEntropy()
	},
	"text": func(x models.Value) models.Loss {
		return x.Embed(4, 5).Mean().Dense(3).CrossEntropy()
	},
	"transformer": func(x models.Value) models.Loss {
		h := x.Columns(0, 6).Embed(4, 4)
		n := h.LayerNorm()
		h = h.Plus(n.Dense(4).Attend(n.Dense(4), n.Dense(4), 2, true, x.Columns(6, 12)).Dense(4))
		n = h.RMSNorm().Dense(6)
		return h.Plus(n.Times(n.Apply(device.Sigmoid)).Dense(4)).Mean().Dense(3).CrossEntropy()
	},
	"autoencoder": func(x models.Value) models.Loss {
		x = x.Scale(.25)
		z := x.Dense(6).Apply(device.Tanh).Dense(4).Latent(1)
		h := z.Dense(8).Apply(device.ReLU).Shape(2, 2, 2)
		h = h.ConvTransposed(models.Convolution{Maps: 1, Size: 2, Stride: 2})
		return h.Likelihood(models.Bernoulli, x)
	},
	"shared and frozen": func(x models.Value) models.Loss {
		h := x.Columns(0, 8).Dense(6)
		h = h.Concat(x.Columns(8, 16).Like(h)).Apply(device.Tanh)
		h = h.Dense(6).Frozen().Plus(h.Dense(2).Dense(6).Scale(.5))
		return h.Dense(3).CrossEntropy()
	},
	"dropout and operation": func(x models.Value) models.Loss {
		h := x.Dense(6).Dropout(.2)
		return h.Do(keyedProduct{}, h.Apply(device.Tanh)).Dense(3).CrossEntropy()
	},
}

// keyedProduct is x∘y or, for half of the keys, x∘y/2.
type keyedProduct struct{}

func (keyedProduct) Out(widths ...int) int { return widths[0] }

func (keyedProduct) Forward(y []float32, key uint64, x ...[]float32) {
	for i, v := range x[0] {
		y[i] = v * x[1][i] / float32(1+key>>63)
	}
}

func (keyedProduct) Backward(dx [][]float32, dy, _ []float32, key uint64, x ...[]float32) {
	for i, d := range dy {
		dx[0][i] += d * x[1][i] / float32(1+key>>63)
		dx[1][i] += d * x[0][i] / float32(1+key>>63)
	}
}

func buildOn(t *testing.T, be device.Backend, c computation) *models.Classifier {
	t.Helper()
	return must(models.Build(be, 16, 1, c))(t)
}

// levels returns records for built networks. The last ones are odd.
func levels(t *testing.T, n, odd int) *records.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(n), 16))
	flat, labels := make([]float32, (n+odd)*16), make([]int32, n+odd)
	for i := range flat {
		flat[i] = 4 * rng.Float32()
		if i >= n*16 {
			flat[i] = []float32{3e38, -3e38, float32(math.NaN()), 1e-40, 1e19, -1e10, 0, 3}[(i*i+i/16)%8]
		}
	}
	for i := range labels {
		labels[i] = int32(rng.IntN(3))
	}
	schema := records.Interval(16, -3.4e38, 3.4e38).WithLabels("a", "b", "c")
	return must(records.FromFlat(schema, flat, labels...))(t)
}

// TestGradientsOfBuiltNetworks: their gradients keep the contract of private training.
func TestGradientsOfBuiltNetworks(t *testing.T) {
	var b device.Batch
	levels(t, 9, 0).Gather([]int32{0, 1, 2, 3, 4, 5, 6, 7, 8}, &b)
	rng := rand.New(rand.NewPCG(9, 9))
	for range b.Rows {
		b.Keys = append(b.Keys, rng.Uint64())
	}
	for name, c := range builtNetworks {
		t.Run(name, func(t *testing.T) { modelstest.Network(t, buildOn(t, device.CPU(), c), b) })
	}
}

// builtClips returns the policies for built networks.
func builtClips(net models.Network) map[string]sgd.Clip {
	byBlock := sgd.Groups{}
	for i := range net.Params().Blocks() {
		byBlock.List = append(byBlock.List, sgd.Group{Blocks: []int{i}, ClipNorm: .2})
	}
	if !*long {
		return map[string]sgd.Clip{"fixed": nil, "groups": byBlock}
	}
	clips := policies()
	clips["groups"] = byBlock
	return clips
}

// trainBuilt returns the parameters after a few steps.
func trainBuilt(t *testing.T, net *models.Classifier, cfg sgd.Config, data records.Data,
	opts ...sgd.Option) []float32 {
	t.Helper()
	trainer, _ := newTrainer(t, cfg, net, 1e12, opts...)
	for _, err := range trainer.Steps((&recorder{seed: 3}).context(t.Context()), data) {
		if err != nil {
			t.Fatal(err)
		}
	}
	return slices.Clone(net.Params().Flat.Data)
}

// TestBuiltNetworksTrain: for every policy, the size of micro-batches does not change the bits of a
// built network's parameters. So sums are exact, and a gradient does not depend on its batch.
// Persons, each of one record, give about the same parameters.
func TestBuiltNetworksTrain(t *testing.T) {
	data := levels(t, 30, 0)
	for name, c := range builtNetworks {
		for policy, clip := range builtClips(buildOn(t, device.CPU(), c)) {
			run := func(size int, data records.Data, opts ...sgd.Option) []float32 {
				cfg := with(clip, .7, 2)
				cfg.MicroBatch = size
				return trainBuilt(t, buildOn(t, device.CPU(), c), cfg, data, opts...)
			}
			whole := run(64, data)
			if !slices.Equal(whole, run(5, data)) {
				t.Errorf("%s, %s: micro-batches change the parameters", name, policy)
			}
			if slices.Equal(whole, buildOn(t, device.CPU(), c).Params().Flat.Data) {
				t.Errorf("%s, %s: nothing is trained", name, policy)
			}
			for i, v := range run(64, data, sgd.WithPersons()) {
				if d := v - whole[i]; !(d*d < 1e-3) {
					t.Errorf("%s, %s: records summed one by one give parameter %d as %v, want about %v", name,
						policy, i, v, whole[i])
					break
				}
			}
		}
	}
}

// TestRecordsOfBuiltNetworks: whatever numbers a record holds, and whatever the policy, adding it
// moves the sum by at most the clip norm. A person of two records, or two views of a record, moves
// it by no more.
func TestRecordsOfBuiltNetworks(t *testing.T) {
	data := levels(t, 5, 8)
	for name, c := range builtNetworks {
		for policy, clip := range builtClips(buildOn(t, device.CPU(), c)) {
			cfg := with(clip, 1, 1)
			sum := func(data records.Data) ([]float64, float64) {
				s := observe(t, cfg, accountant.AddOrRemoveOne, buildOn(t, device.CPU(), c), data)
				r := s.releases[slices.IndexFunc(s.releases, func(r entropy.Release) bool {
					return r.Mechanism == "Gaussian gradient"
				})]
				if r.Inexact {
					t.Fatalf("%s, %s: the sum is not exact", name, policy)
				}
				return r.Inputs[0], r.Std[0] / cfg.NoiseMultiplier
			}
			less, most := sum(data.Slice(0, 5))
			for i := 6; i <= data.Len(); i += 2 {
				more, _ := sum(data.Slice(0, i))
				if d := distance(less, more); !(d <= 1.0001*most*float64(i-5)) {
					t.Errorf("%s, %s: %d records move the sum by %v, want at most %v each", name, policy, i-5, d,
						most)
				}
			}
			if clip != nil {
				continue
			}
			keys := []int{0, 1, 2, 3, 4, 5, 5, 6, 6, 7, 7, 8, 8}
			persons := must(records.GroupBy(data, keys, 2))(t)
			few := must(records.GroupBy(data.Slice(0, 5), keys[:5], 2))(t)
			less, _ = sum(few)
			if more, _ := sum(persons); !(distance(less, more) <= 1.0001*most*4) {
				t.Errorf("%s: four persons move the sum by %v, want at most %v each", name,
					distance(less, more), most)
			}
		}
	}
}

// TestCrewsOfBuiltNetworks: the number of cores does not change a bit.
func TestCrewsOfBuiltNetworks(t *testing.T) {
	cores, rows := []int{1, 2}, 200
	if *long {
		cores, rows = []int{1, 2, 7}, 7*sgd.LeastRows+1
	}
	data := levels(t, rows, 0)
	for name, c := range builtNetworks {
		var want []float32
		for _, n := range cores {
			be := device.CPUWith(n)
			cfg := with(nil, 1, 2)
			cfg.MicroBatch, cfg.NominalBatch = 1024, float64(rows)
			net := buildOn(t, be, c)
			if trainer, _ := newTrainer(t, cfg, net, 1e12, sgd.WithBackend(be)); trainer.Members(rows) != n {
				t.Fatalf("%s: %d of %d cores have their own rows", name, trainer.Members(rows), n)
			}
			got := trainBuilt(t, net, cfg, data, sgd.WithBackend(be))
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %d cores give other parameters", name, n)
			}
		}
	}
}

// TestBitsOfBuiltNetworks: trained parameters have the same bits on every processor, with vector
// instructions or without, and for every number of cores.
func TestBitsOfBuiltNetworks(t *testing.T) {
	data := levels(t, 200, 0)
	for name, want := range map[string]string{
		"GRU":                   "8324116c471d",
		"LSTM":                  "b562d639ff14",
		"autoencoder":           "1556a7a82ab8",
		"convolutional":         "ec49072a3087",
		"dense":                 "91a398d0d4b2",
		"dropout and operation": "6c883bfaabba",
		"residual":              "82be62ab6784",
		"shared and frozen":     "da8c4bf91bd8",
		"text":                  "fe885d6c8eee",
		"transformer":           "1024809ceea2",
	} {
		cfg := with(nil, .7, 3)
		cfg.MicroBatch = 64
		for _, cores := range []int{1, 2, 7} {
			h := sha256.New()
			_ = binary.Write(h, binary.LittleEndian,
				trainBuilt(t, buildOn(t, device.CPUWith(cores), builtNetworks[name]), cfg, data))
			if got := fmt.Sprintf("%.6x", h.Sum(nil)); got != want {
				t.Errorf("%s, %d cores: %s, want %s", name, cores, got, want)
			}
		}
	}
}

// TestCheckpointsOfBuiltNetworks: a run that goes on from a checkpoint ends as one that was not
// interrupted. The guarantee names the noise class "exact".
func TestCheckpointsOfBuiltNetworks(t *testing.T) {
	data := levels(t, 20, 1)
	force := func(rel *entropy.Release) {
		for i := range rel.Outputs[0] {
			rel.Outputs[0][i] = math.Sin(float64(i)) + rel.Inputs[0][i]/100
		}
	}
	for name, c := range builtNetworks {
		cfg := with(policies()["quantile"], 1, 4)
		train := func(net models.Network, l *ledger.Ledger, steps int, state []byte) []byte {
			ctx := (&recorder{seed: 3, force: force}).context(t.Context())
			var opts []sgd.Option
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
			return trainer.AppendState(nil)
		}
		whole, parts := buildOn(t, device.CPU(), c), buildOn(t, device.CPU(), c)
		train(whole, ledger.New(budget(1e4)), 4, nil)
		l := ledger.New(budget(1e4))
		state := train(parts, l, 2, nil)
		fresh := buildOn(t, device.CPU(), c)
		copy(fresh.Params().Flat.Data, parts.Params().Flat.Data)
		train(fresh, l, 4, state)
		draws := name == "autoencoder" || name == "dropout and operation" // a resumed run has fresh keys
		if d := fresh.Params().Flat.Data; !draws && !slices.Equal(d, whole.Params().Flat.Data) {
			t.Errorf("%s: a resumed run ends with other parameters", name)
		}
		if c := l.Guarantee().NoiseClass; len(c) != 1 || c[0] != ledger.ExactNoise {
			t.Errorf("%s: noise classes %v, want only the exact one", name, c)
		}
	}
}

// TestBuiltNetworksElsewhere: on a device with its own memory, built networks end with about the
// parameters that they have on the CPU. Sums are called exact if the device has fixed-point sums.
func TestBuiltNetworksElsewhere(t *testing.T) {
	builtElsewhere(t, devicetest.SeparateMemory(device.CPU()), true)
	builtElsewhere(t, unfixed(), false)
}

func builtElsewhere(t *testing.T, be device.Backend, exact bool) {
	t.Helper()
	data := levels(t, 30, 0)
	for name, c := range builtNetworks {
		for policy, clip := range builtClips(buildOn(t, device.CPU(), c)) {
			cfg := with(clip, .7, 2)
			want, there := trainBuilt(t, buildOn(t, device.CPU(), c), cfg, data), buildOn(t, be, c)
			tap := &recorder{seed: 3}
			trainer, _ := newTrainer(t, cfg, there, 1e12, sgd.WithBackend(be))
			for _, err := range trainer.Steps(tap.context(t.Context()), data) {
				if err != nil {
					t.Fatal(err)
				}
			}
			got := make([]float32, len(want))
			be.Download(got, there.Params().Flat)
			for i, v := range got {
				if d := v - want[i]; !(d*d < 1e-3) {
					t.Errorf("%s, %s: parameter %d is %v, want about %v", name, policy, i, v, want[i])
					break
				}
			}
			if i := slices.IndexFunc(tap.releases, func(r entropy.Release) bool {
				return r.Mechanism == "Gaussian gradient"
			}); tap.releases[i].Inexact == exact {
				t.Errorf("%s, %s: the sum is called exact: %v, want %v", name, policy, !exact, exact)
			}
		}
	}
}
