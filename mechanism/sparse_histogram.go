package mechanism

import (
	"hash/fnv"
	"maps"
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/ledger"
)

// SparseHistogram adds Gaussian noise to every positive count, and returns the texts whose noisy
// counts reach the threshold of the event, with these counts. Each element of counts has the texts
// of another column.
//
// Guarantee: the cost of the release is the cost of the grant's accountant.SparseHistogram. A
// record must add at most 1 to each of at most Cells counts. The noise is drawn as the exact
// rounding of the ideal normal to a grid, and added in integers (noise class: exact). Errors:
// [ErrNotCovered] under any other event, at a second call, and for noise that does not fit a grid.
func (g *Grant) SparseHistogram(counts []map[string]int64) ([]map[string]float64, error) {
	e, ok := g.a.terms.other.(accountant.SparseHistogram)
	if !ok {
		return nil, g.a.refuse("the event is not an accountant.SparseHistogram")
	}
	g.a.mu.Lock()
	defer g.a.mu.Unlock()
	grid := math.Min(math.Ldexp(powerBelow(e.Sigma), -argmaxBits), 1)
	if !(grid >= finestCount && e.Threshold/grid <= 1<<52) {
		return nil, g.a.refuse("noise of standard deviation %v on counts with the threshold %v: must be "+
			"at least 2^-24, and a threshold of at most 2^52 steps of its grid", e.Sigma, e.Threshold)
	}
	l, err := g.a.normal(e.Sigma, grid)
	if err != nil {
		return nil, g.a.refuse("%v", err)
	}
	if err := g.chargeOnce(); err != nil {
		return nil, err
	}
	// A sum that is rounded to the grid is off by half a step. With a whole step more, no count of 1
	// is released that the event does not release.
	unit, least := int64(1/grid), int64(math.Ceil(e.Threshold/grid))+1
	g.a.note(ledger.ExactNoise)
	bits := g.a.stream()
	out := make([]map[string]float64, len(counts))
	for j, of := range counts {
		out[j] = map[string]float64{}
		for _, text := range slices.Sorted(maps.Keys(of)) {
			noisy := clampCount(of[text], unit)*unit + l.Draw(bits)
			if of[text] > 0 && noisy >= least {
				out[j][text] = float64(noisy) * grid
			}
		}
	}
	return out, g.tellSparse(e, counts, out)
}

// toldCells is the number of counts that a tap receives for each column.
const toldCells = 1 << 12

// tellSparse passes a release to the tap, if there is one. The texts of a column are private, so
// the tap receives counts of their hashes. A tap that changes the noisy counts thereby decides
// which text of each hash is released: the most frequent one, or none.
func (g *Grant) tellSparse(e accountant.SparseHistogram, counts []map[string]int64,
	out []map[string]float64) error {
	if g.a.run.tap == nil {
		return nil
	}
	effect := math.Sqrt(float64(e.Cells)) / e.Sigma
	if g.a.run.Relation() == accountant.ReplaceOne {
		effect *= math.Sqrt2
	}
	rel := &entropy.Release{Step: g.step, Purpose: g.a.purpose, Mechanism: "sparse histogram",
		Effect: effect}
	most := make([][toldCells]string, len(counts))
	for j, of := range counts {
		in, noisy := make([]float64, toldCells), make([]float64, toldCells)
		for _, text := range slices.Sorted(maps.Keys(of)) {
			h := fnv.New32a()
			h.Write([]byte(text))
			at := h.Sum32() % toldCells
			in[at] += float64(of[text])
			if of[text] > of[most[j][at]] {
				most[j][at] = text
			}
			noisy[at] = max(noisy[at], out[j][text])
		}
		rel.Std, rel.Grid = append(rel.Std, e.Sigma), append(rel.Grid, 1)
		rel.Inputs, rel.Outputs = append(rel.Inputs, in), append(rel.Outputs, noisy)
	}
	err := g.a.run.tap.Release(rel)
	for j, noisy := range rel.Outputs {
		clear(out[j])
		for at, v := range noisy {
			if text := most[j][at]; v > 0 && text != "" {
				out[j][text] = v
			}
		}
	}
	return err
}
