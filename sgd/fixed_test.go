package sgd_test

import (
	"reflect"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/device/devicetest"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// linear is a critic of two coordinates with all weights zero, whose fakes are 0. The gradient of a
// record x is −x.
type linear struct {
	models.Critic
	be device.Backend
}

func (n linear) Gradients(b device.Batch) models.Gradients {
	return n.PairGradients(b, n.be.New(b.Rows, 2), make([]float32, b.Rows), 0)
}

func newLinear(t *testing.T, be device.Backend) linear {
	t.Helper()
	c := must(models.MLP{}.Critic(be, 2, 0, 1))(t)
	be.Upload(c.Params().Flat, make([]float32, c.Params().Len()))
	return linear{c, be}
}

// ownLinear is the same network written outside the module.
type ownLinear struct{ *centre }

func newOwnLinear() ownLinear { return ownLinear{newCentre(2)} }

// hostile returns records whose float32 sum depends strongly on single records. First come large
// records, then many records just under half a unit in the last place of the sum of the large ones,
// then large records again. Record number `without` is left out.
func hostile(t *testing.T, large, small, without int) records.Data {
	t.Helper()
	const tiny = float32(0.49 * 0x1p-11)
	var flat []float32
	for i := range large + small + 3 {
		switch {
		case i == without:
		case i < large || i >= large+small:
			flat = append(flat, -1e6, 0)
		default:
			flat = append(flat, tiny, 0)
		}
	}
	return must(records.FromFlat(records.Interval(2, -1e6, 1e6), flat))(t)
}

// undeclared is a backend that implements no optional interface.
type undeclared struct{ device.Backend }

// TestOneRecordMovesTheComputedSumByTheClipNormAtMost: one record moves the computed sum by at most
// the sensitivity that the noise is scaled for. In a single chain of float32 additions, the first
// of these records would move the sum by 15.6 times the sensitivity.
func TestOneRecordMovesTheComputedSumByTheClipNormAtMost(t *testing.T) {
	networks := map[string]func() models.Network{
		"critic":     func() models.Network { return newLinear(t, device.CPU()) },
		"undeclared": func() models.Network { return newLinear(t, undeclared{device.CPU()}) },
		"own":        func() models.Network { return newOwnLinear() },
	}
	policies := policies()
	policies["groups"] = sgd.Groups{List: []sgd.Group{{Blocks: []int{0}, ClipNorm: .6},
		{Blocks: []int{1}, ClipNorm: .3}}}
	const large, small = 4097, 5000
	for name, network := range networks {
		for policy, clip := range policies {
			alone := name != "critic" // records are added one by one, which is slower
			if alone && clip != nil && policy != "groups" || name == "own" && policy == "groups" {
				continue // user-defined gradients have no blocks
			}
			cfg := with(clip, 1, 1)
			cfg.MicroBatch = 0
			run := func(without int) ([]float64, float64) {
				s := observe(t, cfg, accountant.AddOrRemoveOne, network(), hostile(t, large, small,
					without))
				for _, r := range s.releases {
					if r.Mechanism == "Gaussian gradient" {
						if r.Inexact {
							t.Errorf("%s, %s: the sum is in floating point", name, policy)
						}
						return r.Inputs[0], r.Std[0] / cfg.NoiseMultiplier
					}
				}
				t.Fatalf("%s, %s: no release", name, policy)
				return nil, 0
			}
			whole, most := run(-1)
			// The first record, records at the edges of micro-batches and chains, a small record and the
			// last record.
			places := []int{0, 2047, 2048, 4096, large + 1, large + small + 2}
			if alone {
				places = places[:2]
			}
			for _, i := range places {
				less, _ := run(i)
				if d := distance(whole, less); d > most {
					t.Errorf("%s, %s: without record %d of %d the sum moves by %v, want at most %v", name,
						policy, i, large+small+3, d, most)
				}
			}
		}
	}
}

// TestLargeBatchesAreCarriedOver: if the sum of a batch exceeds 31 bits, it is carried over
// exactly.
func TestLargeBatchesAreCarriedOver(t *testing.T) {
	const n = 70000
	flat := make([]float32, 2*n)
	for i := range n {
		flat[2*i] = -1e6
	}
	data := must(records.FromFlat(records.Interval(2, -1e6, 1e6), flat))(t)
	cfg := sgd.Config{ClipNorm: 1, SamplingProbability: 1, Steps: 1, NoiseMultiplier: 1,
		NominalBatch: 1, Optimizer: sgd.SGD(1)}
	critic := func() models.Network { return newLinear(t, device.CPU()) }
	for name, c := range map[string]struct {
		micro   int
		network func() models.Network
	}{
		"critic":             {0, critic},
		"own":                {0, func() models.Network { return newOwnLinear() }},
		"in one micro-batch": {n, critic}, // larger than a sum has room for
	} {
		cfg.MicroBatch = c.micro
		one := observe(t, cfg, accountant.AddOrRemoveOne, c.network(), data.Slice(0, 1)).sums[0]
		all := observe(t, cfg, accountant.AddOrRemoveOne, c.network(), data).sums[0]
		for k, x := range one {
			if all[k] != n*x || k == 0 && x == 0 {
				t.Errorf("%s: coordinate %d of the sum of %d equal records is %v, and of one record %v", name,
					k, n, all[k], x)
			}
		}
	}
}

// TestRowsRoundedUpKeepTheNorm: a row that is rounded up in every coordinate still has at most the
// clip norm. For some of the forty norms, all coordinates lie just above half a unit.
func TestRowsRoundedUpKeepTheNorm(t *testing.T) {
	const dim = 40000
	flat := make([]float32, dim)
	for i := range flat {
		flat[i] = -1e3
	}
	data := must(records.FromFlat(records.Interval(dim, -1e3, 1e3), flat))(t)
	nearest := 0.0
	for i := range 40 {
		cfg := sgd.Config{ClipNorm: 1 + float64(i)*0.0111, SamplingProbability: 1, Steps: 1,
			NoiseMultiplier: 1, NominalBatch: 1, Optimizer: sgd.SGD(1)}
		row := observe(t, cfg, accountant.AddOrRemoveOne, newCentre(dim), data).sums[0]
		if n := norm(row); n > cfg.ClipNorm {
			t.Errorf("clip norm %v: a record moves the sum by %v, which is more", cfg.ClipNorm, n)
		} else {
			nearest = max(nearest, n/cfg.ClipNorm)
		}
	}
	if nearest < 1-1e-3 {
		t.Errorf("the largest norm is %v of the clip norm: the test has no power", nearest)
	}
}

// TestSumsInFixedPointAreExact: the guarantee names the noise class "exact".
func TestSumsInFixedPointAreExact(t *testing.T) {
	l := ledger.New(accountant.Budget{Epsilon: 1e5, Delta: 1e-5})
	trainer := must(sgd.New(with(nil, 1, 1), newLinear(t, device.CPU()), l))(t)
	for _, err := range trainer.Steps(t.Context(), hostile(t, 3, 3, -1)) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if c := l.Guarantee().NoiseClass; len(c) != 1 || c[0] != ledger.ExactNoise {
		t.Errorf("noise classes %v, want only the exact one", c)
	}
}

// unfixed is a device with separate memory and without sums in fixed point.
func unfixed() device.Backend {
	return struct{ device.Backend }{devicetest.SeparateMemory(device.CPU())}
}

// TestSumsOnADeviceOfItsOwn: a device with separate memory and the CPU's results has the CPU's sums
// in fixed point, bit by bit, under every policy, also with many micro-batches and carries.
func TestSumsOnADeviceOfItsOwn(t *testing.T) {
	for policy, clip := range policies() {
		for _, micro := range []int{0, 2} {
			cfg := with(clip, 1, 2)
			cfg.MicroBatch = micro
			here := observe(t, cfg, accountant.AddOrRemoveOne, newLinear(t, device.CPU()),
				hostile(t, 3, 5, -1), sgd.WithBackend(device.CPU()))
			be := devicetest.SeparateMemory(device.CPU())
			there := observe(t, cfg, accountant.AddOrRemoveOne, newLinear(t, be), hostile(t, 3, 5, -1),
				sgd.WithBackend(be))
			for i, r := range there.releases {
				if r.Inexact || !reflect.DeepEqual(r.Inputs, here.releases[i].Inputs) {
					t.Errorf("%s, micro-batches of %d: release %d is another than on the CPU", policy, micro, i)
				}
			}
		}
	}
}

// unpromised is a device with sums in fixed point that does not promise to compute each record
// alone.
type unpromised struct{ device.FixedSummer }

func (unpromised) Promises() device.Promises { return device.Promises{SameBits: true} }

// TestSumsOfABackendWithoutPromises: sums in fixed point are exact only if the gradient of a record
// depends on no other. A device that does not promise this has the noise class real.
func TestSumsOfABackendWithoutPromises(t *testing.T) {
	be := unpromised{devicetest.SeparateMemory(device.CPU()).(device.FixedSummer)}
	s := observe(t, with(nil, 1, 1), accountant.AddOrRemoveOne, newLinear(t, be), hostile(t, 3, 5, -1),
		sgd.WithBackend(be))
	if !s.releases[0].Inexact {
		t.Error("the sum is in fixed point, want float32")
	}
}

// TestRecordsAreClippedOnADeviceWithoutFixedSums: on a device with separate memory that has no sums
// in fixed point, the sum is computed in float32. A record moves it by at most the clip norm, up to
// rounding, under every policy.
func TestRecordsAreClippedOnADeviceWithoutFixedSums(t *testing.T) {
	for policy, clip := range policies() {
		cfg := with(clip, 1, 1)
		cfg.MicroBatch = 0
		run := func(without int) ([]float64, float64) {
			be := unfixed()
			s := observe(t, cfg, accountant.AddOrRemoveOne, newLinear(t, be), hostile(t, 3, 5, without),
				sgd.WithBackend(be))
			for _, r := range s.releases {
				if r.Mechanism == "Gaussian gradient" {
					if !r.Inexact {
						t.Errorf("%s: the sum is in fixed point, want float32", policy)
					}
					return r.Inputs[0], r.Std[0] / cfg.NoiseMultiplier
				}
			}
			t.Fatalf("%s: no release", policy)
			return nil, 0
		}
		whole, most := run(-1)
		for i := range 11 {
			less, _ := run(i)
			if d := distance(whole, less); !(d <= most*(1+1e-5)) {
				t.Errorf("%s: without record %d the sum moves by %v, want at most %v", policy, i, d, most)
			}
		}
	}
}

// TestEveryStepBeginsWithNoSum: sums are not added up over the steps. On a device with separate
// memory, and with parameters that hardly move, every step has the sum of the first step.
func TestEveryStepBeginsWithNoSum(t *testing.T) {
	everyStepBegins(t, devicetest.SeparateMemory(device.CPU()))
	everyStepBegins(t, unfixed())
}

func everyStepBegins(t *testing.T, be device.Backend) {
	t.Helper()
	cfg := with(nil, 1, 3)
	cfg.Optimizer = sgd.Adam(1e-12)
	s := observe(t, cfg, accountant.AddOrRemoveOne, newLinear(t, be), hostile(t, 3, 5, -1),
		sgd.WithBackend(be))
	first := s.releases[0].Inputs[0]
	if len(s.releases) != 3 || norm(first) == 0 {
		t.Fatalf("%d releases, the first of %v: the test shows nothing", len(s.releases), first)
	}
	for i, r := range s.releases[1:] {
		if d := distance(first, r.Inputs[0]); d > 1e-3*norm(first) {
			t.Errorf("step %d: the sum has norm %g, and in the first step %g", i+2, norm(r.Inputs[0]),
				norm(first))
		}
	}
}
