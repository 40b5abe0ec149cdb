package sgd_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// person holds one person's rows.
type person [][]float32

// personsOf groups rows into persons. The table contains the first row of every person, then the
// second row of every person, and so on.
func personsOf(t *testing.T, dim, most int, all ...person) *records.Persons {
	t.Helper()
	var rows [][]float32
	var keys []int
	for j, found := 0, true; found; j++ {
		found = false
		for i, p := range all {
			if j < len(p) {
				rows, keys, found = append(rows, p[j]), append(keys, 50-3*i), true
			}
		}
	}
	var flat []float32
	for _, row := range rows {
		flat = append(flat, row...)
	}
	data := must(records.FromFlat(records.Interval(dim, -3e38, 3e38), flat))(t)
	return must(records.GroupBy(data, keys, most))(t)
}

// twoBlocks clips each of two coordinates separately.
func twoBlocks() sgd.Groups { return grouped(0.6, 0.3) }

// TestPersonIsOneExample: a person's gradient is the mean over the rows, clipped once, in one
// micro-batch or in many.
func TestPersonIsOneExample(t *testing.T) {
	const inf = 3e38
	for name, c := range map[string]struct {
		persons []person
		want    []float64
	}{
		"means": {[]person{{{0.3, 0}, {0, 0.3}, {0.3, 0.3}}, {{0.1, 0.1}}}, []float64{-0.3, -0.3}},
		// The norm of every row is far above the clip norm, but the norm of their mean is not.
		"rows that cancel": {[]person{{{40, 0}, {-40, 0}, {0.3, 0}}, {{0, 0.5}, {0, -0.5}}},
			[]float64{-0.1, 0}},
		"clipped once": {[]person{{{10, 0}, {0, 10}}}, []float64{-0.7 / math.Sqrt2, -0.7 / math.Sqrt2}},
		// A row whose gradient is not finite is left out; the others keep their shares.
		"a row that is no number": {[]person{{{0.3, 0}, {13, 1}, {0.3, 0}}}, []float64{-0.2, 0}},
		// A clip factor below the smallest normal number is zero, for a person as for a record.
		"rows that overflow": {[]person{{{inf, 0}, {inf, 0}, {inf, 0}}, {{0.1, 0}}}, []float64{-0.1, 0}},
	} {
		data := personsOf(t, 2, 3, c.persons...)
		for _, size := range []int{1, 5, 100} {
			cfg := with(nil, 1, 1)
			cfg.MicroBatch = size
			net := unlucky{newCentre(2)}
			got := observe(t, cfg, accountant.AddOrRemoveOne, net, data).sums[0]
			// A share of one third is rounded to a multiple of 2^-20.
			if distance(got, c.want) > 1e-4 {
				t.Errorf("%s, micro-batches of %d: %v, want %v", name, size, got, c.want)
			}
			if net.peak > 3 {
				t.Errorf("%s: %d rows are in one batch, want at most the 3 rows of a person", name, net.peak)
			}
		}
	}
}

// unlucky is a network whose gradient is NaN for some rows.
type unlucky struct{ *centre }

func (u unlucky) Gradients(b device.Batch) models.Gradients {
	for i := range b.Rows {
		if row := b.Dense.Row(i); row[0] == 13 {
			row[0] = float32(math.NaN())
		}
	}
	return u.centre.Gradients(b)
}

// TestPersonsSensitivity: adding or removing a person with any number of rows moves the sum by at
// most the clip norm. Replacing a person moves it by at most twice the clip norm. Persons vary
// widely: some rows are NaN, some cancel, and some are too large to be added.
func TestPersonsSensitivity(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 2))
	odd := []float32{float32(math.NaN()), 3e38, -3e38, 0, 1e-40, 1e6, -1e6}
	draw := func(rows int) (p person) {
		for range rows {
			row := []float32{float32(rng.NormFloat64() * math.Exp(3*rng.NormFloat64())),
				float32(rng.NormFloat64())}
			if rng.IntN(4) == 0 {
				row[rng.IntN(2)] = odd[rng.IntN(len(odd))]
			}
			p = append(p, row)
		}
		return p
	}
	clips := policies()
	clips["groups"] = twoBlocks()
	for name, clip := range clips {
		bound := map[string]float64{"fixed": 0.7, "normalize": 1, "dpnorm": 1, "groups": 1,
			"geometric": 0.1 * math.Pow(200, 3./7), "quantile": 0.7, "by norm": 0.7}[name]
		tight := 0.0
		network := func() models.Network {
			if name == "groups" {
				return newBlocky(1, 1)
			}
			return newCentre(2)
		}
		for trial := range 60 {
			rows := []int{1, 3, 30}[trial%3]
			var all []person
			for i := range 7 {
				all = append(all, draw(1+i%4))
			}
			at := []int{0, 3, 6}[trial/3%3]
			all[at] = draw(rows)
			if trial%2 == 0 { // so that some persons come near the bound
				for _, row := range all[at] {
					row[0], row[1] = 500, -200
				}
			}
			without := append(append([]person(nil), all[:at]...), all[at+1:]...)
			replaced := append([]person(nil), all...)
			replaced[at] = draw(1 + rng.IntN(30))
			sum := func(r accountant.Relation, p []person) []float64 {
				return observe(t, with(clip, 1, 1), r, network(), personsOf(t, 2, 3, p...)).sums[0]
			}
			d := distance(sum(accountant.AddOrRemoveOne, all), sum(accountant.AddOrRemoveOne, without))
			if !(d <= bound*(1+1e-6)) {
				t.Errorf("%s: a person of %d rows moves the sum by %v, clip norm %v", name, rows, d, bound)
			}
			tight = max(tight, d/bound)
			d = distance(sum(accountant.ReplaceOne, all), sum(accountant.ReplaceOne, replaced))
			if !(d <= 2*bound*(1+1e-6)) {
				t.Errorf("%s: a replaced person moves the sum by %v, twice the clip norm is %v", name, d,
					2*bound)
			}
		}
		if tight < 0.5 {
			t.Errorf("%s: no person came near the clip norm (%v): the test has no power", name, tight)
		}
	}
}

// TestPersonsKeysAreTheirOwn: the keys of a person's rows do not depend on other persons.
func TestPersonsKeysAreTheirOwn(t *testing.T) {
	net := &keyed{centre: newCentre(1), seen: map[string]bool{}}
	data := personsOf(t, 1, 3, person{{1}, {2}, {3}}, person{{4}}, person{{5}, {6}})
	observe(t, with(nil, 1, 1), accountant.AddOrRemoveOne, net, data)
	large := &keyed{centre: newCentre(1), seen: map[string]bool{}}
	cfg := with(nil, 1, 1)
	cfg.MicroBatch = 100
	observe(t, cfg, accountant.AddOrRemoveOne, large, data)
	if len(net.seen) != 6 || fmt.Sprint(net.seen) != fmt.Sprint(large.seen) {
		t.Errorf("keys in small batches %v, in one %v", net.seen, large.seen)
	}
	fewer := &keyed{centre: newCentre(1), seen: map[string]bool{}}
	observe(t, cfg, accountant.AddOrRemoveOne, fewer,
		personsOf(t, 1, 3, person{{1}}, person{{4}}, person{{5}, {6}}))
	for key := range fewer.seen {
		if !net.seen[key] {
			t.Errorf("the key in %s depends on the number of rows of another person", key)
		}
	}
}

type keyed struct {
	*centre
	seen map[string]bool
}

func (k *keyed) Gradients(b device.Batch) models.Gradients {
	for i := range b.Rows {
		k.seen[fmt.Sprint(b.Dense.Row(i), b.Keys[i])] = true
	}
	return k.centre.Gradients(b)
}

// far is a network on a device with separate memory.
type far struct{ *centre }

func (f far) Params() device.Params {
	p := f.centre.Params()
	p.Flat.Mem = elsewhere{}
	return p
}

type elsewhere struct{ device.Memory }

func TestPersonsAreRefusedBeforeSpending(t *testing.T) {
	data := personsOf(t, 2, 3, person{{1, 1}, {2, 2}})
	plain := ledger.New(budget(1e4))
	trainer, err := sgd.New(with(nil, 1, 1), newCentre(2), plain)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range trainer.Steps(t.Context(), data) {
		if p := new(param.Error); !errors.As(err, &p) {
			t.Errorf("persons on a ledger of records: %v", err)
		}
	}
	if n := len(plain.Guarantee().Entries); n > 0 {
		t.Errorf("the ledger has %d entries, want none", n)
	}
	_, err = sgd.New(with(nil, 1, 1), far{newCentre(2)}, plain, sgd.WithPersons())
	if p := new(param.Error); !errors.As(err, &p) || p.Path != "sgd.WithPersons" {
		t.Errorf("persons on a device: %v", err)
	}
}

// TestOtherPersonsInALaterLoop: each loop trains on its own persons.
func TestOtherPersonsInALaterLoop(t *testing.T) {
	first := personsOf(t, 2, 3, person{{0.3, 0}, {0.1, 0}}, person{{0.2, 0}})
	second := personsOf(t, 2, 3, person{{0, 0.1}}, person{{0, 0.2}, {0, 0.1}}, person{{0, 0.3}})
	s := &recorder{seed: 5, force: func(rel *entropy.Release) { clear(rel.Outputs[0]) }}
	l := ledger.New(accountant.Budget{Epsilon: 1e4, Delta: 1e-5}, ledger.WithUnit(records.UnitUser))
	trainer := must(sgd.New(with(nil, 1, 2), newCentre(2), l))(t)
	ctx := s.context(t.Context())
	for _, data := range []records.Data{first, second} {
		for _, err := range trainer.Steps(ctx, data) {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	if len(s.sums) != 2 || s.sums[0][0] == 0 || s.sums[1][0] != 0 || s.sums[1][1] == 0 {
		t.Errorf("the sums are %v, want the first along one axis and the second along the other", s.sums)
	}
}
