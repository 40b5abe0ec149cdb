package merf

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/partial"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// TestEncoderSize compares the stated number of parameters with that of the network.
func TestEncoderSize(t *testing.T) {
	for _, s := range []records.Schema{records.Image(2, 3), records.Image(28, 28),
		records.RGBImage(9, 4)} {
		l := &encoder{schema: s, settings: Learned{Code: 7}.withDefaults()}
		net, err := l.build(device.CPU(), 1)
		if err != nil {
			t.Fatal(err)
		}
		if n, _ := l.size(); n != net.Params().Len() {
			t.Errorf("%v: %d parameters, want %d", s, n, net.Params().Len())
		}
	}
}

// tinyLearned returns an embedding with learned features of 4×4 images of two classes.
func tinyLearned(t *testing.T) *Embedding {
	t.Helper()
	s := records.Image(4, 4).WithLabels("a", "b")
	rng := rand.New(rand.NewPCG(5, 1))
	flat, labels := make([]float32, 60*16), make([]int32, 60)
	for i := range flat {
		flat[i] = rng.Float32()
	}
	for i := range labels {
		labels[i] = int32(i % 2)
	}
	data, err := records.FromFlat(s, flat, labels...)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Config{Schema: s, Budget: accountant.Budget{Epsilon: 5, Delta: 1e-5}, Seed: 1,
		Kernel: rff.RBF{Dim: 8, Bandwidth: 1}, Learned: Learned{Part: 0.3, Features: 12, Code: 3,
			Steps: 3, Records: 200, Epochs: 2},
		Generator: GeneratorConfig{Architecture: models.MLP{Hidden: []int{8}}, Latent: 2,
			Batch: 12}}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	// The noise has a fixed seed, because difference quotients may cross kinks of rectified units.
	e, err := p.Embed(privacytest.Seeded(t, context.Background(), 1),
		accountant.NewLedger(p.Budget()), data)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestDerivativeOfLearnedFeatures compares the derivative of the loss of both releases with
// central differences, and that of the learned features as an embedding.
func TestDerivativeOfLearnedFeatures(t *testing.T) {
	e := tinyLearned(t)
	g := GeneratorConfig{Architecture: models.MLP{}, Latent: 2, Batch: 8,
		Weights: ByProportion}.withDefaults()
	tr, err := newTraining(e, g, device.CPUWith(1))
	if err != nil {
		t.Fatal(err)
	}
	if len(tr.choices) != 1 || len(tr.choices[0]) != 2 || tr.choices[0][1].encoder == nil {
		t.Fatalf("%d choices, the first of %d pieces; want one of two", len(tr.choices),
			len(tr.choices[0]))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	x := device.HostMatrix(8, 16, make([]float32, 8*16))
	for i := range x.Data {
		x.Data[i] = rng.Float32()
	}
	tr.derive(x)
	for i := range x.Data {
		const h = 1.0 / 4096 // small, because a quotient may cross a kink of a rectified unit
		save := x.Data[i]
		x.Data[i] = save + h
		up := loss(tr, x)
		x.Data[i] = save - h
		down := loss(tr, x)
		x.Data[i] = save
		want := (up - down) / (2 * h)
		if got := float64(tr.dx.Data[i]); math.Abs(want-got) > 2e-3*(1+math.Abs(want)) {
			t.Errorf("coordinate %d: derivative %v, want the difference quotient %v", i, got, want)
		}
	}
	joined := e.features.(rff.CompoundEmbedding).Scaled()
	if n := len(joined); n != 2 || joined[1].Dim() != 12 {
		t.Fatalf("%d parts, want 2", n)
	}
	// Both ways to the derivative agree: the training's own, and Backward of the whole embedding.
	whole := rowwiseTraining(t, e, g)
	whole.derive(x)
	for i, v := range whole.dx.Data {
		if math.Abs(float64(v-tr.dx.Data[i])) > 1e-4 {
			t.Fatalf("coordinate %d: derivatives %v and %v", i, v, tr.dx.Data[i])
		}
	}
}

// rowwiseTraining returns a training that treats joined embeddings as a single one.
func rowwiseTraining(t *testing.T, e *Embedding, g GeneratorConfig) *training {
	t.Helper()
	plain := *e
	plain.features = plainEmbedding{e.features}
	tr, err := newTraining(&plain, g, device.CPUWith(1))
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// TestCodesDependOnTheirImage checks that the features of an image have the same bits in every
// batch, which the sensitivity of exact sums needs.
func TestCodesDependOnTheirImage(t *testing.T) {
	s := records.Image(28, 28).WithLabels("a", "b")
	l := &encoder{schema: s, settings: Learned{Features: 64}.withDefaults(), bandwidth: 3}
	net, err := l.build(device.CPU(), 1)
	if err != nil {
		t.Fatal(err)
	}
	l.params = net.Params().Flat.Data
	features, err := l.Embedding(layout(s), 1)
	if err != nil {
		t.Fatal(err)
	}
	be := device.CPU()
	rng := rand.New(rand.NewPCG(1, 2))
	x := be.New(300, 784)
	for i := range x.Data {
		x.Data[i] = max(float32(rng.NormFloat64()), 0)
	}
	of := func(lo, hi int) device.Matrix {
		dst := be.New(hi-lo, 64)
		features.Transform(be, device.Batch{Rows: hi - lo, Dense: x.RowRange(lo, hi)}, dst)
		return dst
	}
	all := of(0, 300)
	for _, r := range [][2]int{{0, 1}, {1, 300}, {17, 60}, {130, 299}, {299, 300}} {
		some := of(r[0], r[1])
		for i := range some.Rows {
			for j, v := range some.Row(i) {
				if want := all.Row(r[0] + i)[j]; math.Float32bits(v) != math.Float32bits(want) {
					t.Fatalf("rows %v: feature %d of row %d is %v, and %v among all", r, j, i, v, want)
				}
			}
		}
	}
}

// TestLearnedNoiseCoversEveryChange checks the noise of the second release against the largest
// changes that features of norm 1 permit: one sum changes by 1, by 2 if an image is replaced within
// its class, or two sums change by 1 each.
func TestLearnedNoiseCoversEveryChange(t *testing.T) {
	for _, c := range []struct {
		relation accountant.Relation
		change   float64
	}{{accountant.AddOrRemoveOne, 1}, {accountant.ReplaceOne, 2}} {
		config := Config{Schema: records.Image(4, 4).WithLabels("a", "b"), NoiseMultiplier: 3,
			Budget:  accountant.Budget{Epsilon: 1, Delta: 1e-5, Relation: c.relation},
			Learned: Learned{Part: 0.25}}
		n, z := config.learnedNoise(), config.learnedStage(3).NoiseMultiplier
		if z != 6 {
			t.Errorf("%v: the stage has the noise multiplier %v, want 3/√.25", c.relation, z)
		}
		if got := c.change / n.sum * z; got > 1+1e-12 || got < 1-1e-6 {
			t.Errorf("%v: a change of %v is %v of the stage's effect, want 1", c.relation, c.change, got)
		}
		if n.effect*z > 1+1e-12 || n.count != 0 {
			t.Errorf("%v: the stated effect is %v of the stage's, with counts ±%v; want 1 and none",
				c.relation, n.effect*z, n.count)
		}
	}
}

// TestPassesNameTheirEncoder checks that sums of the features of different encoders cannot be
// merged, and that a plan that has been read back makes the same pass.
func TestPassesNameTheirEncoder(t *testing.T) {
	c := Config{Schema: records.Image(8, 8).WithLabels("a", "b"),
		Kernel: rff.RBF{Dim: 2, Bandwidth: 1}, Learned: Learned{Part: 0.3},
		Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5}}
	p, err := c.Plan()
	if err != nil {
		t.Fatal(err)
	}
	text, err := p.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	again, err := synth.Systems{System()}.ReadPlan(text)
	if err != nil {
		t.Fatal(err)
	}
	l := &encoder{schema: c.Schema, settings: p.Config.Learned, bandwidth: 1}
	n, _ := l.size()
	l.params = make([]float32, n)
	pass := func(w *work) partial.Pass {
		second, err := w.describing(l)
		if err != nil {
			t.Fatal(err)
		}
		return second.pass
	}
	first := pass(p.work)
	if pass(again.(*Plan).work) != first {
		t.Error("a plan that was read back makes another pass")
	}
	l.params[7] = 1
	if pass(p.work) == first {
		t.Error("two encoders have the same pass")
	}
}

// TestJointSumsAreSumsOfJointFeatures compares a release with hardly any noise with the sums of the
// joint features of the images.
func TestJointSumsAreSumsOfJointFeatures(t *testing.T) {
	for name, k := range map[string]rff.EmbeddingKernel{"rbf": rff.RBF{Dim: 8, Bandwidth: 1},
		"join": rff.Join{Parts: []rff.Part{{Share: 2, Kernel: rff.RBF{Dim: 4, Bandwidth: 1}},
			{Share: 3, Kernel: rff.RBF{Dim: 6, Bandwidth: 2}}}}} {
		s := records.Image(4, 4).WithLabels("a", "b")
		rng := rand.New(rand.NewPCG(5, 1))
		flat, labels := make([]float32, 40*16), make([]int32, 40)
		for i := range flat {
			flat[i] = rng.Float32()
		}
		for i := range labels {
			labels[i] = int32(i % 2)
		}
		data, err := records.FromFlat(s, flat, labels...)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Config{Schema: s, Budget: accountant.Budget{Epsilon: 1e6, Delta: 1e-5}, Seed: 1,
			NoiseMultiplier: 0.002, Kernel: k, Learned: Learned{Part: 0.3, Features: 12, Code: 3, Steps: 3,
				Records: 50, Epochs: 1},
			Generator: GeneratorConfig{Architecture: models.MLP{Hidden: []int{8}}, Latent: 2,
				Batch: 12}}.Plan()
		if err != nil {
			t.Fatal(err)
		}
		e, err := p.Embed(context.Background(), accountant.NewLedger(p.Budget()), data)
		if err != nil {
			t.Fatal(err)
		}
		be := device.CPU()
		f := be.New(40, e.Features())
		e.features.Transform(be, device.Batch{Rows: 40, Dense: device.HostMatrix(40, 16, flat)}, f)
		for class := range 2 {
			for j, got := range e.Sum(class) {
				want := 0.0
				for i := class; i < 40; i += 2 {
					want += float64(f.Row(i)[j])
				}
				if math.Abs(got-want) > 8*e.SumStd()+1e-3 {
					t.Fatalf("%s: sum %d of class %d is %v, want %v", name, j, class, got, want)
				}
			}
		}
	}
}
