package frontdoor_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
)

// Tests leave much garbage and hold little memory, so collections may be rare. Long ones hold more.
func init() {
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(2 << 30)
}

// redAndBlue returns images of two classes that differ in colour.
func redAndBlue(t *testing.T) *records.Table {
	t.Helper()
	const n = 200
	s := records.RGBImage(8, 8).WithLabels("red", "blue")
	rng := rand.New(rand.NewPCG(1, 8))
	levels, labels := make([]uint8, n*s.Dim()), make([]int32, n)
	for i := range labels {
		labels[i] = int32(2 * i / n)
		for p := range 64 {
			pixel := levels[i*s.Dim()+3*p:]
			pixel[0], pixel[1], pixel[2] = uint8(rng.IntN(60)), uint8(rng.IntN(60)), uint8(rng.IntN(60))
			pixel[2*labels[i]] = uint8(190 + rng.IntN(60))
		}
	}
	return must(records.FromBytes(s, levels, labels...))(t)
}

// colourPlans returns a plan of every system that supports images. The settings of MERF and mix
// follow from the schema, except for the number of steps.
func colourPlans(t *testing.T, s records.Schema) map[string]privgen.Plan {
	t.Helper()
	b := accountant.Budget{Epsilon: 30, Delta: 1e-5}
	train := sgd.Config{ClipNorm: 1, SamplingProbability: 0.2, Steps: 5, Optimizer: sgd.Adam(1e-3)}
	list := map[string]privgen.Plan{}
	add := func(p privgen.Plan, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		list[p.System()] = p
	}
	release, err := privgen.MERF(s, b).Nominal(200).
		Train(merf.GeneratorConfig{Steps: 150, Batch: 40}).Plan()
	add(release, err)
	critic, err := privgen.GAN(s, b).Critic(models.CNN{Height: 8, Width: 8, Channels: 3,
		Convolutions: []models.Convolution{{Maps: 4, Size: 3, Stride: 2, Pad: 1}}}).
		Generator(models.ConvDecoder{Height: 8, Width: 8, Channels: 3, Maps: []int{4, 4}, Size: 4,
			Output: device.Sigmoid, BatchNorm: true}, 4).
		Train(gan.Config{Train: train, CriticSteps: 2}).Plan()
	add(critic, err)
	mixtures, err := privgen.Mix(s, b).Nominal(200).Mixtures(mix.Config{Mixtures: 40}).Plan()
	add(mixtures, err)
	clusters, err := privgen.DPGM(s, b).Features(rff.RBF{Dim: 20, Bandwidth: 5}).
		Cluster(kmeans.Config{K: 2, Iterations: 2, Share: 0.2}).
		Model(models.VAE{Hidden: []int{8}, Latent: 2}).Train(train).Plan()
	add(clusters, err)
	return list
}

// TestColourImages checks that every system generates colour images from a folder of image files.
// It must be possible to write the plan and the generator and to read them back. MERF's images must
// have the colour of their class: over 50 images, the means of red and blue must differ by more
// than a tenth of their range. The noise at this ε is a thousandth of the range.
func TestColourImages(t *testing.T) {
	if !*long {
		t.Skip("see -long")
	}
	data, ctx := redAndBlue(t), t.Context()
	for system, plan := range colourPlans(t, data.Schema()) {
		text := must(json.Marshal(plan))(t)
		read, err := privgen.ReadPlan(text)
		if err != nil || read.String() != plan.String() {
			t.Fatalf("%s: the plan read back differs, or was not read: %v", system, err)
		}
		gen, err := read.Fit(ctx, data)
		if err != nil {
			t.Fatalf("%s: %v", system, err)
		}
		var file bytes.Buffer
		if err := gen.Save(&file); err != nil {
			t.Fatal(err)
		}
		loaded, err := privgen.Load(&file)
		if err != nil {
			t.Fatalf("%s: %v", system, err)
		}
		made, err := loaded.Sample(ctx, 40, privgen.Seed(1))
		if err != nil {
			t.Fatalf("%s: %v", system, err)
		}
		if s := made.Schema(); s.Channels() != 3 || s.Height() != 8 || made.Len() != 40 ||
			records.Check(made) != nil {
			t.Errorf("%s: got %d records of %v, want 40 valid images of 8×8 pixels in colour: %v", system,
				made.Len(), s, records.Check(made))
		}
		if system == "merf" {
			for class := range 2 {
				some := must(loaded.Sample(ctx, 50, privgen.Seed(1), privgen.OfClass(class)))(t)
				if apart := redder(some) * float64(1-2*class); !(apart > 0.1) {
					t.Errorf("class %d: red and blue differ by %v, want more than 0.1", class, apart)
				}
			}
		}
	}
}

// redder returns the mean of red minus the mean of blue.
func redder(d records.Data) (sum float64) {
	var b device.Batch
	d.Range(0, d.Len(), &b)
	for i := range d.Len() {
		for p := range 64 {
			sum += float64(b.Dense.Row(i)[3*p]-b.Dense.Row(i)[3*p+2]) / 64 / float64(d.Len())
		}
	}
	return sum
}

// TestColoursAreTold checks that a convolutional classifier distinguishes colours.
func TestColoursAreTold(t *testing.T) {
	data := redAndBlue(t)
	by, err := models.CNN{Height: 8, Width: 8, Channels: 3, Hidden: []int{128},
		Convolutions: []models.Convolution{{Maps: 16, Size: 5, Stride: 2, Pad: 2}}}.
		Classifier(device.CPU(), data.Schema().Dim(), 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	var b device.Batch
	data.Range(0, data.Len(), &b)
	const steps = 50
	descend := by.Descent(device.CPU(), 2e-3, steps)
	for range steps {
		descend(by.Gradients(b), b.Rows)
	}
	named := make([]int32, b.Rows)
	by.PredictClass(b, named)
	wrong := 0
	for i, class := range named {
		if int(class) != data.Label(i) {
			wrong++
		}
	}
	if wrong > 10 {
		t.Errorf("%d of %d images are classified wrongly, want at most 10", wrong, data.Len())
	}
}

// TestNetworksOfLargerImages checks that images of 32, 48 and 64 pixels can be planned. It trains
// nothing.
func TestNetworksOfLargerImages(t *testing.T) {
	b := accountant.Budget{Epsilon: 10, Delta: 1e-5}
	train := sgd.Config{ClipNorm: 1, SamplingProbability: 0.01, Steps: 5, Optimizer: sgd.Adam(1e-3)}
	for _, side := range []int{32, 48, 64} {
		critic := models.CNN{Height: side, Width: side, Channels: 3, Activation: models.LeakyReLU}
		for _, maps := range []int{64, 128, 256} {
			critic.Convolutions = append(critic.Convolutions,
				models.Convolution{Maps: maps, Size: 5, Stride: 2, Pad: 2})
		}
		maker := models.ConvDecoder{Height: side, Width: side, Channels: 3, Maps: []int{256, 128, 64},
			Size: 4, Output: device.Sigmoid, BatchNorm: true}
		s := records.RGBImage(side, side).WithLabels("a", "b")
		_, err := privgen.GAN(s, b).Critic(critic).Generator(maker, 32).
			Train(gan.Config{Train: train}).Plan()
		if err != nil {
			t.Errorf("gan, %d pixels: %v", side, err)
		}
		plan, err := privgen.MERF(s, b).Nominal(50_000).Plan()
		if err != nil {
			t.Errorf("merf, %d pixels: %v", side, err)
			continue
		}
		if _, err := privgen.Recommend(s, b, 50_000); err != nil {
			t.Errorf("recommend, %d pixels: %v", side, err)
		}
		_ = plan.String()
	}
}
