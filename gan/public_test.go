package gan_test

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/device/devicetest"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
)

// public returns n records of some, declared public.
func public(t testing.TB, s records.Schema, n int, seed uint64) records.Public {
	return records.DeclarePublic(some(t, s, n, seed))
}

// TestPrivateRecordsAreNotPublic gives a plan its private records, a part of them, or a statement
// about either as public records. They must be refused before anything is reserved or a file is
// created.
func TestPrivateRecordsAreNotPublic(t *testing.T) {
	s := records.Interval(5, 0, 1)
	data, other := some(t, s, 30, 1).(*records.Table), some(t, s, 30, 1).(*records.Table)
	for _, c := range []struct {
		name            string
		public, private records.Data
		refused         bool
	}{
		{"the records", data, data, true},
		{"all of them", data.Slice(0, 30), data, true},
		{"one of them", data.Slice(29, 30), data, true},
		{"rows of them", data.Take([]int32{7, 2}), data, true},
		{"a wrapper of a slice", &struct{ records.Data }{data.Slice(3, 4)}, data, true},
		{"a statement about a slice", records.WithUnit(data.Slice(3, 4), "user"), data, true},
		{"a statement", records.WithUnit(data, records.UnitUser), data, true},
		{"a statement, the other way", data, records.WithUnit(data, records.UnitUser), true},
		{"the other half", data.Slice(0, 15), data.Slice(15, 30), false},
		{"equal records", other, data, false},
	} {
		for name, use := range map[string]func(*gan.Config){
			"warm": func(c *gan.Config) { c.WarmSteps = 1 },
			"clip": func(c *gan.Config) {
				c.Train.ClipNorm, c.Clipping = 0, gan.Clipping{Groups: gan.WeightsAndBiases, Adaptive: true}
			},
		} {
			config := small(s, 0)
			config.Public = records.DeclarePublic(c.public)
			use(&config)
			path := filepath.Join(t.TempDir(), "checkpoint")
			l := ledger.New(config.Budget, ledger.WithUnit(records.UnitOf(c.private)))
			g, err := mustPlan(t, config).FitOn(t.Context(), l, c.private, synth.Checkpoint(path))
			if !c.refused {
				if err != nil {
					t.Errorf("%s, %s: %v", c.name, name, err)
				}
				continue
			}
			var wrong *param.Error
			if !errors.As(err, &wrong) || wrong.Path != "gan.Config.Public" || g != nil {
				t.Errorf("%s, %s: got %v, want *param.Error for Public", c.name, name, err)
			}
			if left, _ := filepath.Glob(path + "*"); len(l.Entries()) != 0 || len(left) != 0 {
				t.Errorf("%s, %s: got ledger entries %v and files %v, want none", c.name, name,
					l.Entries(), left)
			}
		}
	}
}

// TestWarmStartOnADevice: what the warm start has learned is not lost on a device with separate
// memory, whose generator has the CPU's bits.
func TestWarmStartOnADevice(t *testing.T) {
	s := records.Interval(5, 0, 1)
	for _, rule := range []sgd.Optimizer{sgd.Adam(1e-2), sgd.Momentum(1e-2, .9)} {
		c := small(s, 0)
		c.Public, c.WarmSteps, c.Train.Optimizer, c.Train.NominalBatch = public(t, s, 9, 99), 9, rule, 8
		fit := func(be device.Backend) *synth.File {
			g := must(mustPlan(t, c).Fit(privacytest.Seeded(t, t.Context(), 3), some(t, s, 30, 1),
				synth.On(be)))(t)
			return encoded(t, g)
		}
		if !reflect.DeepEqual(fit(device.CPU()), fit(devicetest.SeparateMemory(device.CPU()))) {
			t.Errorf("%v: another generator than on the CPU", rule)
		}
	}
}

// TestGeneratorHoldsNoRecord searches all generators that a run returns, including previews. No
// number of a private or public record may be reachable.
func TestGeneratorHoldsNoRecord(t *testing.T) {
	s := records.Interval(5, -1, 2).WithLabels("a", "b", "c")
	for name, c := range variants(t, s, accountant.AddOrRemoveOne) {
		rng := rand.New(rand.NewPCG(1, 1))
		seen := map[float32]bool{} // the records' numbers, as given and as networks see them
		table := func() records.Data {
			flat := make([]float32, 200)
			for i := range flat {
				flat[i] = 1.5 + rng.Float32()/2 // larger than weights, which could equal a number by chance
				seen[flat[i]], seen[(flat[i]+1)/3] = true, true
			}
			return must(records.FromFlat(s, flat, make([]int32, 40)...))(t)
		}
		data := table()
		if c.Public.Data() != nil {
			c.Public = records.DeclarePublic(table())
		}
		look := func(g *synth.Generator) {
			met := 0
			walk(reflect.ValueOf(g), map[uintptr]bool{}, func(x float32) {
				if met++; seen[x] {
					t.Errorf("%s: the generator contains a record's number %v", name, x)
				}
			})
			if met < 50 {
				t.Errorf("%s: only %d numbers were found: the test has no power", name, met)
			}
		}
		// The noise has a fixed seed, so no run finds a number by chance.
		g := must(mustPlan(t, c).Fit(privacytest.Seeded(t, t.Context(), 3), data,
			synth.OnPreview(3, func(_ int, g *synth.Generator) { look(g) })))(t)
		look(g)
		draw(t, g, 9, synth.Seed(1))
		look(g)
	}
}

// walk calls hit with every float32 that can be reached from v.
func walk(v reflect.Value, seen map[uintptr]bool, hit func(float32)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && !seen[v.Pointer()] {
			seen[v.Pointer()] = true
			walk(v.Elem(), seen, hit)
		}
	case reflect.Interface:
		if !v.IsNil() {
			walk(v.Elem(), seen, hit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			walk(v.Field(i), seen, hit)
		}
	case reflect.Slice:
		for i := range v.Cap() {
			walk(v.Slice(0, v.Cap()).Index(i), seen, hit)
		}
	case reflect.Array:
		for i := range v.Len() {
			walk(v.Index(i), seen, hit)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			walk(v.MapIndex(k), seen, hit)
		}
	case reflect.Float32:
		hit(float32(v.Float()))
	}
}
