package frontdoor_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
)

const width = 16

// chain returns a chain that runs in milliseconds.
func chain() privgen.DPGMChain {
	return privgen.DPGM(records.Binary(width), accountant.Budget{Epsilon: 8, Delta: 1e-5}).
		Features(rff.RBF{Dim: 8, Bandwidth: 2}).
		Cluster(kmeans.Config{K: 3, Iterations: 2, Share: 0.2}).
		Model(models.VAE{Hidden: []int{8}, Latent: 2}).
		Train(sgd.Config{ClipNorm: 1, SamplingProbability: 0.5, Steps: 4, Optimizer: sgd.Adam(1e-2)})
}

func people(t testing.TB, n int) *records.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	flat := make([]float32, n*width)
	for i := range flat {
		flat[i] = float32(rng.IntN(2))
	}
	return must(records.FromFlat(records.Binary(width), flat))(t)
}

func fitted(t testing.TB, c privgen.DPGMChain, opts ...privgen.Option) *privgen.Generator {
	t.Helper()
	return must(c.Fit(context.Background(), people(t, 60), opts...))(t)
}

func rowsOf(t testing.TB, d records.Data) []float32 {
	t.Helper()
	var b device.Batch
	d.Range(0, d.Len(), &b)
	var out []float32
	for i := range b.Rows {
		if b.Sparse != nil {
			for _, item := range b.Sparse.Items[b.Sparse.Offsets[i]:b.Sparse.Offsets[i+1]] {
				out = append(out, float32(item))
			}
			out = append(out, -1)
			continue
		}
		out = append(out, b.Dense.Row(i)...)
	}
	return out
}

func sample(t testing.TB, g *privgen.Generator, n int, opts ...privgen.DrawOption) []float32 {
	t.Helper()
	d := must(g.Sample(context.Background(), n, opts...))(t)
	if d.Len() != n {
		t.Fatalf("%d records, want %d", d.Len(), n)
	}
	return rowsOf(t, d)
}

func TestGeneratorStatesItsGuarantee(t *testing.T) {
	g := fitted(t, chain())
	said := g.Guarantee().String()
	for _, want := range []string{"8", "1e-05", "k-means", "training"} {
		if !strings.Contains(said, want) {
			t.Errorf("the guarantee does not mention %q:\n%s", want, said)
		}
	}
}

// TestForksDoNotSeeEachOther checks that a fork does not change the chain it was made from.
func TestForksDoNotSeeEachOther(t *testing.T) {
	base := chain()
	before := must(base.Plan())(t)
	fork := base.Cluster(kmeans.Config{K: 2, Iterations: 5, Share: 0.5}).Model(
		models.RBM{Hidden: 3, Chains: 2}).Seed(9)
	if _, err := fork.Plan(); err != nil {
		t.Fatal(err)
	}
	after := must(base.Plan())(t)
	if before.String() != after.String() {
		t.Errorf("a fork changed its origin:\n%v\n%v", before, after)
	}
}

// TestEveryMistakeIsReportedAtOnce checks that Plan reports all mistakes together, with their
// paths.
func TestEveryMistakeIsReportedAtOnce(t *testing.T) {
	_, err := privgen.DPGM(records.Binary(0), accountant.Budget{Epsilon: -1, Delta: 2}).
		Features(rff.RBF{Dim: 3, Bandwidth: 0}).
		Cluster(kmeans.Config{K: 0, Share: 2}).
		Train(sgd.Config{SamplingProbability: 3, Steps: -1}).
		Plan()
	if err == nil {
		t.Fatal("a chain of mistakes was planned")
	}
	for _, path := range []string{"records.Schema", "Budget.Epsilon", "Budget.Delta",
		"kmeans.Config.K", "kmeans.Config.Iterations",
		"kmeans.Config.Share", "dpgm.Config.Model", "sgd.Config.ClipNorm",
		"sgd.Config.SamplingProbability", "sgd.Config.Steps", "sgd.Config.Optimizer"} {
		if !strings.Contains(err.Error(), path) {
			t.Errorf("no mention of %s in:\n%v", path, err)
		}
	}
	var p *param.Error
	if !errors.As(err, &p) {
		t.Errorf("no *param.Error in %v", err)
	}
}

func TestContradictionsAreRefused(t *testing.T) {
	budget := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	train := sgd.Config{ClipNorm: 1, SamplingProbability: 0.1, Steps: 10, Optimizer: sgd.Adam(1e-3)}
	base := privgen.DPGM(records.Binary(4),
		budget).Model(models.VAE{Hidden: []int{2}, Latent: 1}).Train(train)
	for name, c := range map[string]privgen.DPGMChain{
		"features without clusters": base.Features(rff.RBF{Dim: 4, Bandwidth: 1}).Cluster(
			kmeans.Config{K: 1}),
		"a share without clusters": base.Cluster(kmeans.Config{K: 1, Share: 0.1}),
		"share and noise": base.Cluster(kmeans.Config{K: 2, Iterations: 1, Share: 0.1,
			NoiseMultiplier: 3}),
		"neither share nor noise":    base.Cluster(kmeans.Config{K: 2, Iterations: 1}),
		"the whole budget clustered": base.Cluster(kmeans.Config{K: 2, Iterations: 1, Share: 1}),
		"no divisor for plain steps": base.Cluster(kmeans.Config{K: 1}).Train(
			sgd.Config{ClipNorm: 1, SamplingProbability: 0.1, Steps: 10, Optimizer: sgd.SGD(0.1)}),
		"binary units, real records": privgen.DPGM(records.Interval(4, -1, 1),
			budget).Cluster(kmeans.Config{K: 1}).Model(models.RBM{Hidden: 2, Chains: 2}).Train(train),
		"an average of weight one": base.Cluster(kmeans.Config{K: 1}).Average(1),
	} {
		if _, err := c.Plan(); err == nil {
			t.Errorf("%s: planned", name)
		}
	}
	noisy := train
	noisy.NoiseMultiplier = 0.1
	if _, err := base.Cluster(kmeans.Config{K: 1}).Train(noisy).Plan(); !errors.Is(err,
		accountant.ErrBudgetExceeded) {
		t.Errorf("too little noise for the budget: %v", err)
	}
}

func TestPlanSurvivesJSON(t *testing.T) {
	plan := must(chain().Average(0.5).Seed(3).Plan())(t)
	text := must(json.Marshal(plan))(t)
	read := must(privgen.ReadPlan(text))(t)
	if read.String() != plan.String() {
		t.Errorf("the plan read back is\n%v\nwant\n%v", read, plan)
	}
	cheaper := strings.Replace(string(text), `"epsilon":8`, `"epsilon":0.5`, 1)
	if _, err := privgen.ReadPlan([]byte(cheaper)); !errors.Is(err, accountant.ErrBudgetExceeded) {
		t.Errorf("a plan file whose budget was lowered: %v", err)
	}
}

func TestSamplesAreRepeatableAndOfAnyNumber(t *testing.T) {
	g := fitted(t, chain())
	if a, b := sample(t, g, 3000, privgen.Seed(4)),
		sample(t, g, 3000, privgen.Seed(4)); !reflect.DeepEqual(a, b) {
		t.Error("two draws with the same seed differ")
	}
	if a, b := sample(t, g, 100), sample(t, g, 100); reflect.DeepEqual(a, b) {
		t.Error("two draws without a seed are the same")
	}
	sample(t, g, 0)
	for _, v := range sample(t, g, 50) {
		if v != 0 && v != 1 {
			t.Fatalf("%v in a binary record", v)
		}
	}
	fractions := false
	for _, v := range sample(t, g, 50, privgen.Means()) {
		fractions = fractions || (v > 0 && v < 1)
	}
	if !fractions {
		t.Error("means are all 0 or 1")
	}
	for _, bad := range []struct {
		n    int
		opts []privgen.DrawOption
	}{{-1, nil}, {1, []privgen.DrawOption{privgen.FromCluster(3)}},
		{1, []privgen.DrawOption{privgen.FromCluster(-2)}}} {
		var p *param.Error
		if _, err := g.Sample(context.Background(), bad.n, bad.opts...); !errors.As(err, &p) {
			t.Errorf("n = %d: %v", bad.n, err)
		}
	}
}

func TestConcurrentDraws(t *testing.T) {
	g := fitted(t, chain())
	want := sample(t, g, 500, privgen.Seed(1))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			d, err := g.Sample(context.Background(), 500, privgen.Seed(1))
			if err != nil {
				t.Error(err)
				return
			}
			if !reflect.DeepEqual(rowsOf(t, d), want) {
				t.Error("a concurrent draw differs")
			}
		})
	}
	wg.Wait()
}

func TestSaveAndLoad(t *testing.T) {
	for name, c := range map[string]privgen.DPGMChain{
		"vae": chain(),
		"rbm": chain().Model(models.RBM{Hidden: 5, Chains: 3}),
		"one cluster": privgen.DPGM(records.Binary(width),
			accountant.Budget{Epsilon: 8,
				Delta: 1e-5}).Cluster(kmeans.Config{K: 1}).Model(models.VAE{Hidden: []int{4}, Latent: 1}).Train(
			sgd.Config{ClipNorm: 1, SamplingProbability: 0.5, Steps: 2, Optimizer: sgd.Adam(0.01)}),
	} {
		t.Run(name, func(t *testing.T) {
			g := fitted(t, c)
			path := filepath.Join(t.TempDir(), "g.privgen")
			if err := g.SaveFile(path); err != nil {
				t.Fatal(err)
			}
			read := must(privgen.LoadFile(path))(t)
			if !reflect.DeepEqual(sample(t, g, 300, privgen.Seed(2)),
				sample(t, read, 300, privgen.Seed(2))) {
				t.Error("a loaded generator draws other records")
			}
			if g.Guarantee().String() != read.Guarantee().String() ||
				!reflect.DeepEqual(g.Weights(), read.Weights()) || !g.Schema().Equal(read.Schema()) {
				t.Error("guarantee, weights or schema changed")
			}
			if names, err := os.ReadDir(filepath.Dir(path)); err != nil || len(names) != 1 {
				t.Errorf("%d files left, %v", len(names), err)
			}
		})
	}
}

// TestAFreshProcessLoads starts this test binary again and lets it sample.
func TestAFreshProcessLoads(t *testing.T) {
	const env = "PRIVGEN_TEST_LOAD"
	if path := os.Getenv(env); path != "" {
		g := must(privgen.LoadFile(path))(t)
		fmt.Println("drew", len(sample(t, g, 10)))
		return
	}
	path := filepath.Join(t.TempDir(), "g.privgen")
	if err := fitted(t, chain()).SaveFile(path); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestAFreshProcessLoads$", "-test.v")
	cmd.Env = append(os.Environ(), env+"="+path)
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("drew 160")) {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestASavedFileHoldsNoTraceOfTheNumberOfRecords checks that no JSON value in a saved file is the
// number of training records.
func TestASavedFileHoldsNoTraceOfTheNumberOfRecords(t *testing.T) {
	for _, n := range []int{37, 61} {
		g := must(chain().Fit(context.Background(), people(t, n)))(t)
		var b bytes.Buffer
		if err := g.Save(&b); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{fmt.Sprintf(":%d,", n), fmt.Sprintf(":%d}", n)} {
			if strings.Contains(b.String(), key) {
				t.Errorf("the file contains %q after a run on %d records", key, n)
			}
		}
	}
}

func TestAFullDiskIsReportedAndLeavesTheOldFile(t *testing.T) {
	g := fitted(t, chain())
	if err := g.Save(failing{}); !errors.Is(err, errDisk) {
		t.Errorf("got %v", err)
	}
	if runtime.GOOS != "linux" {
		return
	}
	full := must(os.OpenFile("/dev/full", os.O_WRONLY, 0))(t)
	defer full.Close()
	if err := g.Save(full); err == nil {
		t.Error("saving to a full disk returns no error")
	}
	missing := filepath.Join(t.TempDir(), "no", "such", "folder", "g")
	if err := g.SaveFile(missing); err == nil {
		t.Error("saving into a folder that does not exist returns no error")
	}
}

var errDisk = errors.New("disk full")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errDisk }
