package models

import (
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/param"
)

// Views is a network with several views of each record. The gradient for a record is the mean of
// the gradients for its views. Views are augmented copies, or the same record with different draws
// of the network's randomness. The mean is clipped, so a record still adds one vector of at most
// the clip norm, and a step is the same event as without views.
//
// Gradients of views are computed and averaged record by record. For each record, this takes a
// batch of all its views through the network, and memory for one gradient.
//
// Source: De, Berrada, Hayes, Smith and Balle 2022, "Unlocking high-accuracy differentially private
// image classification through scale" (augmentation multiplicity).
type Views struct{ *hiddenViews }

// hiddenViews keeps a batch behind two pointers, which package fmt does not follow.
type hiddenViews struct{ *views }

type views struct {
	net     Network
	number  int
	augment func(rng *rand.Rand, view []float32)

	batch device.Batch // the batch given to Gradients
	many  device.Batch // the views of one record
	keys  []uint64
	ones  []float32
	mean  device.Params // mean gradient of one record
}

// NewViews returns a network trained on the given number of views of every record. augment changes
// one view of a dense record in place, at random with rng. The seed of rng is the record's key and
// the number of the view. augment must depend on the view and rng only, never on other records. If
// augment is nil, or the records are sparse, views differ only in their keys, which determine the
// network's randomness.
//
// Errors: *param.Error for a nil network, for a network with parameters on a device with separate
// memory, and for a number of views below 1 or above 65,536.
func NewViews(net Network, number int, augment func(rng *rand.Rand,
	view []float32)) (*Views, error) {
	var k param.Checker
	k.OK(net != nil, "models.NewViews.net", nil, "a network")
	k.OK(number > 0 && number <= 1<<16, "models.NewViews.number", number,
		"a number of views from 1 to 65536")
	if net != nil {
		k.OK(net.Params().Flat.Mem == nil, "models.NewViews.net", "parameters on a device",
			"a network on the CPU")
	}
	if err := k.Err(); err != nil {
		return nil, err
	}
	v := &Views{hiddenViews: &hiddenViews{&views{net: net, number: number, augment: augment,
		mean: device.NewParams(device.CPU(), net.Params().Shapes...)}}}
	for range number {
		v.ones = append(v.ones, 1/float32(number))
	}
	return v, nil
}

// Params returns the network's parameters.
func (v *Views) Params() device.Params { return v.net.Params() }

// BeginStep calls the network's BeginStep, if it has one.
func (v *Views) BeginStep() {
	if s, ok := v.net.(Stepper); ok {
		s.BeginStep()
	}
}

// Gradients returns the mean of the gradients over the views of each record.
func (v *Views) Gradients(b device.Batch) Gradients {
	v.batch = b
	return v
}

// of returns the mean gradient of record i over its views, in memory that the next call reuses.
func (v *Views) of(i int) device.Params {
	key := uint64(i)
	if v.batch.Keys != nil {
		key = v.batch.Keys[i]
	}
	one := v.batch.Slice(i, i+1)
	v.many = device.Batch{Rows: v.number, Keys: v.keys[:0]}
	if one.Sparse != nil {
		v.many.Sparse = &device.Sparse{Cols: one.Sparse.Cols, Offsets: []int{0}}
	} else {
		v.many.Dense = device.HostMatrix(v.number, one.Dense.Cols,
			make([]float32, v.number*one.Dense.Cols))
	}
	for k := range v.number {
		rng := rand.New(rand.NewPCG(key, uint64(k)))
		v.many.Keys = append(v.many.Keys, rng.Uint64())
		if one.Labels != nil {
			v.many.Labels = append(v.many.Labels, one.Labels[0])
		}
		if s := v.many.Sparse; s != nil {
			s.Items = append(s.Items, one.Sparse.Row(0)...)
			s.Offsets = append(s.Offsets, len(s.Items))
			continue
		}
		view := v.many.Dense.Row(k)
		copy(view, one.Dense.Row(0))
		if v.augment != nil {
			v.augment(rng, view)
		}
	}
	v.keys = v.many.Keys
	clear(v.mean.Flat.Data)
	v.net.Gradients(v.many).AddWeightedSum(v.mean, v.ones)
	return v.mean
}

// SquaredNorms sets dst[i] to ‖gᵢ‖².
func (v *Views) SquaredNorms(dst []float64) {
	for i := range v.batch.Rows {
		dst[i] = squareOf(v.of(i).Flat.Data)
	}
}

// BlockSquaredNorms sets dst[b][i] to the squared norm of the part of gᵢ in block b.
func (v *Views) BlockSquaredNorms(dst [][]float64) {
	for i := range v.batch.Rows {
		g := v.of(i)
		for b := range dst {
			lo, hi := g.Range(b)
			dst[b][i] = squareOf(g.Flat.Data[lo:hi])
		}
	}
}

func squareOf(x []float32) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return sum
}

// AddWeightedSum adds Σ wᵢ gᵢ to dst.
func (v *Views) AddWeightedSum(dst device.Params, weights []float32) {
	for i := range v.batch.Rows {
		if weights[i] != 0 {
			addScaled(dst.Flat.Data, v.of(i).Flat.Data, weights[i])
		}
	}
}

// AddBlockSums adds Σ weights[b][i]·gᵢ to block b of dst.
func (v *Views) AddBlockSums(dst device.Params, weights [][]float32) {
	for i := range v.batch.Rows {
		g := v.of(i)
		for b := range weights {
			if lo, hi := g.Range(b); weights[b][i] != 0 {
				addScaled(dst.Flat.Data[lo:hi], g.Flat.Data[lo:hi], weights[b][i])
			}
		}
	}
}

func addScaled(dst, x []float32, w float32) {
	for j, v := range x {
		dst[j] += w * v
	}
}
