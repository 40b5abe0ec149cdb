package marginal

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/pins"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// pinnedSchemas returns schemas with columns of every kind, also of more values than coordinates
// tell apart.
func pinnedSchemas(t *testing.T) []records.Schema {
	list := []records.Schema{everyColumn(t),
		must(t, append(partColumns(), records.Target("y", -2, 50))...)}
	if strconv.IntSize == 64 {
		list = append(list, must(t, append(hugeColumns(), records.Flag("f", "no", "yes"))...))
	}
	return list
}

// pinnedCounts returns counts of a column's codes with frequent codes, rare ones and an empty tail.
func pinnedCounts(codes int, rng *rand.Rand) []float64 {
	counts := make([]float64, codes)
	for code := range counts {
		x := float64(code+1) / float64(codes+1)
		counts[code] = 40*x*(1-x)*(1-x) + 6*rng.NormFloat64()
		if rng.IntN(9) == 0 {
			counts[code] += 400 * rng.Float64()
		}
	}
	return counts
}

// TestPins holds all that is computed from released counts, and numbers drawn by it, to the bits
// that they had.
func TestPins(t *testing.T) {
	for i, s := range pinnedSchemas(t) {
		for _, cells := range []int{8, 35, MostCells} {
			list := AttributesIn(s, cells)
			for j, a := range list {
				t.Run(fmt.Sprint(i, " ", cells, " ", j), func(t *testing.T) {
					rng := rand.New(rand.NewPCG(uint64(100*i+cells), uint64(j)))
					pinAttribute(t, s, a, pinnedCounts(a.Codes, rng), rng)
				})
			}
		}
	}
}

func pinAttribute(t *testing.T, s records.Schema, a Attribute, counts []float64, rng *rand.Rand) {
	t.Helper()
	parts := map[string][]byte{"attribute": fmt.Append(nil, a.Block, a.Codes, a.Cells, a.Missing,
		a.Ordered(), a.Class())}
	add := func(name string, values ...any) { parts[name] = fmt.Appendln(parts[name], values...) }
	total := 0.0
	for _, c := range counts {
		total += max(c, 0)
	}
	simplex := Simplex(counts, total)
	add("simplex", simplex, Simplex(counts, total/3))
	for _, groups := range []int{2, 5, 16} {
		k := Surveyed{Counts: [][]float64{counts}, Noise: []float64{6}, Total: total}
		for _, g := range []Grouping{k.Grouping(0, a, groups), a.Grouped(simplex, 0.02, groups)} {
			members, choices := g.Members()
			values, sizes := k.Sums(0, g)
			add("groups", g.Group, g.Part, g.Size, members, choices, values, sizes)
			for _, coarse := range []int{2, 3, 5} {
				merged := g
				a.Coarsen(&merged, coarse)
				add("coarse", merged.Coarse, merged.CoarseSize, a.Coarsens(g.Size, coarse),
					g.Merged(a, coarse).Group)
			}
			add("state", GroupState([]Grouping{g}), PassState([]Grouping{g}))
		}
		add("divided", k.Divide([]Attribute{a}, 30), k.Divide([]Attribute{a}, 200).State())
	}
	if !a.Block.OneHot && !a.Class() {
		for _, part := range [][]float64{simplex, make([]float64, a.Codes)} {
			scale := a.Scale(part)
			for i := range 60 {
				x := float64(i) / 59
				add("ranks", scale.Rank(x), scale.Number(x), scale.code(x))
			}
		}
	}
	var z records.Nonzeros
	z.Reset()
	spans := []records.Span{{Lo: 0, Hi: 0.26}, {Lo: 0.5, Hi: 0.61}, {Lo: 0.9, Hi: 1}}
	conditions := records.Condition{Missing: true, Spans: spans, Levels: make([]bool, a.Codes)}
	for code := range min(a.Codes, 200) {
		conditions.Levels[code] = code%2 == 0
		add("allowed", a.Allowed(code, conditions))
		if a.Class() {
			continue
		}
		p := a.partsOf(code)
		var in *Parts
		if p.n > 1 {
			weights := make([]float64, p.n)
			for part := range weights {
				weights[part] = 1 + rng.Float64()
			}
			in = newParts(p, weights)
			of, left := in.Within(spans)
			add("within", p.n, p.equal, of != nil, left, p.of(rng.Float64()))
			for part := range min(p.n, 20) {
				from, to := p.ends(part)
				add("ends", p.value(part), from, to, p.allowed(part, spans))
			}
		}
		for _, given := range [][]records.Span{nil, spans} {
			if given != nil && !(a.Allowed(code, conditions) > 0) {
				continue
			}
			a.Write(&z, code, given, nil, rng)
			if in != nil {
				a.Write(&z, code, given, in, rng)
			}
			z.End()
		}
	}
	add("written", z.Places, z.Values)
	if n := len(counts); n > 20 {
		add("weights", partWeights(counts, n/2, 6, total), partWeights(counts, 0, 60, total),
			partWeights(counts, len(counts), 1, 9), partWeights(counts, 0, 1e6, total))
	}
	l := layoutOf(a)
	add("halves", l, l.intervals(), l.depth(), l.fractions(counts[:max(a.Codes-1, 0)], total, 6),
		l.fractions(counts[:max(a.Codes-1, 0)], total, 0.01))
	pins.Check(t, parts)
}

// TestPinsOfReleases holds surveys, parts of cells and halves to the bits that they had.
func TestPinsOfReleases(t *testing.T) {
	for i, s := range pinnedSchemas(t) {
		rng := rand.New(rand.NewPCG(uint64(i), 5))
		rows := make([][]any, 80)
		for k := range rows {
			for _, c := range s.Columns() {
				lo, hi := c.Bounds()
				switch levels := c.Levels(); {
				case c.HasMissing() && rng.IntN(5) == 0:
					rows[k] = append(rows[k], nil)
				case len(levels) > 0:
					rows[k] = append(rows[k], levels[min(rng.IntN(len(levels)), rng.IntN(len(levels)))])
				default:
					rows[k] = append(rows[k], lo+(hi-lo)*rng.Float64()*float64(k%3)/2)
				}
			}
		}
		data, err := records.FromValues(s, rows...)
		if err != nil {
			t.Fatal(err)
		}
		keys := make([]int, len(rows))
		for k := range keys {
			keys[k] = k * k % 51
		}
		people, err := records.GroupBy(data, keys, 3)
		if err != nil {
			t.Fatal(err)
		}
		for kind, d := range map[string]records.Data{"rows": data, "persons": people} {
			for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
				t.Run(fmt.Sprint(i, " ", kind, " ", r), func(t *testing.T) { pinReleases(t, d, r) })
			}
		}
	}
}

// TestPinsOfDivisions holds which cells of few values may be divided.
func TestPinsOfDivisions(t *testing.T) {
	var text []byte
	for _, most := range []int{20, 41, 90, 200} {
		a := AttributesIn(must(t, records.Integer("n", 0, most), records.Flag("f", "no", "yes")), 20)
		for code := range a[0].Codes {
			d := Division{{code}, nil}
			text = fmt.Appendln(text, a[0].partsOf(code).n, d.Valid(a))
		}
	}
	pins.Check(t, map[string][]byte{"valid": text})
}

func pinReleases(t *testing.T, d records.Data, r accountant.Relation) {
	t.Helper()
	const z = 3.0
	s := d.Schema()
	a := AttributesIn(s, 20)
	survey, halves := Survey{a, r}, Halves{a, r}
	parts := map[string][]byte{"drawable": fmt.Append(nil, survey.Drawable(z), halves.Drawable(z),
		survey.firsts(), halves.size(), halves.squaredSensitivity())}
	var known Surveyed
	budget := accountant.Budget{Epsilon: 1e3, Delta: 1e-5, Relation: r}
	run := func(name string, state []byte, counter func() *Histogram, std []float64,
		release func(context.Context, *synth.Run) (any, error)) {
		t.Helper()
		if s.RowsPerPerson() > 0 {
			return // the system of this test takes rows
		}
		w := counting{s, state, counter, func(ctx context.Context, run *synth.Run) error {
			out, err := release(ctx, run)
			parts[name] = fmt.Append(nil, out, std)
			return err
		}}
		event := accountant.Gaussian{NoiseMultiplier: z}
		p, err := synth.NewPassProgram("counting", s, budget, []synth.Stage{{Purpose: "use",
			Event: event, Count: 1, Once: true}}, w)
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.FitOn(privacytest.Seeded(t, t.Context(), 7), ledger.New(budget), d,
			synth.OnProgress(func(at synth.Progress) {
				parts[name+"seen"] = fmt.Append(nil, at.Stage, at.Step, at.Of)
			}))
		if err != nil && parts[name] == nil {
			t.Fatal(err)
		}
	}
	known.Counts, known.Total = make([][]float64, len(a)), 50
	for j := range a {
		known.Counts[j], known.Noise = make([]float64, a[j].Codes), append(known.Noise, 3)
		known.Counts[j][a[j].Codes/2] = 20
	}
	others, goal := survey.Std(z)
	run("survey", nil, survey.Counter, []float64{others, goal},
		func(ctx context.Context, r *synth.Run) (out any, err error) {
			known, err = survey.Release(ctx, r, "use", z)
			return known, err
		})
	run("halves", nil, halves.Counter, []float64{halves.Std(z)},
		func(ctx context.Context, r *synth.Run) (any, error) { return halves.Release(ctx, r, "use", z) })
	within := PartSurvey{a, known.Divide(a, 3), r}
	run("parts", within.Division.State(), within.Counter, []float64{within.Std(z)},
		func(ctx context.Context, r *synth.Run) (any, error) {
			return within.Release(ctx, r, "use", z, known)
		})
	var sums []byte
	for _, c := range []*Histogram{survey.Counter(), halves.Counter(), within.Counter()} {
		if err := c.Add(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		for _, sum := range c.Sums() {
			sums = fmt.Append(sums, sum.Exact(), sum.Grid())
		}
	}
	divided := known.Divide(a, 3)
	weights := make([]float64, PartSurvey{a, divided, r}.size())
	for i := range weights {
		weights[i] = float64(1 + i%5)
	}
	of, ok := divided.Parts(a, weights)
	for j, list := range of {
		for code := range a[j].Codes {
			if p := list[code]; p != nil {
				sums = fmt.Append(sums, j, code, p.n, p.equal, p.first, p.every, p.weights, p.choice)
			}
		}
	}
	back, valid := ReadDivision(a, divided.State())
	var groups []Grouping
	for j := range a {
		g := known.Grouping(j, a[j], 5)
		a[j].Coarsen(&g, 3)
		groups = append(groups, g)
	}
	read, right := ReadPassState(a, PassState(groups), 3)
	parts["states"] = fmt.Append(nil, ok, back, valid, read, right, within.Drawable(z))
	var z0 records.Nonzeros
	if rows, _ := records.RowsOf(d); rows != nil {
		z0.Range(rows, 0, rows.Len())
	}
	codes, sizes, shares := make([][]uint16, len(a)), make([]int, len(a)), make([]int64, z0.Rows)
	CodesOf(a, &z0, codes)
	for j := range a {
		sizes[j] = a[j].Codes
	}
	for i := range shares {
		shares[i] = int64(1 + i%4)
	}
	EachGroup(4, 3, func(g []int) {
		for n := 1; n <= 3; n++ {
			cells := 1
			for _, j := range g[:n] {
				cells *= sizes[j]
			}
			rows, shared := make([]int64, cells), make([]int64, cells)
			CountCells(sizes, g[:n], codes, slices.Repeat([]int64{1}, len(shares)), rows)
			CountCells(sizes, g[:n], codes, shares, shared)
			sums = fmt.Append(sums, rows, shared)
		}
	})
	parts["counts"] = append(sums, fmt.Sprint(known.Divide(a, 3))...)
	pins.Check(t, parts)
}
