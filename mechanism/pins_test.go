package mechanism_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
)

// The file of pins holds digests of everything that seeded runs drew when it was written, and of
// what they refused. Noise has the same bits on every little-endian machine. Whoever means to
// change a draw writes the file anew and says why.
var updatePins = flag.Bool("update-pins", false, "write the files of pins")

func comparePins(t *testing.T, name string, got []string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *updatePins {
		_ = os.MkdirAll("testdata", 0o777)
		if err := os.WriteFile(file, []byte(strings.Join(got, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("words are read in the machine's byte order")
	}
	want := strings.Split(strings.TrimSuffix(string(must(os.ReadFile(file))(t)), "\n"), "\n")
	if len(got) != len(want) {
		t.Errorf("%d lines, want the %d of %s", len(got), len(want), file)
	}
	wrong := 0
	for i := range min(len(got), len(want)) {
		if got[i] == want[i] {
			continue
		}
		if wrong++; wrong > 5 {
			t.Fatal("and more lines")
		}
		t.Errorf("%s:%d:\n got %s\nwant %s", file, i+1, got[i], want[i])
	}
}

// drawn writes a result as a digest of all of its bits, or as the refusal in one line.
func drawn(err error, results ...any) string {
	text := ""
	if err != nil {
		text, _, _ = strings.Cut(strings.ReplaceAll(err.Error(), "\n", " + "), "; the event is")
		text = strings.TrimPrefix(text, "mechanism: draw not covered by its event: drawn: ") + " "
	}
	h := sha256.New()
	for _, r := range results {
		switch r := r.(type) {
		case []float64:
			for _, x := range r {
				fmt.Fprintf(h, "%x ", math.Float64bits(x))
			}
		case int:
			text += fmt.Sprint(r, " ")
		case float64: // not a draw: a processor may round its last digits otherwise
			text += fmt.Sprintf("%.9g ", r)
		default:
			fmt.Fprintln(h, r)
		}
	}
	return fmt.Sprintf("%s#%.4x", text, h.Sum(nil))
}

var drawnEvents = []accountant.Event{
	accountant.Gaussian{NoiseMultiplier: 2},
	accountant.SameBatch{NoiseMultipliers: []float64{2, 4}},
	accountant.Laplace{Scale: 3},
	accountant.Pure{Epsilon: 0.5},
	accountant.DiscreteGaussian{Sigma: 2.5, Sensitivity: 2},
	accountant.DiscreteGaussian{Sigma: 1e4, Sensitivity: 1},
	accountant.DiscreteLaplace{A: 0.25, Sensitivity: 3},
	accountant.DiscreteLaplace{A: 3, Sensitivity: 1},
	accountant.RandomizedResponse{Noise: 0.6, Categories: 5},
	accountant.ExponentialMechanism{Epsilon: 0.7},
	accountant.ExponentialMechanism{Epsilon: 0.7, Permute: true},
	accountant.PoissonSampled{Probability: 0.3, Event: accountant.Gaussian{NoiseMultiplier: 2}},
	accountant.PoissonSampled{Probability: 0.01, Event: accountant.Gaussian{NoiseMultiplier: 2}},
	accountant.PoissonSampled{Probability: 1, Event: accountant.Laplace{Scale: 3}},
	accountant.SampledSum{Probability: 0.2, NoiseMultiplier: 2},
	accountant.BandedSum{Probability: 0.4, NoiseMultiplier: 2, Band: []float64{1, 0.75, 0.5}},
	accountant.RandomAllocation{Steps: 3, NoiseMultiplier: 2},
	accountant.RandomAllocation{Steps: 5, NoiseMultiplier: 2, Times: 2},
	accountant.RandomAllocation{Steps: 4, NoiseMultiplier: 2, Shuffled: true},
	accountant.SampledWithoutReplacement{Population: 50, Sample: 30,
		Event: accountant.Gaussian{NoiseMultiplier: 2}},
	accountant.SampledWithoutReplacement{Population: 400, Sample: 7,
		Event: accountant.Gaussian{NoiseMultiplier: 2}},
	accountant.TruncatedPoisson{Probability: 0.3, Population: 60, MaxBatch: 16, NoiseMultiplier: 2},
	accountant.SparseHistogram{Sigma: 3, Threshold: 25, Cells: 2},
	accountant.RepeatAndSelect{Event: accountant.Gaussian{NoiseMultiplier: 2}, Mean: 6, Shape: 1},
	accountant.RepeatAndSelect{Event: accountant.Gaussian{NoiseMultiplier: 2}, Mean: 6, Shape: -0.5},
	accountant.RepeatAndSelect{Event: accountant.Gaussian{NoiseMultiplier: 2}, Mean: 4, Poisson: true},
	accountant.Composed{Events: []accountant.Event{accountant.Gaussian{NoiseMultiplier: 2},
		accountant.Gaussian{NoiseMultiplier: 3}}},
	accountant.ZCDP{Rho: 0.1},
	accountant.Repeated{Event: accountant.Gaussian{NoiseMultiplier: 4}, Count: 3},
}

// fixed returns a sum of numbers that the seed determines.
func fixed(dim int, grid float64, seed uint64) *mechanism.FixedSum {
	s, rng := mechanism.NewFixedSum(dim, grid), rand.New(rand.NewPCG(seed, 2))
	if dim > 0 {
		s.AddInt(int(seed)%dim, 3)
	}
	for i := range 2 {
		row, row64 := make([]float32, dim), make([]float64, dim)
		for k := range dim {
			row[k], row64[k] = float32(rng.NormFloat64()), rng.NormFloat64()*100
		}
		s.AddRow(row, 1+float64(i)/3)
		s.AddRow64(row64, 0.7)
		if dim > 2 {
			s.AddRowAt(1, row[:dim-2], 2)
			s.AddRow64At(2, row64[:dim-2], 0.1)
		}
	}
	return s
}

// draws are all kinds of draws, of numbers that the seed determines.
func draws(seed uint64) map[string]func(*mechanism.Grant) string {
	rng := rand.New(rand.NewPCG(seed, 3))
	ints := make([]int64, 5)
	for i := range ints {
		ints[i] = rng.Int64N(9) - 4
	}
	dim := []int{1, 3, 40}[seed%3]
	release := func(effect float64, stds ...float64) func(*mechanism.Grant) string {
		return func(g *mechanism.Grant) string {
			var parts []mechanism.Part
			var all []any
			for i, std := range stds {
				parts = append(parts, mechanism.Part{Sum: fixed(dim+i, mechanism.GridFor(std), seed), Std: std,
					Out: make([]float64, dim+i)})
				all = append(all, parts[i].Out)
			}
			if seed%4 == 3 && len(parts) > 1 {
				return drawn(g.Laplace(effect, parts...), all...)
			}
			return drawn(g.Release(effect, parts...), all...)
		}
	}
	gradient := func(n int, units bool, z float64) func(*mechanism.Grant) string {
		return func(g *mechanism.Grant) string {
			rng := rand.New(rand.NewPCG(seed, 4))
			spec := mechanism.Gradient{Sensitivity: 1.5, NoiseMultiplier: z, Workers: 1 + int(seed%3)}
			for i := range n {
				if !units {
					spec.Sum = append(spec.Sum, float32(rng.NormFloat64()))
					continue
				}
				spec.Unit = 0x1p-20
				spec.Units = append(spec.Units, int32(rng.Int32()))
				if seed%2 == 1 {
					spec.Carry = append(spec.Carry, float64(i%3)*0x1p31)
				}
			}
			out := make([]float64, n)
			err := g.ReleaseGradient(spec, func(at int, noisy []float64) { copy(out[at:], noisy) })
			return drawn(err, out)
		}
	}
	return map[string]func(*mechanism.Grant) string{
		"a release":     release(0.5, 1.5),
		"a louder one":  release(0.6, 1.5),
		"two parts":     release(0.25, 0.1, 3000),
		"a Laplace sum": func(g *mechanism.Grant) string { return laplaceSum(g, seed, 1./3, 2) },
		"half of it":    func(g *mechanism.Grant) string { return laplaceSum(g, seed, 0.5, 2, 3) },
		"a gradient":    gradient(dim, false, 2),
		"a long one":    gradient(8192+int(seed%20), seed%2 == 0, 2),
		"a loud one":    gradient(dim, true, 1.9),
		"steps":         gradient(dim, true, 4),
		"poisson": func(g *mechanism.Grant) string {
			index, keys := g.PoissonSample(300, []int32{7}, []uint64{8})
			return drawn(nil, len(index), index, keys)
		},
		"subset": func(g *mechanism.Grant) string {
			index, keys := g.SampleWithoutReplacement([]int32{7}, nil)
			return drawn(nil, len(index), index, keys)
		},
		"discrete gaussian": func(g *mechanism.Grant) string {
			out := make([]int64, len(ints))
			return drawn(g.DiscreteGaussian(ints, out), out)
		},
		"discrete laplace": func(g *mechanism.Grant) string {
			out := make([]int64, len(ints))
			return drawn(g.DiscreteLaplace(ints, out), out)
		},
		"response": func(g *mechanism.Grant) string {
			i, err := g.RandomizedResponse(int(ints[0]))
			return drawn(err, i)
		},
		"exponential": func(g *mechanism.Grant) string {
			i, err := g.Exponential(ints)
			return drawn(err, i)
		},
		"farthest": func(g *mechanism.Grant) string {
			i, err := g.Farthest(fixed(5, []float64{1, 0x1p-24, 0x1p-3, 3}[seed%4], seed), ints)
			return drawn(err, i)
		},
		"worst": func(g *mechanism.Grant) string {
			var list []mechanism.Guess
			for i := range 4 {
				list = append(list, mechanism.Guess{Counts: fixed(3, 0x1p-10, seed+uint64(i)),
					Answers: []float64{1, -50, 0.5}, Weight: 1 / float64(i+1), Handicap: float64(10 * i)})
			}
			list = append(list, mechanism.Guess{Counts: list[0].Counts, // beyond the largest distance
				Answers: []float64{1e40, 1, -50}, Weight: 1, Handicap: 0x1p35 / float64(1+seed%3)})
			i, err := g.Worst(list, 1+int(seed%3))
			return drawn(err, i)
		},
		"argmax": func(g *mechanism.Grant) string {
			i, err := g.NoisyArgmax(ints, 2, 0.5)
			return drawn(err, i)
		},
		"norms": func(g *mechanism.Grant) string {
			h, err := mechanism.NewNormHistogram([]float64{0, 0.1}[seed%2], 4, 9)
			if err != nil {
				return drawn(err)
			}
			if seed%3 == 0 {
				h.InShares()
				h.AddShare(2, 0.25)
			}
			for i := range 20 {
				h.Add(float64(i) / 3)
			}
			h.Add(math.NaN())
			h.Add(1e9)
			err = h.AddCounts(h.Counts())
			clip, late := h.Release(g, 2)
			return drawn(errors.Join(err, late), clip)
		},
		"texts": func(g *mechanism.Grant) string {
			out, err := g.SparseHistogram([]map[string]int64{{"a": 40, "b": 3, "c": 0, "d": 26}, nil,
				{"e": 11, "": 90}})
			return drawn(err, out)
		},
		"trials": func(g *mechanism.Grant) string {
			choices, err := g.Trials(5, []int{0, 9}[seed%2])
			return drawn(err, choices)
		},
		"a sum's effect": func(g *mechanism.Grant) string {
			return drawn(nil, g.SumEffect(1, 1.5, 3), g.SumEffect(2, 1, 0.5))
		},
	}
}

func laplaceSum(g *mechanism.Grant, seed uint64, effect float64, scales ...float64) string {
	var parts []mechanism.Part
	var all []any
	for i, b := range scales {
		parts = append(parts, mechanism.Part{Sum: fixed(1+i, mechanism.GridFor(b), seed), Std: b,
			Out: make([]float64, 1+i)})
		all = append(all, parts[i].Out)
	}
	return drawn(g.Laplace(effect, parts...), all...)
}

// entries returns what a ledger holds, in one line.
func entries(l *ledger.Ledger) string {
	text := ""
	for _, e := range l.Entries() {
		text += fmt.Sprintf("%s %d of %d %t %v; ", e.Purpose, e.Spent, e.Reserved, e.Late, e.Notes)
	}
	return text + l.NotPrivate()
}

// TestPinsOfDraws: every kind of draw, twice, under a grant of every event. A sample comes first
// where the event has one.
func TestPinsOfDraws(t *testing.T) {
	var lines []string
	for i, e := range drawnEvents {
		for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
			seed := uint64(2*i) + uint64(r)
			l := ledger.New(accountant.Budget{Epsilon: 1e6, Delta: 1e-6, Relation: r})
			run := mechanism.Begin(privacytest.Seeded(t, context.Background(), seed), l)
			a, err := run.Reserve("drawn", e, 400)
			lines = append(lines, fmt.Sprintf("%T %v, %v: %v", e, e, r, err))
			if err != nil {
				continue
			}
			all := draws(seed)
			for _, name := range sortedNames(all) {
				g, err := a.Next()
				if err != nil {
					lines = append(lines, "  "+err.Error())
					break
				}
				first := ""
				switch e.(type) {
				case accountant.PoissonSampled, accountant.SampledSum, accountant.BandedSum,
					accountant.RandomAllocation:
					first = all["poisson"](g) + " "
				case accountant.SampledWithoutReplacement:
					first = all["subset"](g) + " "
				}
				lines = append(lines, fmt.Sprintf("  %s: %s%s", name, first, all[name](g)),
					fmt.Sprintf("    again: %s", all[name](g)))
			}
			lines = append(lines, fmt.Sprintf("  %d left, %v: %s", a.Remaining(), a.Classes(), entries(l)))
		}
	}
	comparePins(t, "pins_draws.txt", lines)
}

func sortedNames[V any](all map[string]V) []string {
	return slices.Sorted(maps.Keys(all))
}

// TestPinsOfRuns: several uses, epochs, rounds and parts of one run, and uses that another run
// resumed.
func TestPinsOfRuns(t *testing.T) {
	var lines []string
	for seed := range uint64(8) {
		r := accountant.Relation(seed % 2)
		l := ledger.New(accountant.Budget{Epsilon: 1e6, Delta: 1e-6, Relation: r})
		ctx := privacytest.Seeded(t, context.Background(), seed)
		run := mechanism.Begin(ctx, l)
		var some []*mechanism.Allowance
		for i, e := range []accountant.Event{accountant.BandedSum{Probability: 0.4, NoiseMultiplier: 2,
			Band: []float64{1, 0.75, 0.5, 0x1p-12}}, accountant.RandomAllocation{Steps: 3,
			NoiseMultiplier: 2, Times: int(seed / 2 % 3), Shuffled: r == accountant.ReplaceOne && seed < 2},
			accountant.SampledSum{Probability: 0.02, NoiseMultiplier: 2},
			accountant.Gaussian{NoiseMultiplier: 2}} {
			a, err := run.Reserve(fmt.Sprint("purpose ", i), e, 5)
			lines = append(lines, fmt.Sprintf("%d %T %v: %v", seed, e, e, err))
			if err == nil {
				some = append(some, a)
			}
		}
		rng := rand.New(rand.NewPCG(seed, 5))
		for range 40 {
			k := rng.IntN(len(some))
			a := some[k]
			g, err := a.Next()
			if err != nil {
				lines = append(lines, fmt.Sprintf("  %d: %v", k, err))
				continue
			}
			index, keys := g.PoissonSample(50, nil, nil)
			line := fmt.Sprintf("  %d: %s", k, drawn(nil, len(index), index, keys))
			for range rng.IntN(3) {
				line += " " + draws(seed)[[]string{"a gradient", "steps"}[rng.IntN(2)]](g)
			}
			lines = append(lines, line)
		}
		for _, a := range some {
			lines = append(lines, fmt.Sprintf("  left %d, on its ledger: %t", a.Remaining(), a.On(l)))
		}
		text := must(l.MarshalJSON())(t)
		saved := must(ledger.Unmarshal(text))(t)
		more := mechanism.Begin(ctx, saved)
		for i, a := range some {
			b, err := more.Resume(fmt.Sprint("purpose ", i), a.Event())
			if err != nil {
				lines = append(lines, fmt.Sprintf("  resumed: %v", err))
				continue
			}
			b.Note(ledger.RealNoise)
			if i == 2 {
				lines = append(lines, plannedSamples(t, b))
			}
			g, err := b.Next()
			index, keys := g.PoissonSample(50, nil, nil)
			lines = append(lines, fmt.Sprintf("  resumed: %s %s, %d left", drawn(err, index, keys),
				draws(seed)["a gradient"](g), b.Remaining()))
		}
		lines = append(lines, "  "+entries(l), "  "+entries(saved))
		lines = append(lines, transactions(t, seed)...)
	}
	comparePins(t, "pins_runs.txt", lines)
}

// plannedSamples plans the samples of the uses that are left.
func plannedSamples(t *testing.T, a *mechanism.Allowance) string {
	var order []*mechanism.Allowance
	for range a.Remaining() + 1 {
		if _, err := mechanism.PlanInclusions(90, append(order, a)...); err == nil {
			order = append(order, a)
		}
	}
	x, err := mechanism.PlanInclusions(90, order...)
	if err != nil {
		return "  planned: " + err.Error()
	}
	secret := must(x.Secret())(t)
	read := must(mechanism.ReadInclusions(secret))(t)
	var all, again [][2]int
	x.Each(0, 90, func(row, grant int) { all = append(all, [2]int{row, grant}) })
	read.Each(20, 70, func(row, grant int) { again = append(again, [2]int{row, grant}) })
	return fmt.Sprintf("  planned %d: %s %v", len(order), drawn(nil, len(all), all, len(again), again),
		read.Use(0, nil))
}

// transactions draws from the lines of one transaction, with parts, after what a checkpoint knows
// to be taken.
func transactions(t *testing.T, seed uint64) (lines []string) {
	l := ledger.New(accountant.Budget{Epsilon: 1e6, Delta: 1e-6})
	ctx := privacytest.Seeded(t, context.Background(), seed)
	e := accountant.Gaussian{NoiseMultiplier: 2}
	tx := ledger.Transaction{ID: "fit", Groups: []ledger.Parts{{Purpose: "classes", N: 2}},
		Lines: []ledger.Line{{Purpose: "a", Event: e, Count: 2}, {Purpose: "a", Event: e, Count: 3},
			{Purpose: "b", Event: accountant.Laplace{Scale: 3}, Count: 1, Group: 1},
			{Purpose: "b", Event: e, Count: 2, Group: 1, Part: 1},
			{Purpose: "b", Event: e, Count: 3, Group: 1, Part: 1}}}
	for round := range 2 {
		all, err := mechanism.ReserveAll(ctx, l, tx)
		if err != nil {
			return append(lines, "  "+err.Error())
		}
		for i, a := range all {
			if i == 3 {
				a.Guard(func(spend func() error) error {
					if round == 1 {
						return errors.New("guarded")
					}
					return spend()
				})
			}
			if i == 4 {
				a.RefuseWhen(func() error { return []error{nil, errors.New("late")}[round] })
			}
			g, err := a.Next()
			if err != nil {
				lines = append(lines, fmt.Sprintf("  line %d: %v", i, err))
				continue
			}
			lines = append(lines, fmt.Sprintf("  line %d: %s %s, %d left", i, draws(seed)["a release"](g),
				draws(seed)["a Laplace sum"](g), a.Remaining()))
		}
		tx.Lines[1].Taken = 2
	}
	for _, part := range l.Children()[0].Parts {
		lines = append(lines, "  part: "+entries(part))
	}
	return append(lines, "  "+entries(l))
}

// TestPinsOfNumbers: grids, norms, effects and limits.
func TestPinsOfNumbers(t *testing.T) {
	var lines []string
	for _, x := range []float64{math.NaN(), math.Inf(1), -1, 0, 1e-300, 0x1p-61, 0x1p-60, 0x1p-32,
		0x1p-31, 1e-9, 0x1p-24, 0.3, 1, 1.5, 2, 1e6, 1 << 24, 1<<24 + 1, 0x1p44, 0x1p45, 1e30, 0x1p100,
		0x1p101} {
		err := errors.Join(mechanism.CheckCountNoise("x", x, false),
			mechanism.CheckCountNoise("y", x, true))
		lines = append(lines, fmt.Sprintf("%v: %v %v %v %t %t %s", x, mechanism.GridFor(x),
			mechanism.CountGrid(x, false), mechanism.CountGrid(x, true), mechanism.IsClipNorm(x),
			mechanism.IsNoiseMultiplier(x), drawn(err)))
		for _, clip := range []float64{x, 1, 0.37} {
			lines = append(lines, fmt.Sprint("  ", mechanism.ClipFactor(x, clip), " ",
				mechanism.ClipFactor(clip*1.1, clip)))
		}
		for r := range accountant.Relation(2) {
			lines = append(lines, fmt.Sprint("  ", mechanism.SumSensitivity(r, x), " ",
				mechanism.HistogramSensitivity(r)))
		}
	}
	for _, bins := range []int{0, 1, 2, 7, 1 << 20, 1<<20 + 1} {
		for _, least := range []float64{-1, 0, 0.5, 4} {
			h, err := mechanism.NewNormHistogram(least, 4, bins)
			if err != nil {
				lines = append(lines, drawn(err))
				continue
			}
			for _, x := range []float64{0, 0.1, 0.25, 0.2501, 1, 15.9, 16, 17, math.Inf(1), math.NaN()} {
				h.Add(x)
			}
			lines = append(lines, drawn(nil, bins, h.Counts().Exact()))
		}
	}
	comparePins(t, "pins_numbers.txt", lines)
}

// TestPinsOfPartials: random sums of shards that are merged, sealed, opened, emptied and named.
func TestPinsOfPartials(t *testing.T) {
	var lines []string
	secret := make([]byte, 32)
	key := must(mechanism.ReadKey(secret))(t)
	secret[3] = 1
	keys := []mechanism.Key{key, must(mechanism.ReadKey(secret))(t), {}}
	lines = append(lines, key.ID())
	for _, n := range []int{0, 31, 33} {
		_, err := mechanism.ReadKey(make([]byte, n))
		lines = append(lines, fmt.Sprint(err))
	}
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 7))
		passes := []mechanism.PassID{pass(t, "one"), pass(t, "one"), pass(t, "two"), {}}
		var sums []*mechanism.Partial
		for range 5 {
			p := passes[[]int{0, 0, 0, 0, 0, 1, 1, 1, 2, 3}[rng.IntN(10)]]
			grid := []float64{0x1p-20, 0x1p-19}[rng.IntN(9)/8]
			sums = append(sums, mechanism.NewPartial(p, schema,
				adder{mechanism.NewFixedSum(dim, grid)}, rng.IntN(8) == 0))
		}
		var sealed [][]byte
		lines = append(lines, fmt.Sprint("seed ", seed))
		say := func(what string, i int, err error, all ...any) {
			lines = append(lines, fmt.Sprintf("  %s %d: %s", what, i, drawn(err, all...)))
		}
		for range 24 {
			i, j := rng.IntN(len(sums)), rng.IntN(len(sums))
			shard := []string{"a", "b", "c", ""}[rng.IntN(4)]
			switch rng.IntN(9) {
			case 0, 1, 2:
				d := rows(t, seed+uint64(i), 1+rng.IntN(5))
				switch rng.IntN(5) {
				case 0:
					d = records.WithUnit(d, records.UnitUser)
				case 1:
					d = records.WithPart(records.WithUnit(d, records.UnitUser), rng.IntN(3), 3)
				case 2:
					d = records.Clamped(d)
				}
				say("add", i, sums[i].Add(t.Context(), d))
			case 3:
				say("begin "+shard, i, sums[i].Begin(shard))
			case 4:
				say("merge", i, sums[i].Merge(sums[j]), j)
			case 5:
				text, err := sums[i].Seal(keys[[]int{0, 0, 0, 1, 2}[rng.IntN(5)]],
					mechanism.Shard{Name: shard, Attempt: fmt.Sprint(rng.IntN(3))})
				if say("seal "+shard, i, err, len(text)); err == nil {
					sealed = append(sealed, text)
				}
			case 6:
				if len(sealed) > 0 {
					some := sealed[rng.IntN(len(sealed)):]
					say("open", i, sums[i].Open(keys[[]int{0, 0, 0, 1}[rng.IntN(4)]], some...), len(some))
				}
			case 7:
				if rng.IntN(4) == 0 {
					sums[i].Reset()
				}
				sums[i] = mechanism.NewPartial(passes[0], schema, adder{mechanism.NewFixedSum(dim, 0x1p-20)},
					false)
			case 8:
				say("check", i, mechanism.CheckPartials("sums", passes[0], []string{records.UnitRecord,
					records.UnitUser}[rng.IntN(2)], sums[i], sums[j]))
			}
			s := sums[i]
			say("  now", i, nil, s.Unit(), s.Real(), s.Like(sums[j]), s.Shards(), s.ID(), len(s.Sums()))
			for _, sum := range s.Sums() {
				say("  sum", i, nil, sum.Exact())
			}
		}
		_, err := key.OpenBytes([]byte("about"), must(key.SealBytes([]byte("about"), nil))(t))
		_, other := key.OpenBytes([]byte("other"), must(key.SealBytes([]byte("about"), []byte{1}))(t))
		say("bytes", 0, errors.Join(err, other))
	}
	comparePins(t, "pins_partials.txt", lines)
}

// TestPinsOfPlannedSamples: the samples of many grants under a known key. With more grants, fewer
// rows share a stream.
func TestPinsOfPlannedSamples(t *testing.T) {
	var lines []string
	for _, c := range []struct {
		grants int
		q      float64
	}{{3, 0.5}, {2200, 0.6}, {4000, 0.9}, {3000, 0.01}} {
		l := ledger.New(accountant.Budget{Epsilon: 1e6, Delta: 1e-6})
		a := must(mechanism.Begin(context.Background(), l).Reserve("planned",
			accountant.SampledSum{Probability: c.q, NoiseMultiplier: 9}, c.grants))(t)
		x := must(mechanism.PlanInclusions(1000, slices.Repeat([]*mechanism.Allowance{a},
			c.grants)...))(t)
		var fields map[string]any
		if err := json.Unmarshal(must(x.Secret())(t), &fields); err != nil {
			t.Fatal(err)
		}
		for name := range fields {
			if strings.EqualFold(name, "key") {
				fields[name] = make([]byte, 32)
			}
		}
		x = must(mechanism.ReadInclusions(must(json.Marshal(fields))(t)))(t)
		var all [][2]int
		for _, part := range [][2]int{{0, 9}, {7, 12}, {990, 1000}} {
			x.Each(part[0], part[1], func(row, grant int) { all = append(all, [2]int{row, grant}) })
		}
		lines = append(lines, fmt.Sprint(c, ": ", drawn(nil, len(all), all)))
	}
	comparePins(t, "pins_planned.txt", lines)
}
