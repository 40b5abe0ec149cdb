package models_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/models/modelstest"
)

// randomly computes a loss by operations that are chosen at random, with shapes chosen at random.
// Log lists them.
type randomly struct {
	rng    *rand.Rand
	values []models.Value // that nothing reads
	shapes map[models.Value][3]int
	log    string
}

// note remembers the shape of a value.
func (r *randomly) note(name string, v models.Value, shape [3]int) models.Value {
	r.shapes[v] = shape
	r.log += fmt.Sprint(" ", name, shape)
	return v
}

func numbers(s [3]int) int { return s[0] * s[1] * s[2] }

// take returns a value. Two thirds of the time, other operations can read it, too.
func (r *randomly) take() (models.Value, [3]int) {
	i := r.rng.IntN(len(r.values))
	v := r.values[i]
	if r.rng.IntN(3) == 0 && len(r.values) > 1 {
		r.values = append(r.values[:i], r.values[i+1:]...)
	}
	return v, r.shapes[v]
}

// step adds an operation.
func (r *randomly) step() {
	v, s := r.take()
	c := 1 + r.rng.IntN(5)
	with := func(channels int) [3]int { return [3]int{s[0], s[1], channels} }
	n := numbers(s)
	add := func(name string, s [3]int, of func() models.Value) {
		if numbers(s) <= 60 {
			r.values = append(r.values, r.note(name, of(), s))
		} else {
			r.values = append(r.values, v)
		}
	}
	conv := models.Convolution{Maps: c, Size: 2 + r.rng.IntN(2), Stride: 1 + r.rng.IntN(2),
		Pad: r.rng.IntN(2)}
	side := func(n int) int { return (n+2*conv.Pad-conv.Size)/conv.Stride + 1 }
	fits := min(s[0], s[1])+2*conv.Pad >= conv.Size
	small := n < 20
	switch k := r.rng.IntN(20); {
	case k < 3:
		add("dense", with(c), func() models.Value { return v.Dense(c) })
	case k == 3 && small:
		add("like", s, func() models.Value {
			h := v.Shape(1, 1, n).Dense(n)
			return h.Apply(device.Tanh).Like(h).Plus(h).Shape(s[0], s[1], s[2])
		})
	case k == 4:
		f := []device.Func{device.Tanh, device.Sigmoid, device.Softplus, device.ReLU, device.LeakyReLU}
		add("apply", s, func() models.Value { return v.Apply(f[r.rng.IntN(5)]) })
	case k == 5 && fits:
		add("conv", [3]int{side(s[0]), side(s[1]), c}, func() models.Value { return v.Conv(conv) })
	case k == 6 && fits:
		add("pool", [3]int{side(s[0]), side(s[1]), s[2]}, func() models.Value { return v.MaxPool(conv) })
	case k == 7 && fits:
		add("mean pool", [3]int{side(s[0]), side(s[1]), s[2]}, func() models.Value {
			return v.MeanPool(conv)
		})
	case k == 8 && s[0]*s[1] < 9 && conv.Size > 2*conv.Pad:
		up := func(n int) int { return (n-1)*conv.Stride + conv.Size - 2*conv.Pad }
		add("transposed", [3]int{up(s[0]), up(s[1]), c}, func() models.Value {
			return v.ConvTransposed(conv)
		})
	case k == 9 && s[2] > 1:
		add("layer norm", s, func() models.Value { return v.LayerNorm() })
	case k == 10 && s[2] > 1:
		add("rms norm", s, func() models.Value { return v.RMSNorm() })
	case k == 11 && n > 3:
		add("group norm", s, func() models.Value { return v.GroupNorm(1) })
	case k == 12:
		add("dropout", s, func() models.Value { return v.Dropout(.3) })
	case k == 13:
		add("softmax", s, func() models.Value { return v.Softmax() })
	case k == 14:
		add("attend", with(2), func() models.Value {
			q, key := v.Dense(2*c), v.Dense(2*c)
			return q.Attend(key, v.Dense(2), 1+r.rng.IntN(2), r.rng.IntN(2) == 0)
		})
	case k == 15:
		add("frozen", with(c), func() models.Value { return v.Dense(c).Frozen() })
	case k == 16:
		w, t := r.take()
		if numbers(t) == n {
			add("times", s, func() models.Value { return v.Times(w) })
			break
		}
		r.values = append(r.values, w)
		add("concat", [3]int{1, 1, n + numbers(t)}, func() models.Value {
			return v.Shape(1, 1, n).Concat(w.Shape(1, 1, numbers(t)))
		})
	case k == 17:
		add("crossed", [3]int{1, 1, n}, func() models.Value { return v.Do(crossed{}, v.Scale(-.5), v) })
	case k == 18 && small:
		add("shape", [3]int{1, n, 1}, func() models.Value { return v.Shape(1, n, 1) })
	case k == 19:
		lo := r.rng.IntN(s[2])
		add("columns", with(1), func() models.Value { return v.Columns(lo, lo+1) })
	default:
		add("mean", [3]int{1, 1, s[2]}, func() models.Value { return v.Mean() })
	}
}

func (r *randomly) compute(x models.Value) models.Loss {
	r.values = []models.Value{r.note("x", x.Columns(0, 8).Shape(2, 4, 1).Scale(1), [3]int{2, 4, 1}),
		r.note("levels", x.Columns(4, 8).Embed(3, 2), [3]int{1, 4, 2})}
	for range 3 + r.rng.IntN(8) {
		r.step()
	}
	all := r.values[0].Shape(1, 1, numbers(r.shapes[r.values[0]]))
	for _, v := range r.values[1:] {
		all = all.Concat(v.Shape(1, 1, numbers(r.shapes[v])))
	}
	switch r.rng.IntN(3) {
	case 0:
		logits := all.Dense(4).Latent(.3).Dense(8).Apply(device.Tanh) // a mean near 1 has too few digits
		return logits.Likelihood(models.Bernoulli, x)
	case 1:
		return all.Dense(8).Likelihood(models.GaussianUnit, x)
	}
	return all.Dense(2).CrossEntropy()
}

// TestBuiltNetworksAtRandom: random networks keep the contract.
func TestBuiltNetworksAtRandom(t *testing.T) {
	count := 10
	if *long {
		count = 100
	}
	for seed := range count {
		r := &randomly{rng: rand.New(rand.NewPCG(uint64(seed), 9)), shapes: map[models.Value][3]int{}}
		net, err := models.Build(device.CPU(), 8, 5, r.compute)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			modelstest.Network(t, net, batchFor(netCase{dim: 8}, 5, uint64(seed)))
			if t.Failed() {
				t.Log(r.log)
			}
		})
	}
}
