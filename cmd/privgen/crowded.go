package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed7ba64551/privgen/records"
)

// Systems divide the bounds of a column of numbers into about a hundred cells. If nearly all
// numbers lie in one of them, synthetic numbers cannot differ as the real ones do.
const (
	crowdedCells = 100
	crowdedPart  = 0.9 // of the numbers between the bounds
	crowdedLeast = 100 // fewer numbers are not judged
)

// crowded returns, for each column of which nearly all numbers lie in one of a hundred cells, a
// remark that says how to change the schema. Numbers at a bound do not count: many columns are
// mostly zero. The remarks depend on the records without noise, so they are not private.
func crowded(f *records.Frame) (remarks []string) {
	for j, c := range f.Schema().Columns() {
		if !c.IsNumber() || c.LogUnit() > 0 || c.Kind() == records.DatetimeColumn {
			continue
		}
		lo, hi := c.Bounds()
		var counts [crowdedCells]int
		total := 0
		for _, x := range f.Numbers(j) {
			if at := crowdedCells * (x - lo) / (hi - lo); at > 0 && at < crowdedCells {
				counts[int(at)]++
				total++
			}
		}
		most := slices.Max(counts[:])
		if total < crowdedLeast || float64(most) < crowdedPart*float64(total) {
			continue
		}
		advice := "narrower bounds"
		if cell := slices.Index(counts[:], most); cell == 0 && lo >= 0 {
			advice = `"logarithmic" or narrower bounds`
		}
		remarks = append(remarks, fmt.Sprintf("%d %% of column %s (want %s)",
			int(math.Floor(100*float64(most)/float64(total))), c.Name(), advice))
	}
	return remarks
}

// warnCrowded tells the owner of the records in a file which columns have bounds that are too wide.
func (a *app) warnCrowded(path string, d records.Data) {
	f, ok := records.AsFrame(d)
	if !ok || a.quiet {
		return
	}
	if remarks := crowded(f); len(remarks) > 0 {
		a.note("%s: nearly all numbers lie in a hundredth of their bounds: %s. These counts have no "+
			"noise: do not publish them", path, strings.Join(remarks, ", "))
	}
}
