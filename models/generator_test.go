package models

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

// generatorCase is an architecture and heads that fit it.
type generatorCase struct {
	arch  GeneratorArchitecture
	heads []Head
}

var testGenerators = []generatorCase{
	{MLP{Hidden: []int{5, 4}, Activation: Tanh, BatchNorm: true},
		[]Head{{2, SigmoidHead}, {1, SigmoidHead}, {3, SoftmaxHead}, {2, SoftmaxHead}, {2, Linear},
			{1, TanhHead}}},
	{MLP{Hidden: []int{4}, Activation: Softplus}, []Head{{1, SoftmaxHead}, {3, TanhHead}}},
	{MLP{}, []Head{{3, Linear}}},
	{ConvDecoder{Height: 4, Width: 2, Channels: 1, Maps: []int{3}, Size: 3, Activation: Tanh,
		BatchNorm: true}, []Head{{8, TanhHead}}},
	{ConvDecoder{Height: 4, Width: 4, Channels: 1, Hidden: []int{3}, Maps: []int{2, 3}, Size: 2,
		Activation: Tanh}, []Head{{12, SigmoidHead}, {4, SoftmaxHead}}},
	{ConvDecoder{Height: 4, Width: 2, Channels: 1, Maps: []int{3}, Size: 3, Activation: Tanh,
		Output: device.Sigmoid}, nil},
}

func newTestGenerator(t testing.TB, c generatorCase, latent int) *decoder {
	t.Helper()
	n := must(c.arch.NewGenerator(device.CPU(), latent, c.heads, 23))(t)
	d := n.(*decoder)
	rng := rand.New(rand.NewPCG(3, 2))
	for i := range d.params.Flat.Data {
		d.params.Flat.Data[i] += float32(0.1 * rng.NormFloat64())
	}
	return d
}

// heads64 applies heads to one row, from the definitions.
func heads64(heads []Head, x []float64) []float64 {
	y := append([]float64(nil), x...)
	lo := 0
	for _, h := range heads {
		part, sum := y[lo:lo+h.Width], 0.0
		for j, v := range part {
			switch h.Out {
			case SigmoidHead:
				part[j] = 1 / (1 + math.Exp(-v))
			case TanhHead:
				part[j] = math.Tanh(v)
			case SoftmaxHead:
				part[j] = math.Exp(v)
			}
			sum += part[j]
		}
		if h.Out == SoftmaxHead {
			for j := range part {
				part[j] /= sum
			}
		}
		lo += h.Width
	}
	return y
}

// TestGeneratorGradient: the loss is a fixed linear form of the records. Its derivatives with
// respect to parameters and codes are compared with central differences in float64.
func TestGeneratorGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	for k, c := range testGenerators {
		n := newTestGenerator(t, c, 3)
		const rows = 5
		codes, form := normalMatrix(rng, rows, 3), normalMatrix(rng, rows, n.Dim())
		out := n.Forward(codes)
		x := make([][]float64, rows)
		for i := range x {
			x[i] = wide64(codes.Row(i))
		}
		p := wide64(n.params.Flat.Data)
		units := unitsOf(n.g)
		loss := func() float64 {
			sum := 0.0
			for i, y := range chain64(units, p, x) {
				for j, v := range heads64(c.heads, y) {
					sum += v * float64(form.Row(i)[j])
				}
			}
			return sum
		}
		for i, y := range chain64(units, p, x) {
			for j, v := range heads64(c.heads, y) {
				if math.Abs(v-float64(out.Row(i)[j])) > 1e-4 {
					t.Fatalf("generator %d: record %d is %v at %d, want %v", k, i, out.Row(i)[j], j, v)
				}
			}
		}
		grad, dCodes := device.NewParams(device.CPU(), n.Params().Shapes...), device.CPU().New(rows, 3)
		n.Backward(form, grad, dCodes)
		slope := func(at *float64) float64 {
			const h = 1e-5
			save := *at
			*at = save + h
			up := loss()
			*at = save - h
			down := loss()
			*at = save
			return (up - down) / (2 * h)
		}
		for j := range p {
			if want, got := slope(&p[j]),
				float64(grad.Flat.Data[j]); math.Abs(got-want) > 2e-4*(1+math.Abs(want)) {
				t.Fatalf("generator %d, parameter %d: gradient %v, difference quotient %v", k, j, got, want)
			}
		}
		for i := range rows {
			for j := range 3 {
				if want, got := slope(&x[i][j]),
					float64(dCodes.Row(i)[j]); math.Abs(got-want) > 2e-4*(1+math.Abs(want)) {
					t.Fatalf("generator %d, code %d: derivative %v, difference quotient %v", k, i, got, want)
				}
			}
		}
	}
}

// TestGeneratorSize: GeneratorSize returns the network's true sizes, since the sizes stated in a
// file are compared with them before memory is allocated.
func TestGeneratorSize(t *testing.T) {
	for k, c := range testGenerators {
		n := newTestGenerator(t, c, 3)
		params, state := c.arch.(GeneratorSizer).GeneratorSize(3, c.heads)
		if got := int64(n.Params().Len()); params != got {
			t.Errorf("generator %d: GeneratorSize returns %d parameters, the network has %d", k, params, got)
		}
		if got := int64(len(n.AppendState(nil))); state != got {
			t.Errorf("generator %d: GeneratorSize returns %d bytes of state, the network has %d", k, state, got)
		}
	}
	const huge = math.MaxInt/2 + 1
	layers := slices.Repeat([]int{huge}, 8) // of an int of 32 bits, each has 2^60 parameters
	if p, _ := (MLP{Hidden: layers, BatchNorm: true}).GeneratorSize(huge,
		[]Head{{huge, Linear}}); p != math.MaxInt64 {
		t.Errorf("a huge network has %d parameters, want math.MaxInt64", p)
	}
}

func TestGeneratorJSON(t *testing.T) {
	for _, c := range testGenerators {
		text := must(MarshalArchitecture(c.arch))(t)
		back, err := UnmarshalGenerator(text)
		if again, err2 := MarshalArchitecture(back); err != nil || err2 != nil ||
			string(again) != string(text) {
			t.Errorf("%s was read back as %s, %v", text, again, err)
		}
	}
	for _, text := range []string{``, `{"name":"vae"}`, `{"name":"mlp","params":{"hidden":[-1]}}`,
		`{"name":"conv-decoder","params":{}}`} {
		if _, err := UnmarshalGenerator([]byte(text)); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
	if a, err := UnmarshalGenerator([]byte(`{"name":"theirs"}`), theirs{}); err != nil ||
		a.Name() != "theirs" {
		t.Errorf("user-defined architecture: %v, %v", a, err)
	}
	for k := range SoftmaxHead + 1 {
		text, err := json.Marshal(Head{1, k})
		var back Head
		if err != nil || json.Unmarshal(text, &back) != nil || back != (Head{1, k}) {
			t.Errorf("%s was read back as %v", text, back)
		}
	}
}

type theirs struct{ MLP }

func (theirs) Name() string { return "theirs" }

func TestGeneratorConfig(t *testing.T) {
	_, err := MLP{Hidden: []int{0}}.NewGenerator(nil, 0, []Head{{0, 9}}, 1)
	for _, path := range []string{"models.MLP.NewGenerator", "models.MLP.NewGenerator: latent",
		"models.MLP.Hidden[0]", "models.MLP.NewGenerator: heads[0].Width",
		"models.MLP.NewGenerator: heads[0].Out"} {
		if !names(err, path) {
			t.Errorf("%s is not reported: %v", path, err)
		}
	}
	if _, err := (MLP{}).NewGenerator(device.CPU(), 2, nil, 1); !names(err,
		"models.MLP.NewGenerator: heads") {
		t.Errorf("no heads: %v", err)
	}
	if _, err := testGenerators[3].arch.NewGenerator(device.CPU(), 2, []Head{{7, Linear}},
		1); !names(err, "models.ConvDecoder.NewGenerator: heads") {
		t.Errorf("heads narrower than an image: %v", err)
	}
	if _, err := (MLP{BatchNorm: true}).Classifier(device.CPU(), 2, 2, 1); !names(err,
		"models.MLP.BatchNorm") {
		t.Errorf("a classifier with batch norm: %v", err)
	}
}

func TestGeneratorIsStateful(t *testing.T) {
	n := newTestGenerator(t, testGenerators[0], 3)
	rng := rand.New(rand.NewPCG(6, 1))
	for range 10 {
		n.Forward(normalMatrix(rng, 32, 3))
	}
	m := newTestGenerator(t, testGenerators[0], 3)
	if err := m.SetState(n.AppendState(nil)); err != nil {
		t.Fatal(err)
	}
	codes := normalMatrix(rng, 4, 3)
	a, b := device.CPU().New(4, n.Dim()), device.CPU().New(4, n.Dim())
	n.Generate(codes, a)
	m.Generate(codes, b)
	if !reflect.DeepEqual(a, b) {
		t.Error("a network with restored state generates different records")
	}
}
