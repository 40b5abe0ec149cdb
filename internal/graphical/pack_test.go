package graphical

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"
)

// crowded returns a model of flags in one clique, with a factor of every one to four of them.
func crowded(flags int) *Model {
	rng := rand.New(rand.NewPCG(7, 7))
	m := &Model{}
	for range flags {
		m.Domain = append(m.Domain, 2)
	}
	var add func(group []int)
	add = func(group []int) {
		if len(group) > 0 {
			theta := make([]float64, 1<<len(group))
			for i := range theta {
				theta[i] = rng.NormFloat64() / 4
			}
			m.Factors = append(m.Factors, Factor{append([]int(nil), group...), theta})
		}
		first := 0
		if len(group) > 0 {
			first = group[len(group)-1] + 1
		}
		for a := first; a < flags && len(group) < 4; a++ {
			add(append(group, a))
		}
	}
	add(nil)
	return m
}

// TestPackedFactors checks that factors of a large clique that are added up in small tables give
// the distribution that they give one by one, and that each is in one pack within its clique.
func TestPackedFactors(t *testing.T) {
	raw := crowded(16)
	var both []Factor
	for _, f := range raw.Factors {
		own := Factor{Theta: f.Theta} // of another clique
		for _, a := range f.Attributes {
			own.Attributes = append(own.Attributes, a+16)
		}
		both = append(both, f, own)
	}
	m := NewModel(append(raw.Domain, raw.Domain...), both)
	var groups [][]int
	for _, f := range m.Factors {
		groups = append(groups, f.Attributes)
	}
	list := m.Tree.packs(m.Domain, groups, packedPart)
	seen := map[int]bool{}
	for _, p := range list {
		for _, i := range p.factors {
			if seen[i] || p.node != m.Tree.Holder(m.Domain, groups[i]) ||
				len(union(p.attributes, groups[i])) > len(p.attributes) {
				t.Fatalf("factor %d of %v in a pack of %v", i, groups[i], p.attributes)
			}
			seen[i] = true
		}
	}
	if len(seen) != len(m.Factors) || len(list) > len(m.Factors)/10 {
		t.Errorf("%d of %d factors in %d packs", len(seen), len(m.Factors), len(list))
	}
	packed := [2][]float64{m.Marginal(seq(16)), m.Marginal(m.Tree.Cliques[1].Attributes)}
	m.packs = nil
	for i, f := range m.Factors {
		one := pack{m.Tree.Holder(m.Domain, f.Attributes), f.Attributes, []int{i}}
		m.packs = append(m.packs, m.Domain.newPacking(one, m.Factors))
	}
	m.pass() // in logarithms: no clique has thousands of factors whose largest weights agree
	alone := [2][]float64{m.Marginal(seq(16)), m.Marginal(m.Tree.Cliques[1].Attributes)}
	for k := range alone {
		for i, p := range alone[k] {
			if !(math.Abs(p-packed[k][i]) <= 1e-12*p) {
				t.Fatalf("cell %d has the probability %v, and %v with packs", i, p, packed[k][i])
			}
		}
	}
}

// TestCrowdedCliquesAreQuick checks that thousands of factors of one clique, which a file of a few
// hundred kilobytes can hold, take little memory and time: one by one they take 3 GB.
func TestCrowdedCliquesAreQuick(t *testing.T) {
	raw := crowded(18)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	m := NewModel(raw.Domain, raw.Factors)
	c := m.Completer(1)
	c.Complete(rand.New(rand.NewPCG(1, 1)), make([]uint16, 18))
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) >> 20; got > 300 || took > 20*time.Second {
		t.Errorf("%d factors: %d MB, %v", len(m.Factors), got, took)
	}
}

// TestEndlessTreesAreQuick checks that a tree that no model has is known in little time: a file of
// some hundred kilobytes describes one whose elimination would take seconds.
func TestEndlessTreesAreQuick(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var d Domain
	var groups [][]int
	for range 1024 {
		d = append(d, 2)
	}
	for range 2500 {
		groups = append(groups, union(rng.Perm(len(d))[:8], nil))
	}
	start := time.Now()
	cells := Cells(d, groups)
	if took := time.Since(start); !(cells > endless) || took > 2*time.Second {
		t.Errorf("%g cells after %v", cells, took)
	}
}
