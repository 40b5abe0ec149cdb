package modelstest_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/models/modelstest"
)

// batch returns random records of eight coordinates, with labels and keys.
func batch(rows int, seed uint64) device.Batch {
	rng := rand.New(rand.NewPCG(seed, 4))
	b := device.Batch{Rows: rows, Dense: device.HostMatrix(rows, 8, make([]float32, rows*8))}
	for i := range b.Dense.Data {
		b.Dense.Data[i] = rng.Float32()
	}
	for range rows {
		b.Keys, b.Labels = append(b.Keys, rng.Uint64()), append(b.Labels, int32(rng.IntN(2)))
	}
	return b
}

func build(t testing.TB, compute func(x models.Value) models.Loss) *models.Classifier {
	t.Helper()
	net, err := models.Build(device.CPU(), 8, 5, compute)
	if err != nil {
		t.Fatal(err)
	}
	return net
}

func autoencoder(x models.Value) models.Loss {
	z := x.Dense(5).Apply(device.Tanh).Dense(4).Latent(.5)
	return z.Dense(5).Apply(device.Softplus).Dense(8).Likelihood(models.Bernoulli, x)
}

// faulty is a network with a fault in its gradients.
type faulty struct {
	*models.Classifier
	fault string
	calls int
	kept  float32
	sums  bool // sums have been asked for
	next  float32
	byRow map[int32]float32
	byLen map[int][]float64
	other *models.Classifier // whose gradients are used instead, if it is given
}

type faultyGradients struct {
	models.FixedBlockGradients
	n *faulty
	b device.Batch
}

func (n *faulty) Gradients(b device.Batch) models.Gradients {
	n.calls++
	changed := b
	if b.Rows > 0 {
		changed.Dense = device.HostMatrix(b.Rows, 8, slices.Clone(b.Dense.Data))
	}
	x := changed.Dense
	switch {
	case n.fault == "adds the next record" && b.Rows > 1:
		x.Row(0)[0] += 1e-3 * x.Row(1)[0]
	case n.fault == "draws by position":
		changed.Keys = nil
	case n.fault == "draws anew each time" && b.Rows > 0:
		changed.Keys = slices.Clone(b.Keys)
		changed.Keys[0] += rand.Uint64()
	case n.fault == "subtracts the mean of the batch":
		for j := range x.Cols {
			mean := float32(0)
			for i := range b.Rows {
				mean += x.Row(i)[j] / float32(b.Rows)
			}
			for i := range b.Rows {
				x.Row(i)[j] -= mean
			}
		}
	case n.fault == "takes another path for large batches" && b.Rows > 16:
		x.Row(0)[0] *= 1.01
	case n.fault == "takes another path for very large batches" && b.Rows > 100:
		x.Row(b.Rows - 1)[0] *= 1.01
	case n.fault == "remembers numbers that are not finite":
		for i := range b.Rows {
			x.Row(i)[0] += n.kept
			if v := b.Dense.Row(i)[1]; math.IsInf(float64(v), 0) {
				n.kept = 1
			}
		}
	case n.fault == "adds the next record to negative numbers" && b.Rows > 1 && x.Row(0)[0] < 0:
		x.Row(0)[1] += x.Row(1)[1]
	case n.fault == "adds the next record in batches of 48" && b.Rows == 48:
		x.Row(5)[0] += x.Row(6)[0]
	case n.fault == "adds the first record to those after 512" && b.Rows > 512:
		x.Row(b.Rows - 1)[0] += x.Row(0)[0]
	case n.fault == "has its neighbor's key" && b.Rows > 1:
		changed.Keys = append(b.Keys[1:], b.Keys[0])
	case n.fault == "keeps a number of the package":
		for i := range b.Rows {
			x.Row(i)[2] += 1e-3 * shared[3]
			shared[3] = b.Dense.Row(i)[2]
		}
	case n.fault == "takes a record into the next step" && b.Rows > 0:
		x.Row(0)[0] += n.kept
		n.next = b.Dense.Row(0)[1]
	case n.fault == "takes a record into its state" && b.Rows > 0:
		n.kept = b.Dense.Row(0)[1]
	case n.fault == "remembers rows of the data set":
		for i := range b.Rows {
			x.Row(i)[0] += n.byRow[b.Index[i]]
			n.byRow[b.Index[i]] = .1 * b.Dense.Row(i)[1]
		}
	case n.fault == "writes to the batch" && b.Rows > 0:
		b.Dense.Row(0)[0] *= .5
	case n.fault == "moves its parameters":
		n.Params().Flat.Data[0] += 1e-6
	case n.fault == "panics for an infinite number":
		for _, v := range x.Data {
			if math.IsInf(float64(v), 1) {
				panic("infinite")
			}
		}
	}
	n.sums = false
	g := n.Classifier.Gradients(changed).(models.FixedBlockGradients)
	if n.other != nil {
		g = n.other.Gradients(changed).(models.FixedBlockGradients)
	}
	return &faultyGradients{g, n, b}
}

func (n *faulty) BeginStep() { n.kept = n.next }

func (n *faulty) AppendState(dst []byte) []byte {
	return binary.LittleEndian.AppendUint32(dst, math.Float32bits(n.kept))
}

func (n *faulty) SetState(state []byte) error {
	n.kept = math.Float32frombits(binary.LittleEndian.Uint32(state))
	return nil
}

func (n *faulty) Replica(be device.Backend) models.Network {
	r := n.Classifier.Replica(be).(*models.Classifier)
	switch n.fault {
	default:
		return nil
	case "has replicas with other sums":
		return &faulty{Classifier: r, fault: "has the wrong sign"}
	case "has replicas with other sums in fixed point":
		return &faulty{Classifier: r, fault: "rounds a batch"}
	case "has other replicas":
	}
	p := device.NewParams(be, r.Params().Shapes...)
	r.Bind(p)
	p.Flat.Data[0]++
	return r
}

func (g *faultyGradients) Losses(dst []float64) {
	of := models.Gradients(g.FixedBlockGradients)
	if g.n.other != nil {
		of = g.n.Classifier.Gradients(g.b)
	}
	of.(interface{ Losses([]float64) }).Losses(dst)
}

func (g *faultyGradients) SquaredNorms(dst []float64) {
	before := slices.Clone(dst)
	g.FixedBlockGradients.SquaredNorms(dst)
	if g.n.fault == "adds norms to numbers" {
		for i, v := range before {
			dst[i] += v
		}
	}
	for i := range dst {
		switch {
		case g.n.fault == "states norms that are a little too small":
			dst[i] *= .999
		case g.n.fault == "forgets the bias in norms":
			one := make([][]float64, g.n.Params().Blocks())
			for k := range one {
				one[k] = make([]float64, len(dst))
			}
			g.BlockSquaredNorms(one)
			dst[i] -= one[1][i]
		case g.n.fault == "states less after sums" && g.n.sums:
			dst[i] *= .98
		case g.n.fault == "states less in batches of more than 64" && len(dst) > 64 && i > 64:
			dst[i] *= .98
		case g.n.fault == "states less after many calls" && g.n.calls > 300:
			dst[i] *= .99
		case g.n.fault == "counts its calls" && g.n.calls > 12:
			dst[i] *= 1 + 1/float64(g.n.calls)
		case g.n.fault == "states a norm for NaN" && dst[i] != dst[i]:
			dst[i] = 1
		}
	}
	if g.n.fault == "remembers norms by the length of large batches" && len(dst) > 200 {
		if g.n.byLen[len(dst)] == nil {
			g.n.byLen[len(dst)] = slices.Clone(dst)
		}
		copy(dst, g.n.byLen[len(dst)])
	}
}

func (g *faultyGradients) BlockSquaredNorms(dst [][]float64) {
	g.FixedBlockGradients.BlockSquaredNorms(dst)
	if g.n.fault == "states no norm for a block" {
		clear(dst[2])
	}
	if g.n.fault == "mixes norms of blocks" && len(dst[0]) > 1 {
		dst[0][0] = dst[0][1]
	}
}

func (g *faultyGradients) AddBlockSums(dst device.Params, w [][]float32) {
	if g.n.fault == "has one weight for all blocks" {
		w = slices.Repeat(w[1:2], len(w))
	}
	for k, of := range w {
		switch {
		case g.n.fault == "has one weight for all records in blocks" && len(of) > 1:
			w[k] = slices.Repeat(of[:1], len(of))
		case g.n.fault == "adds records of weight 0 in blocks":
			for i, v := range of {
				if v == 0 && g.b.Dense.Row(i)[0] != g.b.Dense.Row(i)[0] {
					dst.Flat.Data[0] = float32(math.NaN())
				}
			}
		}
	}
	g.FixedBlockGradients.AddBlockSums(dst, w)
}

func (g *faultyGradients) AddWeightedSum(dst device.Params, w []float32) {
	g.n.sums = true
	if g.n.fault != "writes to the weights" {
		w = slices.Clone(w)
	}
	for i, v := range w {
		switch {
		case g.n.fault == "writes to the weights":
			w[i] = min(v, 1)
		case g.n.fault == "adds records of weight 0" && v == 0:
			w[i] = 1e-3
		case g.n.fault == "adds means of the batch":
			w[i] /= float32(len(w))
		case g.n.fault == "has the wrong sign":
			w[i] = -v
		case g.n.fault == "drops negative weights":
			w[i] = max(v, 0)
		}
	}
	if g.n.fault == "sets sums" {
		device.CPU().Fill(dst.Flat, 0)
	}
	before := slices.Clone(dst.Flat.Data)
	g.FixedBlockGradients.AddWeightedSum(dst, w)
	switch {
	case g.n.fault == "forgets a bias":
		copy(dst.Block(1).Data, before[len(dst.Block(0).Data):])
	case g.n.fault == "adds to an empty batch" && len(w) == 0:
		dst.Flat.Data[0]++
	}
}

func (g *faultyGradients) AddFixedSum(dst device.Fixed, w []float32) {
	if g.n.fault == "has other weights in fixed point" {
		w = slices.Clone(w)
		for i := range w {
			w[i] = device.Odd(w[i] * 1.01)
		}
	}
	g.FixedBlockGradients.AddFixedSum(dst, w)
	switch {
	case g.n.fault == "rounds a batch" && len(w) > 1,
		g.n.fault == "rounds large batches" && len(w) > 64:
		dst.Units[0]++
	case g.n.fault == "adds records of weight 0 in fixed point":
		for _, v := range w {
			if v == 0 {
				dst.Units[0] += 7
			}
		}
	}
}

func (g *faultyGradients) AddFixedBlockSums(dst device.Fixed, w [][]float32) {
	if g.n.fault == "has one weight for all blocks in fixed point" {
		w = slices.Repeat(w[1:2], len(w))
	}
	g.FixedBlockGradients.AddFixedBlockSums(dst, w)
}

func (g *faultyGradients) FixedForm() models.FixedForm {
	form := g.FixedBlockGradients.FixedForm()
	if g.n.fault == "has a form for each batch" {
		form.Terms += g.b.Rows
	}
	return form
}

// faultsOfNetworks are faults of an autoencoder, and what is said about them.
var faultsOfNetworks = map[string]string{
	"": "", "adds the next record": "norm of record 0 depends on the other",
	"draws by position": "depends", "draws anew each time": "random",
	"subtracts the mean of the batch":          "depends on the other",
	"takes another path for large batches":     "a batch of",
	"moves its parameters":                     "depend",
	"panics for an infinite number":            "panics",
	"has other replicas":                       "replicas",
	"states norms that are a little too small": "states the norm",
	"forgets the bias in norms":                "states the norm",
	"counts its calls":                         "depends",
	"states a norm for NaN":                    "a record with the number NaN states",
	"states no norm for a block":               "block", "has one weight for all blocks": "block",
	"adds records of weight 0": "sums", "adds means of the batch": "sums", "sets sums": "sums",
	"drops negative weights": "sums",
	"has the wrong sign":     "slope", "forgets a bias": "slope",
	"takes another path for very large batches":      "a batch of",
	"remembers numbers that are not finite":          "Inf",
	"adds norms to numbers":                          "depends",
	"adds to an empty batch":                         "empty",
	"has other weights in fixed point":               "moves a sum",
	"rounds a batch":                                 "fixed point",
	"has a form for each batch":                      "fixed point",
	"adds the next record to negative numbers":       "with the number -0.7 depends on other records",
	"adds the next record in batches of 48":          "a batch of 48",
	"adds the first record to those after 512":       "a batch of",
	"has its neighbor's key":                         "depends on the other",
	"keeps a number of the package":                  "depends on earlier",
	"writes to the batch":                            "changes its batch",
	"takes a record into the next step":              "first batch after a step",
	"takes a record into its state":                  "state changes",
	"remembers rows of the data set":                 "depend",
	"writes to the weights":                          "weights",
	"has replicas with other sums":                   "sums are different if replicas",
	"has replicas with other sums in fixed point":    "fixed point",
	"states less after sums":                         "after a sum",
	"states less in batches of more than 64":         "a batch of 100",
	"states less after many calls":                   "norms are different",
	"remembers norms by the length of large batches": "a batch of 256",
	"mixes norms of blocks":                          "a norm that depends",
	"has one weight for all records in blocks":       "weight",
	"adds records of weight 0 in blocks":             "weight 0 changes a sum",
	"adds records of weight 0 in fixed point":        "fixed point of 9",
	"rounds large batches":                           "fixed point of 65",
	"has one weight for all blocks in fixed point":   "each block",
}

// TestFaultsOfNetworks: each of these faults is found, and one sentence says what is wrong.
func TestFaultsOfNetworks(t *testing.T) {
	for fault, want := range faultsOfNetworks {
		var l listener
		modelstest.Network(&l, &faulty{Classifier: build(t, autoencoder), fault: fault,
			byLen: map[int][]float64{}, byRow: map[int32]float32{}}, batch(9, 3))
		said := strings.Join(l.said, "\n")
		if (said == "") != (fault == "") || !strings.Contains(said, want) {
			t.Errorf("a network that %s: %q, want %q", fault, said, want)
		}
	}
}

// TestForgottenPosition: in one network a layer is used twice. The gradients of another one, with
// the same numbers, lack one of the uses.
func TestForgottenPosition(t *testing.T) {
	twice := build(t, func(x models.Value) models.Loss {
		h := x.Dense(8)
		return h.Apply(device.Tanh).Like(h).Dense(2).CrossEntropy()
	})
	once := build(t, func(x models.Value) models.Loss {
		return x.Dense(8).Apply(device.Tanh).Dense(8).Frozen().Dense(2).CrossEntropy()
	})
	once.Bind(twice.Params())
	p, q := twice.Params(), once.Frozen()
	copy(q.Block(0).Data, p.Block(0).Data)
	copy(q.Block(1).Data, p.Block(1).Data)
	var l listener
	modelstest.Network(&l, &faulty{Classifier: twice, other: once}, batch(9, 3))
	if len(l.said) != 1 || !strings.Contains(l.said[0], "slope") {
		t.Errorf("%q, want a sentence about a slope", l.said)
	}
}

// TestFaultyOpsInNetworks: an operation that mixes records makes a network that does.
func TestFaultyOpsInNetworks(t *testing.T) {
	for _, fault := range []string{"", "uses the sum of records before", "adds random numbers",
		"keeps the gates of the last record", "forgets an operand", "has the wrong sign"} {
		op := newGate(fault)
		net := build(t, func(x models.Value) models.Loss {
			h := x.Dense(4)
			return h.Do(op, x.Dense(4)).Dense(2).CrossEntropy()
		})
		var l listener
		modelstest.Network(&l, net, batch(9, 3))
		if (len(l.said) == 0) != (fault == "") {
			t.Errorf("a network with an operation that %s: %q", fault, l.said)
		}
	}
}
