package compose

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// openColumns returns the places of the columns with open levels.
func openColumns(s records.Schema) (places []int) {
	for j, c := range s.Columns() {
		if c.Kind() == records.HashedColumn && c.Other() != "" {
			places = append(places, j)
		}
	}
	return places
}

// foundSchema returns the schema in which each open column has the levels that were found, and
// after them its other level.
func foundSchema(s records.Schema, levels [][]string) (records.Schema, error) {
	columns := s.Columns()
	for i, j := range openColumns(s) {
		c := columns[j]
		columns[j] = records.Categorical(c.Name(), append(slices.Clone(levels[i]), c.Other())...).
			WithOther(c.Other())
		if c.HasMissing() {
			columns[j] = columns[j].WithMissing()
		}
	}
	out, err := records.NewSchema(columns...)
	if err != nil {
		return out, err
	}
	out = out.WithConstraints(s.Constraints()...).ByPerson(s.RowsPerPerson())
	return out, out.Validate()
}

// largest returns the texts with the largest noisy counts, at most the given number, in
// alphabetical order.
func largest(noisy map[string]float64, most int) []string {
	texts := slices.SortedFunc(maps.Keys(noisy), func(a, b string) int {
		return cmp.Or(cmp.Compare(noisy[b], noisy[a]), cmp.Compare(a, b))
	})
	texts = texts[:min(len(texts), most)]
	slices.Sort(texts)
	return texts
}

// coded returns the records with the number of a level that was found in place of each text, and
// the last number, which is the other level's, for any other text.
func (c opening) coded(data records.Data, levels [][]string) (records.Data, error) {
	last := lastLevels(c.schema)
	codes := make([]map[string]int, len(last))
	for i, j := range openColumns(c.schema) {
		codes[j] = map[string]int{}
		for code, text := range levels[i] {
			codes[j][text] = code
		}
	}
	return records.Recode(data, c.schema, func(_, column int, text string, level int) int {
		code, known := codes[column][text]
		switch {
		case level < 0: // missing
			return level
		case known:
			return code
		}
		return last[column]
	})
}

// lastLevels returns the number of the last level of each column.
func lastLevels(s records.Schema) (last []int) {
	for _, c := range s.Columns() {
		last = append(last, len(c.Levels())-1)
	}
	return last
}

// found is what levels release beside the part's model: the levels of each open column.
type found struct {
	part, own records.Schema // of the part's records, and of the synthetic records
	levels    [][]string
}

// foundIn returns the levels found in open columns of a schema.
//
// Errors: *param.Error for levels that the columns cannot have.
func foundIn(s records.Schema, levels [][]string) (*found, error) {
	var k param.Checker
	open := openColumns(s)
	k.OK(len(levels) == len(open), "compose.Levels", len(levels), "levels of each open column")
	for i := range min(len(levels), len(open)) {
		most := len(s.Columns()[open[i]].Levels()) - 1
		k.OK(len(levels[i]) <= most, "compose.Levels", len(levels[i]),
			fmt.Sprintf("at most %d levels", most))
	}
	if k.Err() != nil {
		return nil, k.Err()
	}
	own, err := foundSchema(s, levels)
	return &found{s, own, levels}, err
}

// schema returns the schema of the synthetic records.
func (m *found) schema() records.Schema { return m.own }

// sampler draws records of the part and replaces the numbers of levels by the levels. Numbers that
// no level has are the other level's.
func (m *found) sampler(all *model, d synth.Draw) (synth.Sampler, error) {
	d.Given, d.Unconstrained = nil, true
	of, err := all.of[0].Sampler(d)
	if err != nil {
		return synth.Sampler{}, err
	}
	last := lastLevels(m.own)
	next := func(n int) (records.Data, error) {
		rows, err := of.Next(n)
		if err == nil {
			rows, err = records.Concat(of.Schema, rows)
		}
		if err != nil {
			return nil, err
		}
		return records.Recode(rows, m.own, func(_, column int, _ string, level int) int {
			return min(level, last[column])
		})
	}
	return synth.Sampler{Schema: m.own, Next: next, Unaccepted: of.Unaccepted}, nil
}

// viewed returns a batch of records as the part reads them, which is what its clusters are of.
func (m *found) viewed(b device.Batch) device.Batch {
	own := device.HostMatrix(b.Rows, m.part.Dim(), make([]float32, b.Rows*m.part.Dim()))
	for k, to := range m.part.Blocks() {
		from := m.own.Blocks()[k]
		levels := from.Width // before those that the part does not use
		if from.Width != to.Width {
			levels = len(m.own.Columns()[from.Column].Levels()) - 1
		}
		for i := range b.Rows {
			dst, src := own.Row(i)[to.Offset:], b.Dense.Row(i)[from.Offset:from.Offset+from.Width]
			copy(dst, src[:levels])
			copy(dst[to.Width-from.Width+levels:], src[levels:])
		}
	}
	b.Dense = own
	return b
}

type foundJSON struct {
	Levels [][]string `json:"levels"`
}

func (m *found) header() (any, error)   { return foundJSON{m.levels}, nil }
func (m *found) sections() []synth.Part { return nil }

func readFound(f *synth.File, of []synth.Model, _ synth.Loading) (released, error) {
	var j foundJSON
	if err := f.Decode(&j); err != nil {
		return nil, err
	}
	m, err := foundIn(of[0].Schema().ByPerson(0), j.Levels)
	return m, synth.Malformed(err)
}
