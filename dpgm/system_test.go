package dpgm_test

import (
	"encoding/json"
	"errors"
	"flag"
	"runtime/debug"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/dpgm"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/synth/synthtest"
)

// Tests leave much garbage and hold little memory, so collections may be rare. Long ones hold more.
func init() {
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(2 << 30)
}

var (
	kills = flag.Int("kills", 4, "number of processes to kill")
	long  = flag.Bool("long", false, "run the contract suite of clusters, too")
)

// subject returns the system with quick plans to which change has been applied.
func subject(change func(*dpgm.Config)) synthtest.Subject {
	return synthtest.Subject{System: dpgm.System(), Interrupts: 3,
		Plan: func(s records.Schema, b accountant.Budget, _ int) (synth.Plan, error) {
			c := dpgm.Config{Schema: s, Budget: b, Cluster: kmeans.Config{K: 1},
				Model: models.VAE{Hidden: []int{4}, Latent: 2}, Seed: 5,
				Train: sgd.Config{ClipNorm: 1, SamplingProbability: 0.5, Steps: 6, Optimizer: sgd.Adam(1e-2)}}
			change(&c)
			p, err := c.Plan()
			if err != nil {
				return nil, err
			}
			return p, nil
		}}
}

// TestTrainingDrawsPoissonSamples: a plan whose batches are allocated is refused.
func TestTrainingDrawsPoissonSamples(t *testing.T) {
	b := accountant.Budget{Epsilon: 8, Delta: 1e-5}
	for _, allocated := range []bool{false, true} {
		_, err := subject(func(c *dpgm.Config) { c.Train.RandomAllocation = allocated }).
			Plan(records.Binary(5), b, 0)
		var wrong *param.Error
		if errors.As(err, &wrong) != allocated ||
			allocated && wrong.Path != "sgd.Config.RandomAllocation" {
			t.Errorf("allocated %t: %v", allocated, err)
		}
	}
}

// one has a single network, without clusters.
var one = subject(func(c *dpgm.Config) { c.Average = 0.9 })

// clusters has every stage except a private clip norm for clustering. It has a private clip norm
// for training.
var clusters = subject(func(c *dpgm.Config) {
	c.Features = rff.RBF{Dim: 8, Bandwidth: 2}
	c.Cluster = kmeans.Config{K: 2, Iterations: 3, Share: 0.2}
	c.Train.ClipNorm, c.Train.Clip = 0, sgd.DPNorm{MaxNorm: 10, Bins: 20, NoiseMultiplier: 4}
	if c.Schema.IsBinary() {
		c.Marginals = &dpgm.Marginals{Share: 0.3}
	}
})

// machines has networks with state other than parameters, and a private clip norm for clustering.
var machines = subject(func(c *dpgm.Config) {
	c.Cluster = kmeans.Config{K: 2, Iterations: 3, Share: 0.2, Memory: 0.5, Small: kmeans.SplitLargest,
		Norm: &kmeans.DPNorm{Max: 6, Bins: 6}}
	c.Model = models.RBM{Hidden: 5, Chains: 4, SampleSweeps: 5}
	c.Train.Optimizer, c.Train.NominalBatch = sgd.Momentum(0.1, 0.9), 4
	c.Train.ClipNorm, c.Train.Clip = 0,
		sgd.Quantile{Quantile: 0.5, Rate: 0.2, Initial: 1, NoiseMultiplier: 5}
})

func TestSystemOfOneNetwork(t *testing.T) {
	t.Parallel() // it waits for the disk
	synthtest.Run(t, one)
}
func TestSystemOfClusters(t *testing.T) {
	if !*long {
		t.Skip("see -long")
	}
	synthtest.Run(t, clusters)
}
func TestSystemOfMachines(t *testing.T) {
	if !*long {
		t.Skip("see -long")
	}
	synthtest.Run(t, machines)
}

// longer returns a subject with so many training steps that killing the process once cannot lose
// all of them.
func longer(s synthtest.Subject) synthtest.Subject {
	plan := s.Plan
	s.Plan = func(schema records.Schema, b accountant.Budget, n int) (synth.Plan, error) {
		p, err := plan(schema, b, n)
		if err != nil {
			return nil, err
		}
		c := p.(*dpgm.Plan).Config
		c.Train.Steps, c.Train.SamplingProbability, c.Train.NoiseMultiplier = 80, 0.1, 0
		if p, err = c.Plan(); err != nil {
			return nil, err
		}
		return p, nil
	}
	return s
}

func TestKilledRunsOfOneNetworkGoOn(t *testing.T) { synthtest.Kill(t, longer(one), *kills) }
func TestKilledRunsOfClustersGoOn(t *testing.T)   { synthtest.Kill(t, longer(clusters), *kills) }
func TestKilledRunsOfMachinesGoOn(t *testing.T)   { synthtest.Kill(t, longer(machines), *kills) }

func TestProcessesShareACheckpoint(t *testing.T) {
	synthtest.Race(t, longer(clusters), max(*kills/4, 1))
}

// TestPublicRecordsInPlans checks plans whose clustering starts at public records. Such a plan
// cannot be written, its checkpoints cannot be used with other public records, and the private
// records are refused as public ones.
func TestPublicRecordsInPlans(t *testing.T) {
	s := records.Binary(12)
	c := small(s, accountant.AddOrRemoveOne)
	configs := map[string]bool{}
	for seed := range uint64(2) {
		c.Cluster.Init = kmeans.Public(records.DeclarePublic(bits(t, 10, 12, seed)))
		p := mustPlan(t, c)
		if _, err := json.Marshal(p); err == nil {
			t.Error("a plan with public records was written, want an error")
		}
		text := must(p.Program.MarshalJSON())(t)
		configs[string(text)] = true
	}
	if len(configs) != 2 {
		t.Error("plans with different public records have the same checkpoint configuration")
	}
	private := bits(t, 10, 12, 1)
	c.Cluster.Init = kmeans.Public(records.DeclarePublic(private))
	l := ledger.New(c.Budget)
	var wrong *param.Error
	if _, err := mustPlan(t, c).FitOn(t.Context(), l, private); !errors.As(err, &wrong) ||
		len(l.Entries()) > 0 {
		t.Errorf("private records as public ones: error %v, entries %v; want *param.Error and none", err,
			l.Entries())
	}
}

// broken is an architecture whose New returns an error when *now is true.
type broken struct {
	models.VAE
	now *bool
}

func (b broken) New(be device.Backend, v models.Visible, seed uint64) (models.Density, error) {
	if *b.now {
		return nil, errors.New("no memory on the device")
	}
	return b.VAE.New(be, v, seed)
}

// TestNetworksThatCannotBeTrained checks that a network is refused before anything is reserved if
// it cannot be built or trained.
func TestNetworksThatCannotBeTrained(t *testing.T) {
	now := false
	c := small(records.Binary(12), accountant.AddOrRemoveOne)
	c.Model = broken{models.VAE{Hidden: []int{4}, Latent: 1}, &now}
	p, l := mustPlan(t, c), ledger.New(c.Budget)
	now = true
	if _, err := p.FitOn(t.Context(), l, bits(t, 10, 12, 1)); err == nil ||
		len(l.Entries()) > 0 {
		t.Errorf("got error %v and entries %v, want an error and none", err, l.Entries())
	}
	grouped := small(records.Binary(12), accountant.AddOrRemoveOne)
	grouped.Train.ClipNorm, grouped.Train.Clip = 0,
		sgd.Groups{List: []sgd.Group{{Blocks: []int{0}, ClipNorm: 1}}}
	var wrong *param.Error
	if _, err := mustPlan(t, grouped).FitOn(t.Context(), l,
		bits(t, 10, 12, 1)); !errors.As(err, &wrong) ||
		len(l.Entries()) > 0 {
		t.Errorf("clipping by groups: error %v, entries %v; want *param.Error and none", err,
			l.Entries())
	}
}
