package merf

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/marginal"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/partial"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/synth"
)

// choosing is a choice of pairs in progress. Everything in it except counts has been released.
type choosing struct {
	work   *work
	tables []pairTable
	pairs  [][2]int // chosen so far

	counts *mechanism.FixedSum
}

// pairTable is the table of the groups of two columns.
type pairTable struct {
	pair         [2]int
	first, cells int
}

// choose releases the columns' counts, chooses the pairs, and returns the work with the chosen
// pairs.
func (w *work) choose(ctx context.Context, r *synth.Run) (*work, error) {
	known, err := w.config.survey().Release(ctx, r, PurposeColumns,
		columnsNoise(w.config.NoiseMultiplier))
	if err != nil {
		return nil, err
	}
	groups := w.groups(known)
	f := &choosing{work: w, tables: pairTables(groups)}
	if err := r.Restore(f); err != nil {
		return nil, err
	}
	if r.Allowance(PurposePairs).Remaining() > 0 { // else the file has all pairs, or a later state
		r.Keep(f.file)
	}
	err = f.all(ctx, r, known, groups)
	f.counts = nil // private
	if err != nil {
		return nil, err
	}
	return w.with(f.pairs)
}

// groups divides the values of every column by the released counts.
func (w *work) groups(known marginal.Surveyed) (list []marginal.Grouping) {
	for j, a := range columnsOf(w.config.Schema) {
		list = append(list, known.Grouping(j, a, w.config.Choice.Groups).Merged(a,
			w.config.Choice.Groups))
	}
	return list
}

// pairTables returns the tables of all pairs of columns.
func pairTables(groups []marginal.Grouping) (list []pairTable) {
	first := 0
	for j := range groups {
		for i := range j {
			cells := groups[i].Size * groups[j].Size
			list = append(list, pairTable{[2]int{i, j}, first, cells})
			first += cells
		}
	}
	return list
}

// pairCounter returns a counter of the cells of all pairs' tables. Its numbers are private.
func (w *work) pairCounter(groups []marginal.Grouping) *marginal.Histogram {
	tables, total := pairTables(groups), 0
	sizes := make([]int, len(groups))
	for j, g := range groups {
		sizes[j] = g.Size
	}
	for _, t := range tables {
		total += t.cells
	}
	cells := func(codes [][]uint16, shares, counts []int64) {
		for j, g := range groups {
			for i, code := range codes[j] {
				codes[j][i] = g.Group[code]
			}
		}
		marginal.InParallel(len(tables), func(k int) {
			t := tables[k]
			marginal.CountCells(sizes, t.pair[:], codes, shares, counts[t.first:t.first+t.cells])
		})
	}
	return marginal.NewHistogram(columnsOf(w.config.Schema), cells,
		mechanism.NewFixedSum(total, marginal.TableGrid(1)))
}

// all makes the remaining choices.
func (f *choosing) all(ctx context.Context, r *synth.Run, known marginal.Surveyed,
	groups []marginal.Grouping) error {
	choices := r.Allowance(PurposePairs)
	if choices.Remaining() == 0 {
		return nil
	}
	sums, err := r.Read(ctx, synth.Pass{Purpose: PurposePairs, State: marginal.GroupState(groups)})
	if err != nil {
		return err
	}
	f.counts = sums.Sums()[0]
	open, guesses := f.guesses(known, groups)
	for choices.Remaining() > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		grant, err := choices.Next()
		if err != nil {
			return err
		}
		if len(guesses) == 0 { // the interrupted run had chosen all pairs
			continue
		}
		i, err := grant.Worst(guesses, f.work.change())
		if err != nil {
			return err
		}
		f.pairs = append(f.pairs, open[i])
		open, guesses = slices.Delete(open, i, i+1), slices.Delete(guesses, i, i+1)
		r.Report(PurposePairs, f.work.config.Choice.Pairs-choices.Remaining(),
			f.work.config.Choice.Pairs)
	}
	return nil
}

// guesses returns the pairs that have not been chosen, each with the table that is expected if its
// columns are independent. The handicap is the expected distance of a table of independent columns
// from that table.
func (f *choosing) guesses(known marginal.Surveyed, groups []marginal.Grouping) (open [][2]int,
	list []mechanism.Guess) {
	fractions := make([][]float64, len(groups))
	for j, g := range groups {
		values, _ := known.Sums(j, g)
		fractions[j] = marginal.Simplex(values, known.Total)
	}
	for _, t := range f.tables {
		if slices.Contains(f.pairs, t.pair) {
			continue
		}
		g := mechanism.Guess{Counts: f.counts.Slice(t.first, t.first+t.cells), Weight: 1}
		for _, p := range fractions[t.pair[0]] {
			for _, q := range fractions[t.pair[1]] {
				answer := known.Total * p * q
				g.Answers = append(g.Answers, answer)
				g.Handicap += math.Sqrt(2*answer/math.Pi) / float64(f.work.change())
			}
		}
		open, list = append(open, t.pair), append(list, g)
	}
	return open, list
}

// change returns the largest sum of absolute differences between a table's cells in neighbouring
// data. A record, and a person whose rows count with their weights, adds 1 to a table in total.
func (w *work) change() int {
	if w.config.Budget.Relation == accountant.ReplaceOne {
		return 2
	}
	return 1
}

// with returns the work with the given pairs. Its noise is the plan's.
func (w *work) with(pairs [][2]int) (*work, error) {
	k, ok := w.config.Kernel.(rff.Pairs)
	if !ok {
		return nil, fmt.Errorf("merf: pairs of a kernel of type %T", w.config.Kernel)
	}
	c := &work{config: w.config, noise: w.noise, pairs: pairState(only(k, pairs).Only)}
	c.config.Kernel = only(k, pairs)
	var err error
	if c.features, err = c.config.features(); err != nil {
		return nil, err
	}
	c.namePass()
	return c, nil
}

// pairState encodes pairs as the state of a pass over records. An empty list is encoded as one
// byte, because an empty state means that no pairs have been chosen yet.
func pairState(pairs [][2]int) []byte {
	state := []byte{0}
	for _, p := range pairs {
		state = binary.LittleEndian.AppendUint16(state, uint16(p[0]))
		state = binary.LittleEndian.AppendUint16(state, uint16(p[1]))
	}
	return state
}

// readPairs decodes the pairs that pairState encoded. It does not check the columns.
func readPairs(state []byte, most int) (pairs [][2]int, ok bool) {
	if len(state)%4 != 1 || len(state)/4 > most || state[0] != 0 {
		return nil, false
	}
	for s := state[1:]; len(s) > 0; s = s[4:] {
		pairs = append(pairs, [2]int{int(binary.LittleEndian.Uint16(s)),
			int(binary.LittleEndian.Uint16(s[2:]))})
	}
	return pairs, true
}

// stagePartial returns the sums of a pass before the embedding, or nil for another pass.
func (w *work) stagePartial(p synth.Pass) (*partial.Partial, error) {
	var c partial.Counter
	switch {
	case w.config.Choice.none():
	case p.Purpose == PurposeColumns && p.State == nil:
		c = w.config.survey().Counter()
	case p.Purpose == PurposePairs:
		groups, ok := marginal.ReadGroups(columnsOf(w.config.Schema), p.State)
		if ok && w.holds(groups) {
			c = w.pairCounter(groups)
		}
	}
	if c == nil {
		return nil, nil
	}
	release := *w
	release.config.Generator = GeneratorConfig{} // sums do not depend on it, and JSON may not hold it
	config, err := release.Config()
	if err != nil {
		return nil, err
	}
	pass, err := partial.NewPass(systemName, w.config.Schema, w.config.Budget, config, p)
	if err != nil {
		return nil, err
	}
	return partial.New(pass, w.config.Schema, c, false), nil
}

// holds reports whether the tables of groups have at most the number of cells that a plan expects.
// So a state from another process cannot request more memory.
func (w *work) holds(groups []marginal.Grouping) bool {
	for _, g := range groups {
		if g.Size*g.Size > cellsOf(w.config.Choice.Groups) {
			return false
		}
	}
	return true
}

// choiceHeader lists the chosen pairs in a checkpoint, before and during training.
type choiceHeader struct {
	Pairs [][2]int `json:"pairs,omitempty"`
}

// file returns the pairs chosen so far for a checkpoint.
func (f *choosing) file() (*synth.File, error) { return synth.NewFile(choiceHeader{f.pairs}) }

// RestoreFrom reads the pairs chosen so far from a checkpoint, which may also be of the training.
//
// Errors: synth.ErrFormat for pairs that no run of the plan can have chosen.
func (f *choosing) RestoreFrom(from *synth.File) error {
	var h stateHeader
	if err := from.Decode(&h); err != nil {
		return err
	}
	if len(h.Pairs) > f.work.config.Choice.Pairs {
		return synth.Malformed(fmt.Errorf("%d chosen pairs; want at most %d", len(h.Pairs),
			f.work.config.Choice.Pairs))
	}
	for i, p := range h.Pairs {
		known := slices.ContainsFunc(f.tables, func(t pairTable) bool { return t.pair == p })
		if !known || slices.Contains(h.Pairs[:i], p) {
			return synth.Malformed(fmt.Errorf("the chosen pair %v; want two columns i < j, each pair once", p))
		}
	}
	f.pairs = slices.Clone(h.Pairs)
	return nil
}

// chosen returns the pairs of an embedding of a plan with a Choice.
func (e *Embedding) chosen() choiceHeader {
	if k, ok := e.config.Kernel.(rff.Pairs); ok && !e.config.Choice.none() {
		return choiceHeader{k.Only}
	}
	return choiceHeader{}
}
