package marginal

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/records"
)

// Attribute is one discrete value of a row of a table: a block of the encoded row, or its class.
//
// Each level, and each value of an integer with few values, has a code. The range of other numbers
// is divided into cells of equal width, on the scale on which the schema encodes them. Each of the
// two bounds has its own code, so a bound with many rows stays frequent. A missing value is the
// last code.
type Attribute struct {
	Block   network.Block // with width 0 for the class
	Codes   int
	Cells   int // number of cells; 0 if every code is a value
	Missing bool
	Target  bool // a number to be predicted

	grid  valueGrid
	parts *divided // if not nil, codes are the parts of its divided cells
}

const (
	MostCells  = 126           // largest number of cells of a number, in addition to its two bounds
	MostValues = MostCells + 2 // a number with at most this many values has a code for each of them
)

// AttributesOf returns the attributes of a schema of tables, with MostCells cells for a number. The
// class is the last.
func AttributesOf(s records.Schema) []Attribute { return AttributesIn(s, MostCells) }

// AttributesIn is AttributesOf with another number of cells. A number with more than cells+2 values
// is divided into cells.
func AttributesIn(s records.Schema, cells int) []Attribute {
	var list []Attribute
	columns, blocks := s.Columns(), s.Blocks() // copies: once, not once a block
	for i, b := range network.TableBlocks(s) {
		a := Attribute{Block: b, Codes: b.Width,
			Target: columns[blocks[i].Column].Kind() == records.TargetColumn}
		if !b.OneHot {
			if a.Codes = b.Levels; b.Levels == 0 || b.Levels > cells+2 {
				a.Cells, a.Codes, a.grid = cells, cells+2, gridOf(blocks[i], columns[blocks[i].Column])
			}
			if b.Width == 2 {
				a.Missing = true
				a.Codes++
			}
		}
		list = append(list, a)
	}
	if s.Classes() > 0 {
		list = append(list, Attribute{Codes: s.Classes()})
	}
	return list
}

// Class reports whether the attribute is the class.
func (a Attribute) Class() bool { return a.Block.Width == 0 }

// code returns the attribute's code for an encoded row, given the nonzero coordinates of the block.
// The code is in range, whatever the row contains.
func (a Attribute) code(places []int32, values []float32, label int32) int {
	if a.Class() {
		return min(max(int(label), 0), a.Codes-1)
	}
	if a.Block.OneHot {
		best, most := 0, float32(0)
		for k, v := range values {
			if v > most {
				best, most = int(places[k])-a.Block.Offset, v
			}
		}
		return best
	}
	x, missing := a.number(places, values)
	last := a.Codes - 1
	if a.Missing {
		last--
	}
	switch {
	case a.parts != nil && (missing || !(x > 0) || x >= 1):
		return 0
	case a.parts != nil:
		return a.parts.code(a.cell(x), x)
	case missing:
		return a.Codes - 1
	case !(x > 0):
		return 0
	case x >= 1:
		return last
	case a.Cells > 0:
		return a.cell(x)
	}
	return min(int(math.Round(x*float64(last))), last)
}

// number returns the coordinate of a number, and whether the number is missing.
func (a Attribute) number(places []int32, values []float32) (x float64, missing bool) {
	for k, v := range values {
		if int(places[k]) == a.Block.Offset {
			x = float64(v)
		} else if a.Missing && v > 0.5 {
			return 0, true
		}
	}
	return x, false
}

// Write appends the coordinates that encode a code to row. A number is drawn from the parts of its
// cell, or uniformly from its cell if parts is nil. If spans is not nil, the number lies in spans.
func (a Attribute) Write(row *records.Nonzeros, code int, spans []records.Span, parts *Parts,
	rng *rand.Rand) {
	if a.Block.OneHot {
		row.Append(a.Block.Offset+code, 1)
		return
	}
	last := a.Codes - 1
	if a.Missing {
		if code == last {
			row.Append(a.Block.Offset+1, 1)
			return
		}
		last--
	}
	switch {
	case a.Cells > 0 && code > 0 && code < last:
		if parts != nil {
			row.Append(a.Block.Offset, parts.draw(spans, rng))
			return
		}
		row.Append(a.Block.Offset, a.draw(code, spans, rng))
	case code == last:
		row.Append(a.Block.Offset, 1)
	case code > 0:
		row.Append(a.Block.Offset, float32(code)/float32(last))
	}
}

// Ordered returns the number of ordered codes: 0 for one-hot levels and the class, otherwise the
// number of all codes except the code of a missing value.
func (a Attribute) Ordered() int {
	switch {
	case a.Class() || a.Block.OneHot:
		return 0
	case a.Missing:
		return a.Codes - 1
	}
	return a.Codes
}

// A Grouping merges the codes of an attribute into fewer groups, by their released counts.
type Grouping struct {
	Group      []uint16  // group of each code
	Part       []float64 // fraction of all records with each code
	Size       int       // number of groups
	Coarse     []uint16  // coarse group of each group; nil for none
	CoarseSize int       // number of coarse groups
}

// Grouped merges the codes of an attribute into groups. Most groups hold at least the fraction
// least of the records. The argument part has the fraction of records with each code. All levels
// with a fraction below least become one group. Classes and missing numbers are not merged.
//
// Ordered codes are not merged either if there are at most groups/2. If there are more, each is
// merged with its neighbours until the group has fractions f of the records and w of the ordered
// codes with f ≥ least and f + w/2 ≥ 1/groups. A code with f ≥ 1/groups gets its own group, unless
// that would leave one of its neighbours in a group below least.
//
// The noise of a sum of c counts is √c times that of one. The first and the last group, which often
// consist of many empty codes, and all groups of a number to be predicted therefore have at least
// the fraction least·√c, or are merged with the group beside them.
func (a Attribute) Grouped(part []float64, least float64, groups int) Grouping {
	g := Grouping{Group: make([]uint16, a.Codes), Part: part}
	next := func() uint16 {
		g.Size++
		return uint16(g.Size - 1)
	}
	ordered := a.Ordered()
	rare := -1
	for code := ordered; code < a.Codes; code++ {
		if !a.Class() && part[code] < least && ordered == 0 {
			if rare < 0 {
				rare = int(next())
			}
			g.Group[code] = uint16(rare)
			continue
		}
		g.Group[code] = next()
	}
	if ordered == 0 {
		return g
	}
	if ordered <= groups/2 {
		for code := range ordered {
			g.Group[code] = next()
		}
		return g
	}
	held, width, codes := 0.0, 0.0, 0
	at := next()
	for code := range ordered {
		alone := part[code] >= 1/float64(groups)
		if alone && held >= least {
			at, held, width, codes = next(), 0, 0, 0
		}
		codes++
		g.Group[code] = at
		held += part[code]
		width += 1 / float64(ordered)
		enough := least
		if a.Target || g.Group[code] == g.Group[0] {
			enough *= math.Sqrt(float64(codes))
		}
		full := held*float64(groups)+width*float64(groups)/2 >= 1 && held >= enough
		rest := 0.0
		for _, p := range part[code+1 : ordered] {
			rest += p
		}
		if (full || alone) && code+1 < ordered && rest >= least*math.Sqrt(float64(ordered-code-1)) {
			at, held, width, codes = next(), 0, 0, 0
		}
	}
	return g
}

// Members returns, for each group, its codes and a random choice among these codes by their
// fractions.
func (g Grouping) Members() ([][]int, []network.Choice) {
	codes := make([][]int, g.Size)
	weights := make([][]float64, g.Size)
	for code, group := range g.Group {
		codes[group] = append(codes[group], code)
		weights[group] = append(weights[group], max(g.Part[code], 0))
	}
	choices := make([]network.Choice, g.Size)
	for i, w := range weights {
		total := 0.0
		for _, x := range w {
			total += x
		}
		if !(total > 0) { // the fractions are unknown
			for k := range w {
				w[k] = 1
			}
		}
		choices[i] = network.NewChoice(w)
	}
	return codes, choices
}

// GroupState encodes the groupings, without fractions, for a pass over records.
func GroupState(list []Grouping) []byte {
	var state []byte
	for _, g := range list {
		for _, group := range g.Group {
			state = binary.LittleEndian.AppendUint16(state, group)
		}
	}
	return state
}

// ReadGroups decodes the groupings that GroupState encoded.
func ReadGroups(attributes []Attribute, state []byte) (list []Grouping, ok bool) {
	for _, a := range attributes {
		if len(state) < 2*a.Codes {
			return nil, false
		}
		g := Grouping{Group: make([]uint16, a.Codes)}
		for i := range g.Group {
			g.Group[i] = binary.LittleEndian.Uint16(state[2*i:])
			if int(g.Group[i]) >= a.Codes {
				return nil, false
			}
			g.Size = max(g.Size, int(g.Group[i])+1)
		}
		state = state[2*a.Codes:]
		list = append(list, g)
	}
	return list, len(state) == 0
}

// Simplex returns the fractions closest to counts/total that are not negative and add up to one.
func Simplex(counts []float64, total float64) []float64 {
	sorted := slices.Clone(counts)
	slices.Sort(sorted)
	slices.Reverse(sorted)
	sum, shift := 0.0, 0.0
	for i, c := range sorted {
		sum += c
		if s := (sum - total) / float64(i+1); c > s {
			shift = s
		}
	}
	out := make([]float64, len(counts))
	for i, c := range counts {
		out[i] = max(c-shift, 0) / total
	}
	return out
}

// CodesOf sets codes[j][i] to the code of attribute j in row i. The attributes are some or all of a
// schema's, in their order.
func CodesOf(attributes []Attribute, z *records.Nonzeros, codes [][]uint16) {
	for j := range attributes {
		codes[j] = slices.Grow(codes[j][:0], z.Rows)[:z.Rows]
	}
	for i := range z.Rows {
		places, values := z.Row(i)
		for j, a := range attributes {
			n := 0
			if !a.Class() {
				for len(places) > 0 && int(places[0]) < a.Block.Offset { // of blocks left out
					places, values = places[1:], values[1:]
				}
				for n < len(places) && int(places[n]) < a.Block.Offset+a.Block.Width {
					n++
				}
			}
			codes[j][i] = uint16(a.code(places[:n], values[:n], z.Label(i)))
			places, values = places[n:], values[n:]
		}
	}
}
