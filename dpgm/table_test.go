package dpgm_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/dpgm"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
)

// table returns a small schema with the extra columns first, and then columns of every kind.
func table(t testing.TB, extra ...records.Column) records.Schema {
	t.Helper()
	s, err := records.NewSchema(append(extra,
		records.Numeric("x", -1, 3).WithMissing(),
		records.Numeric("pay", 0, 1e5).Logarithmic(),
		records.Integer("n", 0, 4),
		records.Ordinal("size", "s", "m", "l").WithMissing(),
		records.Categorical("colour", "red", "green", "blue").WithMissing(),
		records.Flag("old", "no", "yes"),
	)...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// someRows returns n records of a table whose cells are drawn independently.
func someRows(t testing.TB, s records.Schema, n int, seed uint64) *records.Frame {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 7))
	b := must(records.NewFrameBuilder(s))(t)
	for range n {
		var row []any
		for _, c := range s.Columns() {
			switch levels := c.Levels(); {
			case c.HasMissing() && rng.IntN(4) == 0:
				row = append(row, nil)
			case len(levels) > 0:
				row = append(row, levels[rng.IntN(len(levels))])
			default:
				lo, hi := c.Bounds()
				row = append(row, lo+(hi-lo)*rng.Float64())
			}
		}
		if err := b.Append(row...); err != nil {
			t.Fatal(err)
		}
	}
	return b.Frame()
}

// drawn returns n records of a generator as encoded rows.
func drawn(t testing.TB, g *synth.Generator, n int, opts ...synth.DrawOption) (rows [][]float32) {
	t.Helper()
	for chunk, err := range g.Stream(t.Context(), n, opts...) {
		if err != nil {
			t.Fatal(err)
		}
		if err := records.Check(chunk); err != nil {
			t.Fatalf("synthetic records outside the schema: %v", err)
		}
		if !chunk.Schema().Equal(g.Schema()) {
			t.Fatalf("drawn records have schema %v, want %v", chunk.Schema(), g.Schema())
		}
		frame, ok := chunk.(*records.Frame)
		if !ok {
			t.Fatalf("a chunk is a %T, want *records.Frame", chunk)
		}
		for i := range frame.Len() {
			rows = append(rows, frame.Row(nil, i))
		}
	}
	return rows
}

// TestTables fits, samples, saves and loads every variant on tables, under both relations.
// Synthetic rows must be valid rows of the table without its label.
func TestTables(t *testing.T) {
	for _, s := range []records.Schema{table(t, records.Label("class", "a", "b")), table(t)} {
		for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
			for name, c := range variants(s, r) {
				t.Run(s.String()+"/"+r.String()+"/"+name, func(t *testing.T) {
					g := must(reread(t, mustPlan(t, c)).Fit(t.Context(), someRows(t, s, 60, 1)))(t)
					const n = 300
					rows := drawn(t, g, n, synth.Seed(3))
					checkColours(t, s, rows)
					drawn(t, g, 50, synth.Seed(3), synth.Means(), synth.FromCluster(g.Clusters()-1))
					var file bytes.Buffer
					if err := g.Save(&file); err != nil {
						t.Fatal(err)
					}
					back := must(systems.Load(&file))(t)
					same(t, drawn(t, back, n, synth.Seed(3)), rows)
				})
			}
		}
	}
}

// checkColours checks that rows contain every level of colour, and also missing colours. The
// networks have hardly been trained, so each of the four has a probability near 1/4. Even if each
// probability is only 1/14, a colour is absent from 300 rows with probability below 1e-9.
func checkColours(t *testing.T, s records.Schema, rows [][]float32) {
	t.Helper()
	for _, b := range s.WithoutLabels().Blocks() {
		if !b.OneHot {
			continue
		}
		for j := b.Offset; j < b.Offset+b.Width; j++ {
			if !slices.ContainsFunc(rows, func(r []float32) bool { return r[j] == 1 }) {
				t.Errorf("no drawn row has a 1 in coordinate %d", j)
			}
		}
	}
}

// reread writes a plan and returns the plan read from the result.
func reread(t *testing.T, p *dpgm.Plan) synth.Plan {
	t.Helper()
	text := must(json.Marshal(p))(t)
	return must(systems.ReadPlan(text))(t)
}

func same(t *testing.T, got, want [][]float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d records, want %d", len(got), len(want))
	}
	for i := range want {
		for j := range want[i] {
			if got[i][j] != want[i][j] {
				t.Fatalf("record %d, coordinate %d: got %v, want %v", i, j, got[i][j], want[i][j])
			}
		}
	}
}

// TestRowsOfTablesAreValid checks that ten thousand rows are valid even if noise has made the
// networks' parameters large.
func TestRowsOfTablesAreValid(t *testing.T) {
	s := table(t)
	c := small(s, accountant.AddOrRemoveOne)
	c.Train.Optimizer = sgd.Adam(10) // parameters of about 10 give extreme outputs
	if n := len(drawn(t, fit(t, c, someRows(t, s, 60, 1)), 10_000)); n != 10_000 {
		t.Errorf("got %d records, want 10,000", n)
	}
}

// linked returns records whose columns depend on the colour. Red records have a missing x and are
// old; the others have x near 2. Blue records have n = 4, the others n = 1.
func linked(t testing.TB, n int) *records.Frame {
	t.Helper()
	s := must(records.NewSchema(records.Categorical("colour", "red", "green", "blue"),
		records.Numeric("x", -1, 3).WithMissing(), records.Label("class", "a", "b"),
		records.Integer("n", 0, 4), records.Flag("old", "no", "yes")))(t)
	b := must(records.NewFrameBuilder(s))(t)
	rng := rand.New(rand.NewPCG(3, 3))
	for i := range n {
		row := []any{"green", 1.5 + rng.Float64(), "a", 1, "no"}
		switch i % 4 {
		case 0, 1:
			row = []any{"red", nil, "b", 1, "yes"}
		case 2:
			row[0], row[3] = "blue", 4
		}
		if err := b.Append(row...); err != nil {
			t.Fatal(err)
		}
	}
	return b.Frame()
}

// TestTablesAreLearnt checks what networks learn with little noise: the frequencies of levels, the
// mean of the numbers present, and the dependence between columns. Noise and samples have fixed
// seeds. The tolerances are wide, because networks trained for few steps are inaccurate. Permuted
// or independent columns would still exceed them.
func TestTablesAreLearnt(t *testing.T) {
	data := linked(t, 400)
	for name, arch := range map[string]models.DensityArchitecture{
		"vae": models.VAE{Hidden: []int{20}, Latent: 2},
		"rbm": models.RBM{Hidden: 8, Chains: 300, Sweeps: 3},
	} {
		t.Run(name, func(t *testing.T) {
			c := small(data.Schema(), accountant.AddOrRemoveOne)
			c.Budget.Epsilon = 1e4
			c.Cluster.Iterations, c.Model, c.Average = 5, arch, 0.98
			c.Train = sgd.Config{ClipNorm: 10, SamplingProbability: 0.5, Steps: 600,
				Optimizer: sgd.Adam(1e-2)}
			g := fitUnder(t, privacytest.Seeded(t, t.Context(), 1), c, data)
			checkLinked(t, drawn(t, g, 4000, synth.Seed(1)))
		})
	}
}

// checkLinked checks encoded rows of linked: colour begins at coordinate 0, x is 3, the missing
// indicator of x is 4, n is 5 and old is 6.
func checkLinked(t *testing.T, rows [][]float32) {
	t.Helper()
	n := float64(len(rows))
	var red, blue, present, x, linkedMissing, ofBlue, ofOthers float64
	for _, r := range rows {
		red, blue = red+float64(r[0])/n, blue+float64(r[2])/n
		if r[4] == 0 {
			present++
			x += float64(r[3])
		}
		if (r[4] == 1) == (r[0] == 1) && r[4] == r[6] {
			linkedMissing += 1 / n
		}
		ofBlue, ofOthers = ofBlue+float64(r[5]*r[2]), ofOthers+float64(r[5]*(1-r[2]))
	}
	ofBlue, ofOthers = ofBlue/(blue*n), ofOthers/((1-blue)*n)
	x = 4*x/present - 1
	t.Logf("red %.3f, blue %.3f, x %.3f, missing and old with red %.3f, "+
		"n/4 %.3f of blue, %.3f of others",
		red, blue, x, linkedMissing, ofBlue, ofOthers)
	if math.Abs(red-0.5) > 0.1 || math.Abs(blue-0.25) > 0.1 || math.Abs(x-2) > 0.25 {
		t.Errorf("red %v, want 0.5; blue %v, want 0.25; x %v, want 2", red, blue, x)
	}
	if linkedMissing < 0.85 || ofBlue-ofOthers < 0.3 {
		t.Errorf("colour, x and old agree in %v of the rows; n/4 is %v for blue and %v for others, want 1 and 0.25",
			linkedMissing, ofBlue, ofOthers)
	}
}

// TestMeansOfTablesAreTheMostProbableLevels checks that drawing means from a cluster of equal
// records gives these records.
func TestMeansOfTablesAreTheMostProbableLevels(t *testing.T) {
	data := linked(t, 400)
	c := small(data.Schema(), accountant.AddOrRemoveOne)
	c.Budget.Epsilon = 1e4
	c.Train.Steps = 300
	g := fitUnder(t, privacytest.Seeded(t, t.Context(), 1), c, data)
	var b device.Batch
	data.Range(0, 1, &b) // a red record
	cluster := make([]int32, 1)
	g.Assign(b, cluster)
	for _, r := range drawn(t, g, 200, synth.FromCluster(int(cluster[0])), synth.Means()) {
		if r[0] != 1 || r[4] != 1 || r[6] != 1 {
			t.Fatalf("the most probable row is %v, want a red record with missing x that is old", r)
		}
	}
}

// TestMarginalsOfTablesAreRefused checks that Plan returns an error for marginals of a table.
func TestMarginalsOfTablesAreRefused(t *testing.T) {
	c := small(table(t), accountant.AddOrRemoveOne)
	c.Marginals = &dpgm.Marginals{Share: 0.3}
	_, err := c.Plan()
	var p *param.Error
	if !errors.As(err, &p) || p.Path != "dpgm.Marginals.Schema" ||
		!strings.Contains(p.Want, "binary") {
		t.Errorf("marginals of a table: got %v, want *param.Error for the schema", err)
	}
}

// TestFilesOfTablesThatLieAreRefused checks that a file is refused if its columns differ or its
// chains are not valid rows.
func TestFilesOfTablesThatLieAreRefused(t *testing.T) {
	c := small(table(t), accountant.AddOrRemoveOne)
	c.Model = models.RBM{Hidden: 5, Chains: 4}
	file := encoded(t, fit(t, c, someRows(t, c.Schema, 60, 1)))
	for name, change := range map[string][2]string{
		"one level more": {`"blue"`, `"blue","grey"`},
		"one level less": {`"green",`, ``},
	} {
		lie := *file
		lie.Header = bytes.Replace(file.Header, []byte(change[0]), []byte(change[1]), 1)
		if _, err := read(&lie); bytes.Equal(lie.Header, file.Header) ||
			!errors.Is(err, synth.ErrFormat) {
			t.Errorf("%s: got %v, want ErrFormat", name, err)
		}
	}
	lie := *file
	lie.Sections = slices.Clone(file.Sections)
	for i, section := range lie.Sections {
		if strings.HasSuffix(section.Name, "state") {
			lie.Sections[i].Data = bytes.Repeat([]byte{0xff}, len(section.Data))
		}
	}
	if _, err := read(&lie); !errors.Is(err, synth.ErrFormat) {
		t.Errorf("chains that are not valid rows: got %v, want ErrFormat", err)
	}
}

// TestPlansSayThatLabelsAreLost: the plan of a schema with classes says that generated records have
// none, since nothing else does before the budget is spent.
func TestPlansSayThatLabelsAreLost(t *testing.T) {
	s := linked(t, 1).Schema()
	for _, s := range []records.Schema{s, s.WithoutLabels()} {
		p := must(dpgm.Config{Schema: s, Nominal: 5000,
			Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5}}.Plan())(t)
		want := s.Classes() > 0
		if got := strings.Contains(p.String(), "labels are not modelled"); got != want {
			t.Errorf("%d classes: the plan says that labels are lost: %v, want %v\n%v", s.Classes(), got,
				want, p)
		}
	}
}
