package sgd_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

func policies() map[string]sgd.Clip {
	return map[string]sgd.Clip{
		"fixed":     nil,
		"normalize": sgd.Normalize{},
		"dpnorm":    sgd.DPNorm{MaxNorm: 2, Bins: 8, NoiseMultiplier: 3},
		"geometric": sgd.DPNorm{MaxNorm: 20, MinNorm: 0.1, Bins: 8, NoiseMultiplier: 3},
		"by norm": sgd.Quantile{Quantile: 0.4, Initial: 0.7, Rate: 0.3, NoiseMultiplier: 3,
			ByNorm: true},
		"quantile": sgd.Quantile{Quantile: 0.4, Initial: 0.7, Rate: 0.3, NoiseMultiplier: 3},
	}
}

func with(clip sgd.Clip, q float64, steps int) sgd.Config {
	cfg := sgd.Config{Clip: clip, SamplingProbability: q, Steps: steps, NoiseMultiplier: 1.2,
		Optimizer: sgd.Adam(0.01), NominalBatch: 8, MicroBatch: 5}
	if clip == nil {
		cfg.ClipNorm = 0.7
	}
	return cfg
}

// observe runs the configuration's steps on data, with everything fixed except the records, and
// returns a recorder of the mechanism's inputs.
func observe(t *testing.T, cfg sgd.Config, r accountant.Relation, net models.Network,
	data records.Data, opts ...sgd.Option) *recorder {
	t.Helper()
	s := &recorder{seed: 5}
	// All released values (bins, noisy counts and gradients) are the same number.
	s.force = func(rel *entropy.Release) {
		for i := range rel.Outputs[0] {
			rel.Outputs[0][i] = 3
		}
	}
	b := accountant.Budget{Epsilon: 1e4, Delta: 1e-5, Relation: r}
	l := ledger.New(b, ledger.WithUnit(records.UnitOf(data)))
	trainer := must(sgd.New(cfg, net, l, opts...))(t)
	for _, err := range trainer.Steps(s.context(t.Context()), data) {
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func distance(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += (a[i] - b[i]) * (a[i] - b[i])
	}
	return math.Sqrt(sum)
}

func norm(a []float64) float64 { return distance(a, make([]float64, len(a))) }

// TestClippedSumSensitivity: if a record is added, removed or replaced, the clipped sum changes by
// at most the sensitivity that the noise is scaled for. The test checks the definition.
func TestClippedSumSensitivity(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	for name, clip := range policies() {
		bound := map[string]float64{"fixed": 0.7, "normalize": 1, "dpnorm": 1,
			"geometric": 0.1 * math.Pow(200, 3./7), "quantile": 0.7, "by norm": 0.7}[name]
		tight := 0.0
		for trial := range 20 {
			dim := 1 + trial%7
			flat := make([]float32, 12*dim)
			for i := range flat {
				flat[i] = float32(rng.NormFloat64() * math.Exp(2*rng.NormFloat64()))
			}
			whole := fromFlat(t, dim, flat)
			without := fromFlat(t, dim, flat[:11*dim])
			flipped := append([]float32(nil), flat...)
			for j := 11 * dim; j < 12*dim; j++ {
				flipped[j] *= -1
			}
			cfg := with(clip, 1, 1)
			a := observe(t, cfg, accountant.AddOrRemoveOne, newCentre(dim), whole).sums[0]
			b := observe(t, cfg, accountant.AddOrRemoveOne, newCentre(dim), without).sums[0]
			if d := distance(a, b); d > bound*(1+1e-6) {
				t.Errorf("%s: one more record moves the sum by %v, clip norm %v", name, d, bound)
			} else {
				tight = max(tight, d/bound)
			}
			a = observe(t, cfg, accountant.ReplaceOne, newCentre(dim), whole).sums[0]
			b = observe(t, cfg, accountant.ReplaceOne, newCentre(dim), fromFlat(t, dim, flipped)).sums[0]
			if d := distance(a, b); d > 2*bound*(1+1e-6) {
				t.Errorf("%s: a replaced record moves the sum by %v, twice the clip norm is %v", name,
					d, 2*bound)
			}
		}
		if tight < 0.8 {
			t.Errorf("%s: no record came near the clip norm (%v): the test has no power", name, tight)
		}
	}
}

// TestNoiseMatchesSensitivityAndRelation: the noise is scaled for the sensitivity under the
// ledger's relation, not for a smaller one.
func TestNoiseMatchesSensitivityAndRelation(t *testing.T) {
	data := table(t, 20, 3, 1)
	for r, factor := range map[accountant.Relation]float64{accountant.AddOrRemoveOne: 1,
		accountant.ReplaceOne: 2} {
		s := observe(t, with(nil, 1, 2), r, newCentre(3), data)
		for _, rel := range s.releases {
			if want := 1.2 * factor * 0.7; rel.Std[0] < want || rel.Std[0] > want*1.0001 {
				t.Errorf("%v: noise of standard deviation %v, want %v", r, rel.Std[0], want)
			}
		}
		histogram := observe(t, with(policies()["dpnorm"], 1, 1), r, newCentre(3), data).releases[0]
		if want := 3 * math.Sqrt(factor); math.Abs(histogram.Std[0]-want) > 1e-6*want {
			t.Errorf("%v: histogram noise %v, want %v", r, histogram.Std[0], want)
		}
		quantile := observe(t, with(policies()["quantile"], 1, 1), r, newCentre(3), data).releases[1]
		share := map[accountant.Relation]float64{accountant.AddOrRemoveOne: 0.6,
			accountant.ReplaceOne: 1}[r]
		if want := 3 * share * (1 << 20); math.Abs(quantile.Std[0]-want) > 1e-5*want {
			t.Errorf("%v: quantile noise %v, want %v", r, quantile.Std[0], want)
		}
	}
}

// TestPolicyReleaseSensitivity: one record changes a policy's own releases by at most the
// sensitivity that their noise is scaled for. The test covers the first step and later steps.
func TestPolicyReleaseSensitivity(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	for _, name := range []string{"dpnorm", "geometric", "quantile", "by norm"} {
		for range 30 {
			flat := make([]float32, 9)
			for i := range flat {
				flat[i] = float32(rng.NormFloat64() * 2)
			}
			other := append([]float32(nil), flat...)
			other[8] = float32(rng.NormFloat64() * 2)
			for r, pair := range map[accountant.Relation][2][]float32{
				accountant.AddOrRemoveOne: {flat, flat[:8]}, accountant.ReplaceOne: {flat, other},
			} {
				var in [2][][]float64
				var std float64
				for i := range pair {
					for _, rel := range observe(t, with(policies()[name], 1, 3), r, newCentre(1),
						fromFlat(t, 1, pair[i])).releases {
						if rel.Mechanism != "Gaussian gradient" {
							in[i], std = append(in[i], rel.Inputs[0]), rel.Std[0]
						}
					}
				}
				if len(in[0]) != 3 || len(in[1]) != 3 {
					t.Fatalf("%s: %d and %d releases in 3 steps", name, len(in[0]), len(in[1]))
				}
				for step := range in[0] {
					if d := distance(in[0][step], in[1][step]) / std; d > 1./3*(1+1e-9) {
						t.Errorf("%s, %v, step %d: one record has the effect %v, want at most %v", name, r, step+1, d, 1./3)
					}
				}
			}
		}
	}
}

// TestLedgerHoldsWhatHappened: the ledger holds the event of the sampler and the noise that were
// actually used.
func TestLedgerHoldsWhatHappened(t *testing.T) {
	for name, clip := range policies() {
		cfg := with(clip, 0.3, 7)
		l := ledger.New(budget(1e4))
		trainer := must(sgd.New(cfg, newCentre(2), l, sgd.WithPurpose("centre")))(t)
		s := &recorder{seed: 1}
		for _, err := range trainer.Steps(s.context(t.Context()), table(t, 30, 2, 0)) {
			if err != nil {
				t.Fatal(err)
			}
		}
		entries := l.Entries()
		if len(entries) != 1 || entries[0].Purpose != "centre" || entries[0].Reserved != 7 ||
			entries[0].Spent != 7 ||
			!accountant.EqualEvents(entries[0].Event, cfg.Event(accountant.AddOrRemoveOne)) {
			t.Errorf("%s: ledger %v, want one entry with 7 steps spent", name, entries)
		}
		sampled := entries[0].Event.(accountant.PoissonSampled)
		if sampled.Probability != 0.3 || len(s.samples) != 7 || s.early {
			t.Errorf("%s: probability %v, %d samples, drawn before they were spent: %v", name, sampled.Probability,
				len(s.samples), s.early)
		}
		square, perStep := 0.0, len(s.effects)/7
		for _, e := range s.effects[:perStep] {
			square += e * e
		}
		sigma := sampled.Event.(accountant.Gaussian).NoiseMultiplier
		if math.Abs(square*sigma*sigma-1) > 1e-9 {
			t.Errorf("%s: the effects %v of a step do not match the ledger's noise multiplier %v", name,
				s.effects[:perStep], sigma)
		}
	}
}

// TestNonFiniteRecordsAreLeftOut: a record that is not finite does not count and does not affect
// other records.
func TestNonFiniteRecordsAreLeftOut(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	good := [][]float32{{1, 2}, {3, -1}, {0.1, 0.1}}
	bad := append(append([][]float32{{nan, 1}}, good...), []float32{inf, -inf}, []float32{3e38, 3e38})
	schema := fromFlat(t, 2, []float32{0, 0})
	for name, clip := range policies() {
		cfg := with(clip, 1, 2)
		net := newCentre(2)
		a := observe(t, cfg, accountant.AddOrRemoveOne, net, raw{schema, bad[:5]}).sums[0]
		b := observe(t, cfg, accountant.AddOrRemoveOne, newCentre(2), raw{schema, good}).sums[0]
		if d := distance(a, b); d > 1e-6 {
			t.Errorf("%s: records that are not finite move the sum by %v", name, d)
		}
		c := observe(t, cfg, accountant.AddOrRemoveOne, newCentre(2), raw{schema, bad}).sums[0]
		if d := distance(b, c); !(d < 3) {
			t.Errorf("%s: a huge record moves the sum by %v", name, d)
		}
		for _, p := range net.params.Flat.Data {
			if p != p {
				t.Errorf("%s: parameters are not finite", name)
			}
		}
	}
}

// TestNormsThatAreNotFiniteCountAsZero: a record with a norm that is not finite becomes a zero row.
// The histogram of a private clip norm counts such a record in the first bin.
func TestNormsThatAreNotFiniteCountAsZero(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	rows := [][]float32{{nan, 1}, {inf, -inf}, {0, nan}, {0, 0}, {300, -100}}
	schema := fromFlat(t, 2, []float32{0, 0})
	for _, clip := range []sgd.DPNorm{
		{MaxNorm: 2, Bins: 4, NoiseMultiplier: 3},
		{MaxNorm: 2, MinNorm: 0.1, Bins: 4, NoiseMultiplier: 3},
	} {
		s := observe(t, with(clip, 1, 1), accountant.AddOrRemoveOne, newCentre(2), raw{schema, rows})
		counts := s.releases[0].Inputs[0]
		if want := []float64{4, 0, 0, 1}; s.releases[0].Mechanism != "noisy argmax" ||
			!slices.Equal(counts, want) {
			t.Errorf("%+v: %s of %v, want %v", clip, s.releases[0].Mechanism, counts, want)
		}
	}
}

// TestMicroBatchesChangeNothing: networks of this module accept empty data. They give equal sums
// for all sizes of micro-batches, on dense and sparse data and with every policy.
func TestMicroBatchesChangeNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	sets := make([][]uint32, 40)
	for i := range sets {
		for item := range uint32(20) {
			if rng.Float64() < 0.2 {
				sets[i] = append(sets[i], item)
			}
		}
	}
	sparse := setTable(t, 20, sets)
	flat := make([]float32, 40*20)
	for i, set := range sets {
		for _, item := range set {
			flat[i*20+int(item)] = 1
		}
	}
	dense := must(records.FromFlat(records.Binary(20), flat))(t)
	empty := must(records.FromFlat(records.Binary(20), nil))(t)
	architectures := []models.DensityArchitecture{models.VAE{Hidden: []int{9}, Latent: 2},
		models.RBM{Hidden: 6, Chains: 4}}
	for _, a := range architectures {
		for name, clip := range policies() {
			var first []float64
			for _, c := range []struct {
				micro int
				data  records.Data
			}{{1000, dense}, {40, dense}, {7, dense}, {1, dense}, {7, sparse}} {
				net, err := a.New(device.CPU(), models.Visible{Dim: 20, Sparse: c.data.Schema().Sparse()}, 3)
				if err != nil {
					t.Fatal(err)
				}
				cfg := with(clip, 0.6, 2)
				cfg.MicroBatch = c.micro
				s := observe(t, cfg, accountant.AddOrRemoveOne, net, c.data)
				if first == nil {
					first = s.sums[0]
				}
				if d := distance(first, s.sums[0]); d > 1e-4*(1+norm(first)) {
					t.Errorf("%s, %s, micro-batch %d: the sum differs by %v, its norm is %v", a.Name(), name, c.micro, d,
						norm(first))
				}
			}
			net := must(a.New(device.CPU(), models.Visible{Dim: 20}, 3))(t)
			s := observe(t, with(clip, 0.6, 2), accountant.AddOrRemoveOne, net, empty)
			if norm(s.sums[0]) != 0 || len(s.sums) != 2 {
				t.Errorf("%s, %s: empty data gave sums %v, want two zero sums", a.Name(), name, s.sums)
			}
		}
	}
}

// peaks records the largest batch.
type peaks struct {
	models.Density
	peak int
}

func (p *peaks) Gradients(b device.Batch) models.Gradients {
	p.peak = max(p.peak, b.Rows)
	return p.Density.Gradients(b)
}

// TestMicroBatchBoundsMemory: memory does not grow with the batch, since no call gets more rows
// than a micro-batch has.
func TestMicroBatchBoundsMemory(t *testing.T) {
	vae, err := models.VAE{Hidden: []int{3}, Latent: 1}.New(device.CPU(), models.Visible{Dim: 2}, 1)
	if err != nil {
		t.Fatal(err)
	}
	net := &peaks{Density: vae}
	observe(t, with(nil, 1, 1), accountant.AddOrRemoveOne, net, table(t, 101, 2, 0))
	if net.peak != 5 {
		t.Errorf("largest batch %d, want 5", net.peak)
	}
	own := newCentre(2) // a network without fixed-point sums gets its records one by one
	observe(t, with(nil, 1, 1), accountant.AddOrRemoveOne, own, table(t, 101, 2, 0))
	if own.peak != 1 || own.begun != 1 {
		t.Errorf("largest batch %d and %d calls of BeginStep in a step, want 1 and 1", own.peak, own.begun)
	}
}

// TestStepShowsPublicNumbersOnly: with the same released values, the printed steps are the same for
// all records.
func TestStepShowsPublicNumbersOnly(t *testing.T) {
	var shown []string
	for _, data := range []records.Data{table(t, 30, 2, 0), table(t, 3, 2, 50), table(t, 500, 2, -3)} {
		cfg := with(policies()["dpnorm"], 0.5, 3)
		trainer := must(sgd.New(cfg, newCentre(2), ledger.New(budget(1e4))))(t)
		s := &recorder{force: func(r *entropy.Release) {
			for i := range r.Outputs[0] {
				r.Outputs[0][i] = 1
			}
		}}
		text := ""
		for step, err := range trainer.Steps(s.context(t.Context()), data) {
			text += fmt.Sprintf("%+v %v\n", step, err)
		}
		shown = append(shown, text)
	}
	if shown[0] != shown[1] || shown[0] != shown[2] {
		t.Errorf("steps differ by records:\n%s%s%s", shown[0], shown[1], shown[2])
	}
}
