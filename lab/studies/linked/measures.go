package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/records"
)

var measureNames = []string{"lengths", "columns", "pairs", "parent", "steps", "starts", "ends"}

// A coder turns cells into one of few codes.
type coder struct {
	column int
	levels int
	edges  []float64
}

func coders(f *records.Frame) (list []coder) {
	for j, c := range f.Schema().Columns() {
		if !c.IsNumber() {
			list = append(list, coder{j, len(c.Levels()) + 1, nil})
			continue
		}
		numbers := f.Numbers(j)
		slices.Sort(numbers)
		var edges []float64
		for k := 1; k < 16; k++ {
			if at := k * len(numbers) / 16; at < len(numbers) {
				edges = append(edges, numbers[at])
			}
		}
		edges = slices.Compact(edges)
		list = append(list, coder{j, len(edges) + 2, edges})
	}
	return list
}

func (c coder) code(f *records.Frame, row int) int {
	if c.edges == nil {
		return f.Level(row, c.column) + 1
	}
	v := f.Number(row, c.column)
	if math.IsNaN(v) {
		return 0
	}
	at, found := slices.BinarySearch(c.edges, v)
	if found {
		at++
	}
	return at + 1
}

// A histogram counts pairs of codes.
type histogram map[[2]int]float64

func (h histogram) distance(o histogram) float64 {
	total := func(h histogram) (sum float64) {
		for _, n := range h {
			sum += n
		}
		return max(sum, 1)
	}
	a, b, sum := total(h), total(o), 0.0
	for k, n := range h {
		sum += math.Abs(n/a - o[k]/b)
	}
	for k, n := range o {
		if h[k] == 0 {
			sum += n / b
		}
	}
	return sum / 2
}

// counted are all tables of counts of one data set, by kind and name.
type counted map[string]map[string]histogram

func (c counted) add(kind, name string, a, b int, n float64) {
	if c[kind] == nil {
		c[kind] = map[string]histogram{}
	}
	if c[kind][name] == nil {
		c[kind][name] = histogram{}
	}
	c[kind][name][[2]int{a, b}] += n
}

// count counts everything that is compared. times says how often each row of the root counts; nil
// means once.
func (out counted) count(l *records.Linked, codes [][]coder, t records.Tables, times []float64) {
	list := listed(t)
	for i := 1; i < len(list); i++ {
		rows, up := l.Table(i)
		at := parentOf(t, i)
		parents, _ := l.Table(at)
		lengths := make([]int, parents.Len())
		weights := make([]float64, parents.Len())
		for r := range weights {
			weights[r] = 1
			if times != nil {
				weights[r] = times[rootOf(l, t, at, r)]
			}
		}
		own, above := codes[i], codes[at]
		for r := range rows.Len() {
			lengths[up[r]]++
			n := weights[up[r]]
			first := r == 0 || up[r] != up[r-1]
			last := r+1 == rows.Len() || up[r+1] != up[r]
			for j, c := range own {
				name := fmt.Sprint(i, " ", j)
				v := c.code(rows, r)
				out.add("columns", name, v, 0, n)
				for k, d := range own[:j] {
					out.add("pairs", fmt.Sprint(name, " ", k), v, d.code(rows, r), n)
				}
				for k, d := range above {
					out.add("parent", fmt.Sprint(name, " ", k), v, d.code(parents, int(up[r])), n)
				}
				if !list[i].Ordered {
					continue
				}
				if !first {
					out.add("steps", name, v, c.code(rows, r-1), n)
				} else {
					out.add("starts", name, v, 0, n)
				}
				if last {
					out.add("ends", name, v, 0, n)
				}
			}
		}
		for r, length := range lengths {
			out.add("lengths", fmt.Sprint(i), length, 0, weights[r])
		}
	}
}

// rootOf returns the row of the root that row r of table i belongs to.
func rootOf(l *records.Linked, t records.Tables, i, r int) int {
	for ; i > 0; i = parentOf(t, i) {
		_, up := l.Table(i)
		r = int(up[r])
	}
	return r
}

// parentOf returns the number of the table above table i.
func parentOf(t records.Tables, i int) int {
	at, parent := 0, -1
	var walk func(t records.Tables, above int)
	walk = func(t records.Tables, above int) {
		if at == i {
			parent = above
		}
		own := at
		at++
		for _, c := range t.Children {
			walk(c, own)
		}
	}
	walk(t, -1)
	return parent
}

// compare returns the distances of the kinds of measureNames.
func compare(real, other counted) (out []float64) {
	for _, kind := range measureNames {
		sum := 0.0
		for name, h := range real[kind] {
			sum += h.distance(other[kind][name])
		}
		out = append(out, sum/max(float64(len(real[kind])), 1))
	}
	return out
}
