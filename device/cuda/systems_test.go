package cuda_test

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
)

// trained returns the parameters of a VAE after private training with a fixed seed for the noise.
func trained(t *testing.T, be device.Backend, optimizer sgd.Optimizer, data records.Data,
	dim int) []float32 {
	t.Helper()
	net, err := models.VAE{Hidden: []int{40}, Latent: 2}.New(be, models.Visible{Dim: dim}, 1)
	if err != nil {
		t.Fatal(err)
	}
	cfg := sgd.Config{ClipNorm: 1, SamplingProbability: 0.5, Steps: 8, NoiseMultiplier: 1,
		Optimizer:    optimizer,
		NominalBatch: 50, MicroBatch: 30}
	trainer, err := sgd.New(cfg, net,
		ledger.New(accountant.Budget{Epsilon: 100, Delta: 1e-5}),
		sgd.WithBackend(be))
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range trainer.Steps(privacytest.Seeded(t, t.Context(), 4), data) {
		if err != nil {
			t.Fatal(err)
		}
	}
	return host(be, net.Params().Flat)
}

// TestPrivateTrainingAgrees checks that private training with the same sample and noise gives
// nearly the same parameters as on the CPU. Parameters differ only because of rounding errors of
// the clipped sums, which may round to different points of the grid of the noise.
func TestPrivateTrainingAgrees(t *testing.T) {
	const dim = 60
	rng := rand.New(rand.NewPCG(1, 2))
	flat := make([]float32, 100*dim)
	for i := range flat {
		flat[i] = float32(rng.IntN(2))
	}
	data, err := records.FromFlat(records.Binary(dim), flat)
	if err != nil {
		t.Fatal(err)
	}
	there := elsewhere(t)
	for name, optimizer := range map[string]sgd.Optimizer{"sgd": sgd.SGD(0.1),
		"adam": sgd.Adam(1e-3)} {
		a, b := trained(t, device.CPU(), optimizer, data, dim), trained(t, there, optimizer, data, dim)
		d := distance(a, b)
		t.Logf("%s: parameters differ by %.2g of their norm", name, d)
		if !(d < 1e-4) {
			t.Errorf("%s: parameters differ by %v of their norm, want less than 1e-4", name, d)
		}
	}
}

// fit fits a configured chain of methods.
type fit func(t *testing.T, opts ...privgen.Option) (*privgen.Generator, error)

// chains returns a fit for every chain of methods that takes only milliseconds.
func chains(t *testing.T) map[string]fit {
	t.Helper()
	rng := rand.New(rand.NewPCG(8, 2))
	bits, faces, labels := make([]float32, 80*16), make([]float32, 80*4), make([]int32, 80)
	for i := range bits {
		bits[i] = float32(rng.IntN(2))
	}
	for i := range faces {
		labels[i/4] = int32(i / 4 % 2)
		faces[i] = rng.Float32()
	}
	schema := records.Image(2, 2).WithLabels("dark", "bright")
	people := must(records.FromFlat(records.Binary(16), bits))(t)
	pictures := must(records.FromFlat(schema, faces, labels...))(t)
	columns := must(records.NewSchema(records.Categorical("colour", "red", "green", "blue"),
		records.Numeric("x", -1, 3).WithMissing(), records.Flag("old", "no", "yes")))(t)
	cells := make([][]any, 80)
	for i := range cells {
		cells[i] = []any{[]string{"red", "green", "blue"}[i%3], []any{nil, 1.5}[i%2], "no"}
	}
	rows := must(records.FromValues(columns, cells...))(t)
	budget := accountant.Budget{Epsilon: 8, Delta: 1e-5}
	train := sgd.Config{ClipNorm: 1, SamplingProbability: 0.5, Steps: 4, Optimizer: sgd.Adam(1e-2)}
	return map[string]fit{
		"dpgm": func(t *testing.T, opts ...privgen.Option) (*privgen.Generator, error) {
			return privgen.DPGM(records.Binary(16), budget).Features(rff.RBF{Dim: 8, Bandwidth: 2}).
				Cluster(kmeans.Config{K: 3, Iterations: 2, Share: 0.2}).Model(
				models.VAE{Hidden: []int{8}, Latent: 2}).
				Train(train).Fit(privacytest.Seeded(t, t.Context(), 1), people, opts...)
		},
		"dpgm of machines": func(t *testing.T, opts ...privgen.Option) (*privgen.Generator, error) {
			return privgen.DPGM(records.Binary(16), budget).Features(rff.RBF{Dim: 8, Bandwidth: 2}).
				Cluster(kmeans.Config{K: 2, Iterations: 1, Share: 0.2}).Model(models.RBM{Hidden: 8, Chains: 4}).
				Train(train).Fit(privacytest.Seeded(t, t.Context(), 1), people, opts...)
		},
		"dpgm of tables": func(t *testing.T, opts ...privgen.Option) (*privgen.Generator, error) {
			return privgen.DPGM(columns, budget).Features(rff.RBF{Dim: 8, Bandwidth: 2}).
				Cluster(kmeans.Config{K: 2, Iterations: 1, Share: 0.2}).Model(
				models.VAE{Hidden: []int{8}, Latent: 2}).
				Train(train).Fit(privacytest.Seeded(t, t.Context(), 1), rows, opts...)
		},
		"dpgm of tables, by machines": func(t *testing.T,
			opts ...privgen.Option) (*privgen.Generator, error) {
			return privgen.DPGM(columns, budget).Features(rff.RBF{Dim: 8, Bandwidth: 2}).
				Cluster(kmeans.Config{K: 2, Iterations: 1, Share: 0.2}).Model(models.RBM{Hidden: 8, Chains: 4}).
				Train(train).Fit(privacytest.Seeded(t, t.Context(), 1), rows, opts...)
		},
		"merf": func(t *testing.T, opts ...privgen.Option) (*privgen.Generator, error) {
			return privgen.MERF(schema, budget).Embed(merf.Config{Kernel: rff.RBF{Dim: 60, Bandwidth: 0.5}}).
				Generator(models.MLP{Hidden: []int{20}, BatchNorm: true}).
				Train(merf.GeneratorConfig{Steps: 5, Batch: 20, Latent: 3}).Seed(7).Fit(
				privacytest.Seeded(t, t.Context(), 1), pictures, opts...)
		},
		"mix": func(t *testing.T, opts ...privgen.Option) (*privgen.Generator, error) {
			draw := mix.Poisson{Nominal: 60, Degree: 6}
			return privgen.Mix(schema,
				budget).Mixtures(mix.Config{Sampling: draw, Mixtures: 50, ClipNorm: 1}).
				Fit(privacytest.Seeded(t, t.Context(), 1), pictures, opts...)
		},
		"gan": func(t *testing.T, opts ...privgen.Option) (*privgen.Generator, error) {
			train := train
			train.Steps = 6
			return privgen.GAN(schema,
				budget).Critic(models.MLP{Hidden: []int{16}, Activation: models.LeakyReLU}).
				Generator(models.MLP{Hidden: []int{16}}, 4).
				Train(gan.Config{CriticSteps: 2, Seed: 1, Train: train}).
				Fit(privacytest.Seeded(t, t.Context(), 1), pictures, opts...)
		},
	}
}

func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// TestBackendChangesNoGuarantee checks that the backend changes nothing in the guarantee, not even
// the class of the noise. The test also checks that the generator can be sampled, saved and loaded.
func TestBackendChangesNoGuarantee(t *testing.T) {
	there := elsewhere(t)
	for name, fit := range chains(t) {
		t.Run(name, func(t *testing.T) {
			a, err := fit(t)
			if err != nil {
				t.Fatal(err)
			}
			b, err := fit(t, privgen.On(there))
			if err != nil {
				t.Fatal(err)
			}
			if x, y := a.Guarantee(), b.Guarantee(); !reflect.DeepEqual(x, y) {
				t.Errorf("the guarantee on the CPU is\n%v\nand on %s\n%v", x, there.Name(), y)
			}
			rows, err := b.Sample(t.Context(), 50, privgen.Seed(3))
			if err != nil || rows.Len() != 50 {
				t.Fatalf("samples: %v, want 50 records", err)
			}
			var file strings.Builder
			if err := b.Save(&file); err != nil {
				t.Fatal(err)
			}
			back, err := privgen.Load(strings.NewReader(file.String()))
			if err != nil {
				t.Fatal(err)
			}
			if rows, err := back.Sample(t.Context(), 5, privgen.Seed(3)); err != nil || rows.Len() != 5 {
				t.Errorf("samples of the loaded generator: %v, want 5 records", err)
			}
		})
	}
}
