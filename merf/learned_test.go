package merf_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/device/devicetest"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/partial"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/synth/synthtest"
)

// little describes learned features whose runs take milliseconds.
var little = merf.Learned{Part: 0.4, Features: 6, Code: 3, Steps: 2, Records: 12, Epochs: 1}

// learnedSubject is a system that releases learned features.
func learnedSubject() synthtest.Subject {
	return synthtest.Subject{System: merf.System(), Interrupts: 3,
		Plan: func(s records.Schema, budget accountant.Budget, n int) (synth.Plan, error) {
			c := merf.Config{Schema: s, Budget: budget, Kernel: rff.RBF{Dim: 8, Bandwidth: 1},
				Learned: little, Generator: quick}
			return synth.PlanOf(c.Plan())
		}}
}

func TestContractOfLearned(t *testing.T)  { synthtest.Run(t, learnedSubject()) }
func TestKilledLearnersGoOn(t *testing.T) { synthtest.Kill(t, learnedSubject(), *kills) }

// learnedPlan returns a plan with learned features of small images of two classes.
func learnedPlan(t testing.TB, r accountant.Relation, k rff.EmbeddingKernel) *merf.Plan {
	t.Helper()
	c := small(records.Image(4, 5).WithLabels("a", "b"), r, k)
	c.Learned = little
	return mustPlan(t, c)
}

// pictures draws n labelled images of the schema of learnedPlan.
func pictures(t testing.TB, n int, seed uint64) *records.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 8))
	flat, labels := make([]float32, 20*n), make([]int32, n)
	for i := range flat {
		flat[i] = float32(math.Floor(3*rng.Float64()) / 2) // black, grey or white
	}
	for i := range labels {
		labels[i] = int32(rng.IntN(2))
	}
	d, err := records.FromFlat(records.Image(4, 5).WithLabels("a", "b"), flat, labels...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// joins are kernels of the first release, one of which is a join itself.
var joins = []rff.EmbeddingKernel{rff.RBF{Dim: 8, Bandwidth: 1},
	rff.Join{Parts: []rff.Part{{Share: 2, Kernel: rff.RBF{Dim: 4, Bandwidth: 1}},
		{Share: 3, Kernel: rff.Patches{Dim: 6, Windows: []float64{1}, Low: 1, High: 2}}}}}

// TestLearnedSumsOfNeighbours replays runs on neighbouring data sets. The replay compares all
// numbers that the mechanisms get in both releases with the stated effects, and everything visible.
func TestLearnedSumsOfNeighbours(t *testing.T) {
	for _, r := range relations {
		for _, k := range joins {
			p := learnedPlan(t, r, k)
			for _, pair := range privacytest.Neighbours(t, p.Schema(), r, 9, 3) {
				privacytest.Replay[records.Data]{Run: everythingVisible(p), Budget: p.Budget(),
					Data: pair.Data, Neighbour: pair.Neighbour, Seeds: 1}.Check(t)
			}
		}
	}
}

// TestLearnedNoise checks the standard deviation of the joint embedding of no images. The noise is
// the same on both parts, and that of a single release of all features under add-or-remove-one. The
// false-alarm rate of ±6 standard errors is 4e-9 for each of the four comparisons.
func TestLearnedNoise(t *testing.T) {
	for _, r := range relations {
		c := small(records.Image(4, 5).WithLabels("a", "b"), r, rff.RBF{Dim: 900, Bandwidth: 1})
		c.Learned = little
		c.Learned.Features = 700
		p := mustPlan(t, c)
		e := mustEmbed(t, p, pictures(t, 0, 1))
		var parts [2][]float64
		for class := range 2 {
			parts[0] = append(parts[0], e.Sum(class)[:900]...)
			parts[1] = append(parts[1], e.Sum(class)[900:]...)
		}
		for i, part := range parts {
			square, n := 0.0, float64(len(part))
			for _, v := range part {
				square += v * v
			}
			if f := math.Sqrt(square/n) / e.SumStd(); math.Abs(f-1) > 6/math.Sqrt(2*n) {
				t.Errorf("%v: part %d has noise ±%v, want ±%v", r, i, math.Sqrt(square/n), e.SumStd())
			}
		}
		stages := p.Stages()
		z := math.Pow(stages[0].NoiseMultiplier, -2) + math.Pow(stages[1].NoiseMultiplier, -2)
		if got, want := 1/math.Sqrt(z), p.Config.NoiseMultiplier; math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%v: both stages together have the noise multiplier %v, want %v", r, got, want)
		}
		if want := p.Config.NoiseMultiplier; r == accountant.AddOrRemoveOne &&
			(e.SumStd() < want || e.SumStd() > 1.1*want) {
			t.Errorf("the joint noise is ±%v, want ±%v and a little more for counts", e.SumStd(), want)
		}
	}
}

// TestLearnedEmbeddingsAreRead checks that a released embedding is the same after it has been saved
// and loaded, and that generators trained against both are the same.
func TestLearnedEmbeddingsAreRead(t *testing.T) {
	for _, k := range joins {
		e := mustEmbed(t, learnedPlan(t, accountant.AddOrRemoveOne, k), pictures(t, 40, 1))
		var file bytes.Buffer
		if err := e.Save(&file); err != nil {
			t.Fatal(err)
		}
		again, err := merf.LoadEmbedding(&file)
		if err != nil {
			t.Fatal(err)
		}
		for class := range 2 {
			if !slices.Equal(e.Sum(class), again.Sum(class)) {
				t.Errorf("class %d: the sums differ", class)
			}
		}
		one, err := merf.Train(t.Context(), e, quick)
		if err != nil {
			t.Fatal(err)
		}
		two, err := merf.Train(t.Context(), again, quick)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(encodedModel(t, one), encodedModel(t, two)) {
			t.Error("generators trained against a loaded embedding are different")
		}
	}
}

// TestLearnedOverShards checks that FitPasses on sums of shards gives the same generator and ledger
// as FitOn on all images.
func TestLearnedOverShards(t *testing.T) {
	data := pictures(t, 90, 4)
	p := learnedPlan(t, accountant.AddOrRemoveOne, joins[0])
	var purposes []string
	read := inShards(p, data, 40, &purposes)
	one, two := accountant.NewLedger(p.Budget()), accountant.NewLedger(p.Budget())
	seeded := func() context.Context { return privacytest.Seeded(t, context.Background(), 3) }
	want, err := p.FitOn(seeded(), one, data)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.FitPasses(seeded(), two, read)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(encodedModel(t, want), encodedModel(t, got)) {
		t.Error("FitPasses and FitOn give different generators")
	}
	if !reflect.DeepEqual(one.Entries(), two.Entries()) || len(one.Entries()) != 2 {
		t.Errorf("the ledger has %v, want %v", two.Entries(), one.Entries())
	}
	if want := []string{merf.PurposeEmbed, merf.PurposeLearned}; !slices.Equal(purposes, want) {
		t.Errorf("passes %q, want %q", purposes, want)
	}
	for _, state := range [][]byte{nil, {1, 2, 3}} {
		var wrong *param.Error
		if _, err := p.Partial(synth.Pass{Purpose: merf.PurposeLearned, State: state}); !errors.As(err,
			&wrong) {
			t.Errorf("a state of %d bytes: got %v, want *param.Error", len(state), err)
		}
	}
}

// TestLearnedThatAreRefused checks the mistakes in Learned, and that operations on one sum of all
// records refuse a plan with learned features before anything is reserved.
func TestLearnedThatAreRefused(t *testing.T) {
	good := small(records.Image(4, 5).WithLabels("a", "b"), accountant.AddOrRemoveOne, joins[0])
	good.Learned = little
	p := mustPlan(t, good)
	for why, change := range map[string]func(*merf.Config){
		"a part of one":        func(c *merf.Config) { c.Learned.Part = 1 },
		"a negative part":      func(c *merf.Config) { c.Learned.Part = -0.1 },
		"no number":            func(c *merf.Config) { c.Learned.Part = math.NaN() },
		"settings of no part":  func(c *merf.Config) { c.Learned = merf.Learned{Code: 4} },
		"an odd number":        func(c *merf.Config) { c.Learned.Features = 7 },
		"a negative code":      func(c *merf.Config) { c.Learned.Code = -1 },
		"a long code":          func(c *merf.Config) { c.Learned.Code = 1 << 20 },
		"a negative bandwidth": func(c *merf.Config) { c.Learned.Bandwidth = -1 },
		"an infinite one":      func(c *merf.Config) { c.Learned.Bandwidth = math.Inf(1) },
		"negative steps":       func(c *merf.Config) { c.Learned.Steps = -1 },
		"one record":           func(c *merf.Config) { c.Learned.Records = 1 },
		"negative epochs":      func(c *merf.Config) { c.Learned.Epochs = -1 },
		"a strong distortion":  func(c *merf.Config) { c.Learned.Distort = 11 },
		"samples":              func(c *merf.Config) { c.Batches = some },
		"one class":            func(c *merf.Config) { c.Schema = records.Image(4, 5).WithLabels("a") },
		"no classes":           func(c *merf.Config) { c.Schema = records.Image(4, 5) },
		"sets": func(c *merf.Config) {
			c.Schema = records.Sets(20, 4).WithLabels("a", "b")
		},
		"a nearly whole part": func(c *merf.Config) { c.Learned.Part = 1 - 1e-9 },
		"many records":        func(c *merf.Config) { c.Learned.Records = 1 << 24 },
		"a large encoder": func(c *merf.Config) {
			c.Schema, c.Learned.Records = records.Image(2048, 2048).WithLabels("a", "b"), 2
		},
		"features of long codes": func(c *merf.Config) {
			c.Learned.Features, c.Learned.Code = 1<<20, 1<<12
		},
		"as many joined kernels as there may be": func(c *merf.Config) {
			var j rff.Join
			for range 64 {
				j.Parts = append(j.Parts, rff.Part{Share: 1, Kernel: rff.RBF{Dim: 2, Bandwidth: 1}})
			}
			c.Kernel = j
		},
		"a kernel that outweighs codes": func(c *merf.Config) {
			c.Kernel = stretched{rff.RBF{Dim: 4, Bandwidth: 1}}
		},
		"noise beyond every grid": func(c *merf.Config) {
			c.NoiseMultiplier, c.Learned.Part = 1<<23, 0.002
		},
	} {
		c := good
		change(&c)
		var wrong *param.Error
		if _, err := c.Plan(); !errors.As(err, &wrong) {
			t.Errorf("%s: got %v, want *param.Error", why, err)
		}
	}
	ledger := accountant.NewLedger(p.Budget())
	stream := func(func(records.Data, error) bool) {}
	second := func(_ any, err error) error { return err }
	for why, err := range map[string]error{
		"stream":     second(p.EmbedStream(t.Context(), ledger, stream)),
		"fit stream": second(p.FitStream(t.Context(), ledger, stream)),
		"release":    second(p.Release(t.Context(), ledger, nil)),
		"fit shards": second(p.FitShards(t.Context(), ledger, nil)),
		"passes":     second(p.EmbedPasses(t.Context(), ledger, nil)),
		"partial":    p.NewPartial().Add(t.Context(), pictures(t, 3, 1)),
	} {
		var wrong *param.Error
		if !errors.As(err, &wrong) {
			t.Errorf("%s: got %v, want *param.Error", why, err)
		}
	}
	if list := ledger.Entries(); len(list) != 0 {
		t.Errorf("the ledger has reservations: %v", list)
	}
}

// stretched is a user-defined kernel whose features have a large norm.
type stretched struct{ rff.EmbeddingKernel }

func (k stretched) Embedding(l rff.Layout, seed uint64) (rff.Embedding, error) {
	e, err := k.EmbeddingKernel.Embedding(l, seed)
	return stretchedEmbedding{e}, err
}

type stretchedEmbedding struct{ rff.Embedding }

func (stretchedEmbedding) NormBound() float64   { return 1 << 30 }
func (stretchedEmbedding) ChangeBound() float64 { return 1 << 31 }

// TestLearnedWithOwnKernels checks that other passes can add up the features of both releases if
// JSON cannot hold the kernel of the first one.
func TestLearnedWithOwnKernels(t *testing.T) {
	c := small(records.Image(4, 5).WithLabels("a", "b"), accountant.AddOrRemoveOne,
		modest{rff.RBF{Dim: 8, Bandwidth: 1}})
	c.Learned = little
	p := mustPlan(t, c)
	_, err := p.FitPasses(t.Context(), accountant.NewLedger(p.Budget()),
		func(ctx context.Context, pass synth.Pass) (*partial.Partial, error) {
			all, err := p.Partial(pass)
			if err != nil {
				return nil, err
			}
			return all, all.Add(ctx, pictures(t, 9, 1))
		})
	if err != nil {
		t.Error(err)
	}
}

// TestResumedRunsKeepTheirEncoder interrupts a run after its encoder has been learned, and resumes
// it on another backend, on which learning would give another encoder.
func TestResumedRunsKeepTheirEncoder(t *testing.T) {
	p := learnedPlan(t, accountant.AddOrRemoveOne, joins[0])
	ledger, path := accountant.NewLedger(p.Budget()), filepath.Join(t.TempDir(), "run")
	encoders := map[string]bool{}
	for i, be := range []device.Backend{devicetest.SeparateMemory(device.CPU()), device.CPU()} {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := p.FitPasses(ctx, ledger, func(ctx context.Context,
			pass synth.Pass) (*partial.Partial, error) {
			if pass.Purpose == merf.PurposeLearned {
				encoders[string(pass.State)] = true
				if i == 0 {
					cancel()
				}
			}
			all, err := p.Partial(pass)
			if err != nil {
				return nil, err
			}
			return all, all.Add(ctx, pictures(t, 20, 1))
		}, synth.Checkpoint(path), synth.On(be))
		cancel()
		if interrupted := errors.Is(err, context.Canceled); interrupted != (i == 0) ||
			i > 0 && err != nil {
			t.Fatalf("run %d: %v", i, err)
		}
	}
	if len(encoders) != 1 {
		t.Errorf("%d encoders, want 1", len(encoders))
	}
}

// TestEncodersOfPlansAreLimited checks that a plan from a file cannot request a large encoder.
func TestEncodersOfPlansAreLimited(t *testing.T) {
	c := small(records.Image(4, 5).WithLabels("a", "b"), accountant.AddOrRemoveOne, joins[0])
	c.Learned = little
	c.Learned.Code = 4096
	text, err := mustPlan(t, c).MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	systems := synth.Systems{merf.System()}
	if _, err := systems.ReadPlan(text); err != nil {
		t.Error(err)
	}
	limits := synth.WithLimits(records.Limits{Parameters: 5000})
	if _, err := systems.ReadPlan(text, limits); err == nil {
		t.Error("an encoder of more than 500,000 parameters is within a limit of 5,000")
	}
}

// TestDefaultsOfImages checks that a second release is a default for grey images with classes, if
// noise permits enough features.
func TestDefaultsOfImages(t *testing.T) {
	grey := records.Image(28, 28).WithLabels("a", "b", "c")
	for _, c := range []struct {
		what   string
		config merf.Config
		want   bool
	}{
		{"images", merf.Config{Schema: grey, Nominal: 60_000}, true},
		{"few images", merf.Config{Schema: grey, Nominal: 2000}, false},
		{"no classes", merf.Config{Schema: records.Image(28, 28), Nominal: 60_000}, false},
		{"a kernel", merf.Config{Schema: grey, Nominal: 60_000, Kernel: joins[0]}, false},
		{"a number of features", merf.Config{Schema: grey, Nominal: 60_000, Features: 4000}, false},
		{"samples", merf.Config{Schema: grey, Nominal: 60_000, Batches: some}, false},
		{"large images", merf.Config{Schema: records.Image(128, 128).WithLabels("a", "b"),
			Nominal: 60_000}, false},
		{"no defaults", merf.Config{Schema: grey}, false},
	} {
		c.config.Budget = accountant.Budget{Epsilon: 1, Delta: 1e-5}
		if got := mustPlan(t, c.config).Config.Learned.Part > 0; got != c.want {
			t.Errorf("%s: learned features are %v, want %v", c.what, got, c.want)
		}
	}
}

func encodedModel(t *testing.T, g *synth.Generator) *synth.File {
	t.Helper()
	f, err := g.Model().Encode()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// sliced is a data set of which parts can be taken.
type sliced[D records.Data] interface {
	Len() int
	Slice(lo, hi int) D
}

// inShards returns a function that adds up passes over shards of the given number of records, which
// are sealed and opened. It appends the purpose of each pass to purposes.
func inShards[D records.Data](p *merf.Plan, data sliced[D], size int,
	purposes *[]string) func(context.Context, synth.Pass) (*partial.Partial, error) {
	return func(ctx context.Context, pass synth.Pass) (*partial.Partial, error) {
		*purposes = append(*purposes, pass.Purpose)
		key := mechanism.NewKey()
		all, err := p.Partial(pass)
		if err != nil {
			return nil, err
		}
		for lo := 0; lo < data.Len(); lo += size {
			shard, err := p.Partial(pass)
			if err != nil {
				return nil, err
			}
			if err := shard.Add(ctx, data.Slice(lo, min(lo+size, data.Len()))); err != nil {
				return nil, err
			}
			b, err := shard.Seal(key, partial.Shard{Name: fmt.Sprint(lo)})
			if err != nil {
				return nil, err
			}
			if err := all.OpenAll(key, b, b); err != nil {
				return nil, err
			}
		}
		return all, nil
	}
}
