package dpgm

import (
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
)

// TestPlansHaveNoiseThatCanBeDrawn: a plan is refused if its noise is beyond what counts of records
// or of persons can have, if no noise is enough, and if nothing is known about the records.
func TestPlansHaveNoiseThatCanBeDrawn(t *testing.T) {
	// The noise of counts is z ÷ √countPart, and of persons at most 2^23.
	persons := func(z float64, r accountant.Relation) func(*Config) {
		return func(c *Config) {
			c.Schema, c.Budget.Relation = c.Schema.ByPerson(2), r
			c.Marginals = &Marginals{NoiseMultiplier: z}
		}
	}
	most := 0x1p23 * 0.1732 // √countPart
	tiny := accountant.Budget{Epsilon: 1e-9, Delta: 1e-300}
	for what, c := range map[string]struct {
		change func(*Config)
		ok     bool
	}{
		"as it is":          {func(*Config) {}, true},
		"persons":           {persons(0.99*most, 0), true},
		"too much":          {persons(1.01*most, 0), false},
		"persons, replaced": {persons(0.7*most, accountant.ReplaceOne), true},
		"too much replaced": {persons(0.72*most, accountant.ReplaceOne), false},
		"records": {func(c *Config) {
			c.Marginals = &Marginals{NoiseMultiplier: 1 << 24}
		}, true},
		"clusters": {func(c *Config) { c.Budget, c.Marginals = tiny, nil }, false},
		"marginals": {func(c *Config) {
			c.Budget, c.Cluster = tiny, kmeans.Config{K: 1}
		}, false},
		"training": {func(c *Config) {
			c.Budget, c.Cluster, c.Marginals = tiny, kmeans.Config{K: 1}, nil
		}, false},
		"no records":   {func(c *Config) { c.Nominal = -1 }, false},
		"some records": {func(c *Config) { c.Nominal = 1000 }, true},
		"a pointer to slow machines": {func(c *Config) {
			c.Marginals, c.Model = nil, &models.RBM{Hidden: 2, Chains: 2, Sweeps: 1<<16 + 1}
		}, false},
	} {
		config := smallConfig()
		c.change(&config)
		p, err := config.Plan()
		if (err == nil) != c.ok || (p == nil) == c.ok {
			t.Errorf("%s: %v", what, err)
		}
		if invalid := config.validate(); c.ok && invalid != nil || config.Nominal < 0 && invalid == nil {
			t.Errorf("%s: validate says %v", what, invalid)
		}
	}
}

// TestPlansAreTheirOwn: a plan for another schema and budget has them, and what the caller changes
// afterwards does not change the plan.
func TestPlansAreTheirOwn(t *testing.T) {
	hidden, norm := []int{3}, &kmeans.DPNorm{Max: 3, Bins: 4}
	c := smallConfig()
	c.Model, c.Cluster.Norm = models.VAE{Hidden: hidden, Latent: 1}, norm
	c.Marginals = &Marginals{NoiseMultiplier: 30}
	c.Cluster.Init = kmeans.Init{Method: kmeans.Given, Centers: [][]float32{make([]float32, 6),
		make([]float32, 6)}}
	s, b := records.Binary(6), accountant.Budget{Epsilon: 2, Delta: 1e-6,
		Relation: accountant.ReplaceOne}
	other := c
	other.Schema, other.Budget = records.Binary(9), accountant.Budget{Epsilon: 1, Delta: 1e-5}
	p, err := other.PlanFor(s, b)
	if err != nil {
		t.Fatal(err)
	}
	plan := p.(*Plan)
	if !plan.Config.Schema.Equal(s) || plan.Config.Budget != b {
		t.Errorf("a plan for %v and %v is for %v and %v", s, b, plan.Config.Schema, plan.Config.Budget)
	}
	before := plan.String()
	text, err := plan.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	marginals := c.Marginals
	hidden[0], norm.Max, marginals.ClipNorm, c.Cluster.Init.Centers[1][2] = 5, 7, 2, 9
	if after, err := plan.MarshalJSON(); err != nil || !slices.Equal(text, after) ||
		plan.String() != before {
		t.Errorf("the caller has changed the plan to\n%s\n%v", after, err)
	}
}

// TestGivenCentresDetermineTheirNumber: the default rules choose more centres than clusters of
// images, unless centres are given.
func TestGivenCentresDetermineTheirNumber(t *testing.T) {
	c := Config{Schema: records.BinaryImage(10, 10), Nominal: 60000,
		Budget: accountant.Budget{Epsilon: 10, Delta: 1e-5}}
	c.Cluster.K = 2
	chosen, err := c.chosen()
	if err != nil || chosen.Cluster.Centers <= 2 || chosen.Nominal != 0 {
		t.Fatalf("%d centres, nominal %d, %v", chosen.Cluster.Centers, chosen.Nominal, err)
	}
	features, err := newFeatures(chosen)
	if err != nil {
		t.Fatal(err)
	}
	dim := features.Dim()
	c.Cluster.Init = kmeans.Init{Method: kmeans.Given,
		Centers: [][]float32{make([]float32, dim), make([]float32, dim)}}
	if chosen, err = c.chosen(); err != nil || chosen.Cluster.Centers != 0 {
		t.Errorf("%d centres for 2 given ones, %v", chosen.Cluster.Centers, err)
	}
	if err := chosen.validate(); err != nil {
		t.Error(err)
	}
}

// plainGradients hides that gradients have sums in fixed point; finishing says that their sums must
// be finished, although their network has no such method.
type plainGradients struct{ models.Gradients }

type finishing struct{ formedGradients }

func (finishing) StartFixedSum()                {}
func (finishing) FinishFixedSum(_ device.Fixed) {}

// shaped is a network with gradients of one of these types.
type shaped struct {
	models.Density
	finishes bool
}

func (s shaped) Gradients(b device.Batch) models.Gradients {
	if s.finishes {
		return finishing{formedGradients{s.Density.Gradients(b), models.FixedForm{Terms: 1, Reach: 1}}}
	}
	return plainGradients{s.Density.Gradients(b)}
}

// TestMixturesWithoutAForm: one network without sums in fixed point, or with gradients that finish
// what nobody starts, leaves the mixture without a form.
func TestMixturesWithoutAForm(t *testing.T) {
	for _, finishes := range []bool{false, true} {
		m, b, _ := testMixture(t, models.VAE{Hidden: []int{3}, Latent: 1}, 4)
		if form := m.Gradients(b).(models.FixedGradients).FixedForm(); form == (models.FixedForm{}) {
			t.Fatal("a mixture of networks has no form")
		}
		m.form, m.parts[1] = nil, shaped{m.parts[1], finishes}
		if form := m.Gradients(b).(models.FixedGradients).FixedForm(); form != (models.FixedForm{}) {
			t.Errorf("finishes %v: the form is %+v, want none", finishes, form)
		}
	}
}

// TestTailsOfReliableBins: a tail has at most tailBins bins, none below the most frequent size or
// at 0, and at most one unreliable bin between two reliable ones.
func TestTailsOfReliableBins(t *testing.T) {
	bins := make(sizeBins, 30)
	for i := range bins {
		bins[i] = i
	}
	counts := func(n int, gaps ...int) []float64 {
		out := make([]float64, len(bins))
		for i := range n {
			out[i] = float64(1000 - 10*i)
		}
		for _, gap := range gaps {
			out[gap] = standsOut // as many as the limit do not stand out
		}
		return out
	}
	mode := counts(20)
	mode[9] = 5000
	for what, c := range map[string]struct {
		noisy       []float64
		first, last int
	}{"all": {counts(12), 1, 11}, "many": {counts(20), 6, 19}, "a gap": {counts(12, 8), 1, 11},
		"two gaps": {counts(12, 8, 5), 1, 11}, "a wide gap": {counts(12, 8, 7), 9, 11},
		"the limit": {counts(12, 12), 1, 11},
		"none":      {counts(0), 1, 0}, "above the most frequent": {mode, 9, 19}} {
		first, last := bins.tail(c.noisy, 1)
		if first != c.first || last != c.last {
			t.Errorf("%s: bins %d to %d, want %d to %d", what, first, last, c.first, c.last)
		}
	}
}

// TestShiftsOfNothing: no shifts change nothing, and records without ones have size 0.
func TestShiftsOfNothing(t *testing.T) {
	if v := (tilt)(nil).pick(nil); v != 0 {
		t.Errorf("a shift of %v without shifts", v)
	}
	dst := make([]float64, 4)
	(sizeBins{0, 1, 2, 3}).spread(dst, 0, 0, 0.5)
	if !slices.Equal(dst, []float64{0.5, 0, 0, 0}) {
		t.Errorf("records of size 0 have the sizes %v", dst)
	}
}
