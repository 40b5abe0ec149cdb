package models

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

// curvedCases are critics whose penalty has second derivatives.
func curvedCases() map[string]criticCase {
	cases := criticCases()
	for name, c := range cases {
		if n, err := c.arch.Critic(device.CPU(), c.dim, c.classes, c.loss, 1); err != nil ||
			n.(*critic).pair.ofPair != 4 {
			delete(cases, name)
		}
	}
	return cases
}

// TestCriticParts: a critic has a fourth part if and only if it has second derivatives.
func TestCriticParts(t *testing.T) {
	curved := curvedCases()
	for name, c := range criticCases() {
		var layerNorm bool
		var f Activation
		switch a := c.arch.(type) {
		case MLP:
			layerNorm, f = a.LayerNorm, a.Activation
		case CNN:
			layerNorm, f = a.LayerNorm, a.Activation
		}
		_, has := curved[name]
		if want := layerNorm || c.loss == Wasserstein && f != ReLU && f != LeakyReLU; has != want {
			t.Errorf("%s: the critic has second derivatives: %v, want the opposite", name, has)
		}
	}
}

// contribution returns the block norms and the gradient of record i, computed within batch b.
func contribution(n paired, b device.Batch, i int) (norms []float64, gradient []float32) {
	g := n.Gradients(b).(BlockGradients)
	each := make([][]float64, n.Params().Blocks())
	for k := range each {
		each[k] = make([]float64, b.Rows)
	}
	g.BlockSquaredNorms(each)
	for k := range each {
		norms = append(norms, each[k][i])
	}
	weights := make([]float32, b.Rows)
	weights[i] = 1
	sum := device.NewParams(device.CPU(), n.Params().Shapes...)
	g.AddWeightedSum(sum, weights)
	return norms, sum.Flat.Data
}

// TestCriticOthersDoNotMatter: a record's norms and gradient have the same bits for all other
// records of a batch.
func TestCriticOthersDoNotMatter(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	fill := func(row []float32, v float32) {
		for j := range row {
			row[j] = v
		}
	}
	for name, c := range curvedCases() {
		n := newPaired(t, c)
		const rows, at = 9, 4
		b := criticBatch(rand.New(rand.NewPCG(6, 4)), rows, c.dim, c.classes)
		norms, gradient := contribution(n, b, at)
		for k, spoil := range []func(row []float32){
			func(row []float32) { fill(row, 0) },
			func(row []float32) { fill(row, 0.5) },
			func(row []float32) { fill(row, 1e30) },
			func(row []float32) { row[0] = -1e20 },
			func(row []float32) { row[1] = nan },
			func(row []float32) { row[0], row[1] = inf, -inf },
		} {
			for i := range rows {
				if i != at {
					spoil(b.Dense.Row(i))
				}
			}
			got, row := contribution(n, b, at)
			for j := range got {
				if got[j] != norms[j] {
					t.Fatalf("%s, change %d: block %d has norm %v, want %v", name, k, j, got[j], norms[j])
				}
			}
			for j := range row {
				if row[j] != gradient[j] {
					t.Fatalf("%s, change %d: coordinate %d is %v, want %v", name, k, j, row[j], gradient[j])
				}
			}
		}
	}
}

// TestCriticConstantRows checks derivatives for a record whose outputs of a layer are all equal.
// Their variance is 0. The derivatives must still agree with the definition.
func TestCriticConstantRows(t *testing.T) {
	for name, c := range curvedCases() {
		if !strings.HasPrefix(name, "layer norm") || c.loss != Wasserstein {
			continue
		}
		n := newPaired(t, c)
		first := n.Params().Block(1) // biases, which are the layer's sums for a record of zeros
		device.CPU().Fill(first, 0.7)
		b := criticBatch(rand.New(rand.NewPCG(6, 6)), 4, c.dim, c.classes)
		fakes, mix := normalMatrix(rand.New(rand.NewPCG(6, 7)), 4, c.dim),
			[]float32{0.25, 0.5, 0.25, 0.75}
		clear(b.Dense.Row(1)) // with its fake, so that x̂ is zero too
		clear(fakes.Row(1))
		clear(b.Dense.Row(2))
		g := n.PairGradients(b, fakes, mix, n.lambda)
		norms := make([]float64, 4)
		g.SquaredNorms(norms)
		s, p := n.reference(), wide(n.Params().Flat.Data)
		for i := range 4 {
			sum, one := device.NewParams(device.CPU(), n.Params().Shapes...), make([]float32, 4)
			one[i] = 1
			g.AddWeightedSum(sum, one)
			square, label := squaredNorm(sum.Flat.Data), int32(0)
			if c.classes > 0 {
				label = b.Labels[i]
			}
			if !(norms[i] >= square*(1-1e-6)) || norms[i] > 1.02*square+1 {
				t.Errorf("%s, record %d: stated squared norm %v, materialised %v", name, i, norms[i], square)
			}
			loss := func() float64 {
				return s.pairLoss(p, wide(b.Dense.Row(i)), wide(fakes.Row(i)), float64(mix[i]), label, n.lambda)
			}
			for j := 0; j < len(p); j += 7 {
				const h = 1e-7 // small compared to √ε, the scale of the square root
				save := p[j]
				p[j] = save + h
				up := loss()
				p[j] = save - h
				down := loss()
				p[j] = save
				want := (up - down) / (2 * h)
				if got := float64(sum.Flat.Data[j]); math.Abs(got-want) > 1e-4*(1+math.Sqrt(square)) {
					t.Errorf("%s, record %d, parameter %d: derivative %v, want %v", name, i, j, got, want)
				}
			}
		}
	}
}

// TestCriticWithoutLabel: records with invalid labels have no gradient, even in critics with second
// derivatives.
func TestCriticWithoutLabel(t *testing.T) {
	for name, c := range curvedCases() {
		if c.classes == 0 {
			continue
		}
		n := newPaired(t, c)
		b := criticBatch(rand.New(rand.NewPCG(6, 8)), 3, c.dim, c.classes)
		b.Labels[0], b.Labels[1] = -1, int32(c.classes)
		for i := range 2 {
			norms, gradient := contribution(n, b, i)
			for _, v := range norms {
				if v > 1e-30 {
					t.Errorf("%s: a record without a valid label has norms %v, want zeros", name, norms)
				}
			}
			if squaredNorm(gradient) != 0 {
				t.Errorf("%s: a record without a valid label has a gradient", name)
			}
		}
	}
}

// TestLayerNormBlocks: gain and shift are separate blocks after the layer's weights and biases.
func TestLayerNormBlocks(t *testing.T) {
	a := CNN{Height: 4, Width: 4, Channels: 1, Convolutions: []Convolution{{Maps: 3, Size: 3}},
		Hidden: []int{5}, LayerNorm: true}
	n, err := a.Critic(device.CPU(), 16, 0, Wasserstein, 1)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range n.Params().Shapes {
		got = append(got, s.Name)
	}
	want := "critic.0.weight critic.0.bias critic.2.gain critic.2.bias critic.3.weight " +
		"critic.3.bias critic.5.gain critic.5.bias critic.6.weight critic.6.bias"
	if strings.Join(got, " ") != want {
		t.Errorf("got blocks %v", got)
	}
	if gain := n.Params().Block(2); gain.Cols != 3 || gain.Row(0)[0] != 1 {
		t.Errorf("gain %v, want three ones", gain)
	}
}

func TestLayerNormIsForCritics(t *testing.T) {
	be := device.CPU()
	image := CNN{Height: 4, Width: 4, Channels: 1, LayerNorm: true}
	for name, build := range map[string]func() error{
		"classifier": func() error {
			_, err := MLP{LayerNorm: true}.Classifier(be, 3, 2, 0)
			return err
		},
		"image classifier": func() error { _, err := image.Classifier(be, 16, 2, 0); return err },
		"generator": func() error {
			_, err := MLP{LayerNorm: true}.NewGenerator(be, 2, []Head{{Width: 3, Out: Linear}}, 0)
			return err
		},
		"both": func() error {
			_, err := MLP{LayerNorm: true, BatchNorm: true}.Critic(be, 3, 0, Wasserstein, 0)
			return err
		},
	} {
		if err := build(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for _, a := range []interface{ Validate() error }{MLP{LayerNorm: true}, image} {
		if err := a.Validate(); err != nil {
			t.Error(err)
		}
	}
}

// TestLayerNormJSON: descriptions without layer norm have no such field in JSON, like files written
// before the field existed.
func TestLayerNormJSON(t *testing.T) {
	for _, a := range []any{vectorCritic, SmallCritic28()} {
		text, err := json.Marshal(a)
		if err != nil || strings.Contains(string(text), "ayerNorm") {
			t.Errorf("%s, %v", text, err)
		}
	}
	vector, small := vectorCritic, SmallCritic28()
	vector.LayerNorm, small.LayerNorm = true, true
	for _, a := range []CriticArchitecture{vector, small} {
		text, err := MarshalArchitecture(a)
		if err != nil || !strings.Contains(string(text), `"layer_norm":true`) {
			t.Errorf("%s, %v", text, err)
		}
		back, err := UnmarshalCritic(text)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := MarshalArchitecture(back); err != nil || string(again) != string(text) {
			t.Errorf("%s, %v", again, err)
		}
	}
}
