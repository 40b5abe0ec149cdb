package graphical

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// joint returns the model's distribution of all attributes, computed from the definition.
func joint(m *Model) []float64 {
	all := make([]int, len(m.Domain))
	for a := range all {
		all[a] = a
	}
	out := make([]float64, int(m.Domain.Cells(all)))
	for _, f := range m.Factors {
		m.Domain.newView(all, f.Attributes).add(out, f.Theta)
	}
	top, total := slices.Max(out), 0.0
	for i, x := range out {
		out[i] = math.Exp(x - top)
		total += out[i]
	}
	for i := range out {
		out[i] /= total
	}
	return out
}

// random returns a model of five or six attributes with factors of up to three attributes.
func random(rng *rand.Rand) *Model {
	d := make(Domain, 5+rng.IntN(2))
	for a := range d {
		d[a] = 1 + rng.IntN(4)
	}
	var factors []Factor
	for range rng.IntN(7) {
		group := rng.Perm(len(d))[:1+rng.IntN(3)]
		slices.Sort(group)
		f := Factor{group, make([]float64, int(d.Cells(group)))}
		for i := range f.Theta {
			f.Theta[i] = 3 * rng.NormFloat64()
			if rng.IntN(10) == 0 {
				f.Theta[i] = -2000 // the exponential of this underflows to 0
			}
		}
		factors = append(factors, f)
	}
	return NewModel(d, factors)
}

func marginal(d Domain, law []float64, group []int) []float64 {
	all := make([]int, len(d))
	for a := range all {
		all[a] = a
	}
	v := d.newView(all, group)
	out := make([]float64, v.cells)
	v.sum(out, law)
	return out
}

func far(a, b []float64) float64 {
	worst := 0.0
	for i := range a {
		worst = max(worst, math.Abs(a[i]-b[i]))
	}
	return worst
}

// TestBeliefsAreTheLaw: passing messages gives the same marginals as summing over all cells.
func TestBeliefsAreTheLaw(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 400 {
		m := random(rng)
		law := joint(m)
		for _, c := range m.Tree.Cliques {
			if d := far(m.Marginal(c.Attributes), marginal(m.Domain, law, c.Attributes)); d > 1e-8 {
				t.Fatalf("the marginal of clique %v of %v has an error of %v", c, m.Tree, d)
			}
		}
		a, value := rng.IntN(len(m.Domain)), 0
		value = rng.IntN(m.Domain[a])
		weights := make([]float64, m.Domain[a])
		weights[value] = 1
		given, p := m.Given(Observation([]int{a}, weights))
		if d := math.Abs(p - marginal(m.Domain, law, []int{a})[value]); d > 1e-8 {
			t.Fatalf("the probability of a value has an error of %v", d)
		}
		if p > 1e-6 && far(joint(given), bayes(m.Domain, law, a, value, p)) > 1e-6 {
			t.Fatal("a conditioned model is not the distribution given the value")
		}
	}
}

// TestObservations: the model given several observations, some of which need a larger tree, is the
// law times their probabilities, and their probability is the sum. An impossible one has 0.
func TestObservations(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	larger := 0
	for range 300 {
		m := random(rng)
		law, all := joint(m), make([]int, len(m.Domain))
		for i := range all {
			all[i] = i
		}
		var list []Factor
		for range 1 + rng.IntN(3) {
			group := rng.Perm(len(m.Domain))[:1+rng.IntN(2)]
			slices.Sort(group)
			weights := make([]float64, int(m.Domain.Cells(group)))
			for i := range weights {
				weights[i] = float64(rng.IntN(3)) * rng.Float64() / 2
			}
			list = append(list, Observation(group, weights))
			for k, cells := range m.Domain.newView(all, group).cellsOf() {
				for _, cell := range cells {
					law[cell] *= weights[k]
				}
			}
			if m.Tree.Holder(m.Domain, group) < 0 {
				larger++
			}
		}
		want := 0.0
		for _, p := range law {
			want += p
		}
		given, p := m.Given(list...)
		if math.Abs(p-want) > 1e-9*want || want == 0 && p != 0 {
			t.Fatalf("got the probability %v, want %v", p, want)
		}
		for i := range law {
			law[i] /= want
		}
		if d := far(joint(given), law); want > 1e-6 && d > 1e-8 {
			t.Fatalf("the law given observations has an error of %v", d)
		}
	}
	if larger < 20 {
		t.Errorf("%d observations need a larger tree", larger)
	}
}

// TestObservationsAreApart: a model given an observation has no factor in common with the same
// model given another, also where the list of factors has room.
func TestObservationsAreApart(t *testing.T) {
	m := random(rand.New(rand.NewPCG(1, 3)))
	m.Factors = slices.Grow(m.Factors, 4)
	var weights [2][]float64
	for i := range weights {
		weights[i] = make([]float64, m.Domain[0])
		weights[i][i] = 1
	}
	first, _ := m.Given(Observation([]int{0}, weights[0]))
	m.Given(Observation([]int{0}, weights[1]))
	if theta := first.Factors[len(m.Factors)].Theta; theta[0] != 0 {
		t.Errorf("the observation has become %v", theta)
	}
}

func bayes(d Domain, law []float64, a, value int, p float64) []float64 {
	all := make([]int, len(d))
	for i := range all {
		all[i] = i
	}
	out := make([]float64, len(law))
	for _, cell := range d.newView(all, []int{a}).cellsOf()[value] {
		out[cell] = law[cell] / p
	}
	return out
}

// TestTreesAreJunctionTrees checks that every group is within a clique. Cliques that share an
// attribute must be connected by cliques that contain this attribute.
func TestTreesAreJunctionTrees(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	for range 300 {
		m := random(rng)
		for _, f := range m.Factors {
			if m.Tree.Holder(m.Domain, f.Attributes) < 0 {
				t.Fatalf("no clique of %v contains %v", m.Tree, f.Attributes)
			}
		}
		for a := range m.Domain {
			tops := 0
			for _, c := range m.Tree.Cliques {
				if slices.Contains(c.Attributes, a) && !slices.Contains(c.Shared, a) {
					tops++
				}
			}
			if tops != 1 {
				t.Fatalf("attribute %d is in %d separate parts of %v, want 1", a, tops, m.Tree)
			}
		}
	}
}

// TestFitsExactMarginals: a fit to measurements without noise reproduces every measurement.
func TestFitsExactMarginals(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for range 20 {
		truth := random(rng)
		law := joint(truth)
		m := NewModel(truth.Domain, nil)
		var list []Measurement
		for _, f := range truth.Factors {
			values := marginal(truth.Domain, law, f.Attributes)
			for i := range values {
				values[i] *= 1000
			}
			list = append(list, Measurement{Attributes: f.Attributes, Values: values, Std: 1})
			m = m.Extended(f.Attributes)
		}
		if err := m.Fit(t.Context(), list, 1000, 4000); err != nil {
			t.Fatal(err)
		}
		for _, one := range list {
			if d := far(marginal(truth.Domain, joint(m), one.Attributes), marginal(truth.Domain, law,
				one.Attributes)); d > 4e-3 {
				t.Errorf("the marginal of %v has an error of %v, want at most 0.004", one.Attributes, d)
			}
		}
	}
}

// TestFitsMergedCells fits tables whose cells were added up in groups of three, and compares the
// sums of the model's cells.
func TestFitsMergedCells(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 2))
	d := Domain{6, 3, 4}
	groups := [][]int{{0, 1}, {1, 2}}
	values := make([][]float64, len(groups))
	merged := make([][]int32, len(groups))
	law := make([]float64, 6*3*4)
	for i := range law {
		law[i] = rng.ExpFloat64() / float64(len(law))
	}
	total := 0.0
	for _, p := range law {
		total += p
	}
	m := NewModel(d, nil).Extended(groups...)
	var list []Measurement
	for i, group := range groups {
		cells := marginal(d, law, group)
		merged[i], values[i] = make([]int32, len(cells)), make([]float64, (len(cells)+2)/3)
		for cell := range cells {
			merged[i][cell] = int32(cell / 3)
			cells[cell] *= 1000 / total
		}
		Merge(values[i], cells, merged[i])
		list = append(list, Measurement{Attributes: group, Values: values[i], Std: 1, Merged: merged[i]})
	}
	if err := m.Fit(t.Context(), list, 1000, 4000); err != nil {
		t.Fatal(err)
	}
	for i, group := range groups {
		got := make([]float64, len(values[i]))
		Merge(got, m.Marginal(group), merged[i])
		for k := range got {
			got[k] *= 1000
		}
		if d := far(got, values[i]); d > 4 {
			t.Errorf("the merged table of %v has an error of %v records of 1000, want at most 4", group, d)
		}
	}
}

// TestDrawsFollowTheLaw compares the counts of each clique with their expectations. They may differ
// by six standard deviations of independent draws, and by one where rows are stratified in one
// step. The false-alarm rate of the whole test is below 1e-6.
func TestDrawsFollowTheLaw(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	const n = 20000
	for range 30 {
		m := random(rng)
		rows := m.Drawer().Draw(rng, n)
		for i, c := range m.Tree.Cliques {
			counts := make([]float64, len(m.nodes[i].law))
			for row := range n {
				at := 0
				for _, a := range c.Attributes {
					at = at*m.Domain[a] + int(rows[a][row])
				}
				counts[at]++
			}
			for k, p := range m.nodes[i].law {
				allowed := 6*math.Sqrt(n*p*(1-p)) + 6
				if c.Parent < 0 {
					allowed = 1 + 1e-6
				}
				if d := math.Abs(counts[k] - n*p); d > allowed {
					t.Fatalf("a cell is drawn %v times, want about %v", counts[k], n*p)
				}
			}
		}
	}
}

// TestRowsOfAGroupAreIndependent: attributes that are independent in the model are independent in
// draws, despite the stratification. χ² with 9 degrees of freedom exceeds 45 with probability 1e-6.
func TestRowsOfAGroupAreIndependent(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	m := NewModel(Domain{4, 4}, nil)
	const n = 16000
	rows := m.Drawer().Draw(rng, n)
	chi := 0.0
	var counts [16]float64
	for i := range n {
		counts[4*rows[0][i]+rows[1][i]]++
	}
	for _, c := range counts {
		chi += (c - n/16) * (c - n/16) / (n / 16)
	}
	if chi > 45 || chi == 0 {
		t.Errorf("χ² of independent attributes is %v, want at most 45 and not 0", chi)
	}
}

// TestFitsFineTables: small cells of large tables are fitted well although a coarse attribute is
// measured too.
func TestFitsFineTables(t *testing.T) {
	const size, total = 40, 20000.0
	d := Domain{size, size, size, 2}
	var list []Measurement
	m := NewModel(d, nil)
	for _, g := range [][]int{{0}, {1}, {2}, {3}, {0, 1}, {1, 2}, {2, 3}} {
		values := make([]float64, int(d.Cells(g)))
		for i := range values {
			last := i % d[g[len(g)-1]]
			p := 1.0
			if len(g) == 2 && g[1] == 3 {
				if p = normal(i / 2); (i/2 >= size/2) != (last == 1) {
					p = 0
				}
			} else if len(g) == 2 {
				first := i / size
				p = 0
				for k := range size { // a mixture of shifted normals, so that marginals differ
					p += normal(first) * math.Exp(-math.Pow(float64(last-first)*0.7, 2)/2) / size / float64(1+k*0)
				}
			}
			values[i] = p
		}
		list = append(list, Measurement{Attributes: g, Values: values, Std: 2})
		m = m.Extended(g)
	}
	// Make the tables consistent: keep each conditional distribution, and compute the marginals from
	// the first one.
	at := map[int][]float64{0: make([]float64, size)}
	for i := range size {
		at[0][i] = normal(i)
	}
	for k := 4; k < 7; k++ {
		g := list[k].Attributes
		b := d[g[1]]
		at[g[1]] = make([]float64, b)
		for i := range size {
			row := list[k].Values[i*b : (i+1)*b]
			sum := 0.0
			for _, p := range row {
				sum += p
			}
			for j := range row {
				row[j] *= at[g[0]][i] / sum
				at[g[1]][j] += row[j]
			}
		}
	}
	for a := range 4 {
		copy(list[a].Values, at[a])
	}
	scale := 0.0
	for _, p := range at[0] {
		scale += p
	}
	for _, one := range list {
		for i := range one.Values {
			one.Values[i] *= total / scale
		}
	}
	if err := m.Fit(t.Context(), list, total, 3000); err != nil {
		t.Fatal(err)
	}
	for _, one := range list {
		variation := 0.0
		for i, p := range m.Marginal(one.Attributes) {
			variation += math.Abs(p-one.Values[i]/total) / 2
		}
		if variation > 0.01 {
			t.Errorf("the marginal of %v has a total variation distance of %.4f, want at most 0.01", one.Attributes, variation)
		}
	}
}

func normal(i int) float64 { return math.Exp(-math.Pow((float64(i)-19.5)/8, 2) / 2) }

// TestFittedModelsAreReadBack checks that a model made of a fitted model's factors has the same
// distributions, also if a factor was outside the range that models have.
func TestFittedModelsAreReadBack(t *testing.T) {
	m := NewModel(Domain{3, 2}, []Factor{{[]int{0}, make([]float64, 3)},
		{[]int{0, 1}, make([]float64, 6)}})
	copy(m.Factors[1].Theta, []float64{1, 2, -3e5, 1e6, 4e5, math.NaN()})
	list := []Measurement{{Attributes: []int{0}, Values: []float64{1, 2, 3}, Std: 1}}
	if err := m.Fit(t.Context(), list, 6, 0); err != nil {
		t.Fatal(err)
	}
	var factors []Factor
	for _, f := range m.Factors {
		factors = append(factors, Factor{f.Attributes, slices.Clone(f.Theta)})
	}
	again := NewModel(m.Domain, factors)
	for i := range m.nodes {
		if !slices.Equal(m.nodes[i].law, again.nodes[i].law) {
			t.Errorf("clique %d: distribution %v, read back %v", i, m.nodes[i].law, again.nodes[i].law)
		}
	}
	for i, f := range again.Factors {
		if !slices.Equal(f.Theta, m.Factors[i].Theta) {
			t.Errorf("factor %d: %v, read back %v", i, m.Factors[i].Theta, f.Theta)
		}
	}
}

// TestFitsComparesCells checks Fits at and just below the number of cells, for random groups.
func TestFitsComparesCells(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	second := 0
	for range 300 {
		d := make(Domain, 7)
		for a := range d {
			d[a] = 2 + rng.IntN(9)
		}
		var groups [][]int
		for range 8 {
			group := rng.Perm(len(d))[:2]
			slices.Sort(group)
			groups = append(groups, group)
		}
		cells := Cells(d, groups)
		if !Fits(d, groups, cells) || Fits(d, groups, cells-1) {
			t.Fatalf("domain %v, groups %v: Fits disagrees with %v cells", d, groups, cells)
		}
		if cells < cellsOf(d, eliminated(d, groups, false)) {
			second++
		}
	}
	if second < 5 {
		t.Errorf("the second order of elimination has fewer cells in %d cases, want 5", second)
	}
}
