package records

import (
	"math"
	"slices"
)

// Codes of cells that hold none of the levels.
const (
	unknownLevel uint16 = 1<<16 - 1
	missingLevel uint16 = 1<<16 - 2
)

// unreadable is the value of a cell of numbers whose text is not a number. It is a NaN with a
// distinct bit pattern, so that Check can tell it from a missing value. All other code treats both
// alike.
var unreadable = math.Float64frombits(0x7ff8_0000_0000_0bad)

// cellCode turns the raw cells of one column into coordinates and back. It is
// total in both directions: whatever a cell or a coordinate holds, the result
// is in the schema.
type cellCode struct {
	kind          ColumnKind
	offset, width int
	oneHot, whole bool
	missing       bool
	lo, hi        float64
	log           float64 // Column.LogUnit, in the unit of scale
	scale         float64 // the divisor: the span, or its logarithm
	decimals      decimals
	grid          *numberGrid // nil unless the column has a step
	levels        uint16
	other         uint16    // code that an unknown level becomes
	absent        uint16    // code that a missing level becomes
	open          bool      // hashed texts with an other level
	tick          *tickCode // nil unless the column is held in ticks
	form          *form     // of texts; nil for the usual one
	parts         []partCode
}

// partCode says where a part of the date is encoded.
type partCode struct {
	part          CalendarParts
	offset, width int
}

func newCellCode(c Column, offset int) cellCode {
	k := cellCode{kind: c.kind, offset: offset, width: 1, whole: c.kind.of().whole,
		missing: c.missing, lo: c.lo, hi: c.hi,
		log: c.LogUnit(), scale: c.hi - c.lo, levels: uint16(len(c.levels))}
	if k.tick = newTickCode(c); k.tick != nil {
		if k.scale = float64(k.tick.last); k.log > 0 { // bounds may be the same float64
			k.log = 1
			if c.lo > 0 {
				k.log = float64(c.least) / float64(max(c.step, 1))
			}
		}
	}
	if k.log > 0 {
		k.scale = math.Log1p(k.scale / k.log)
	}
	k.open = c.kind.of().hashed && c.other != ""
	k.form, _ = c.form() // the schema is valid
	k.decimals = decimalsFor(k.scale)
	if c.stepped {
		g, _, _ := newNumberGrid(c)
		k.grid = &g
	}
	switch {
	case c.other != "":
		k.other = uint16(slices.Index(c.levels, c.other))
	case c.missing:
		k.other = missingLevel
	}
	k.absent = k.other
	if c.missing {
		k.absent = missingLevel
		k.width = 2
	}
	if c.kind.of().oneHot {
		k.oneHot = true
		k.width += len(c.levels) - 1
	}
	for at, w := offset+k.width, 0; w < len(partWidths); w++ {
		if c.parts&partWidths[w].part == 0 {
			continue
		}
		p := partCode{partWidths[w].part, at, partWidths[w].width}
		if c.missing {
			p.width++
		}
		at += p.width
		k.parts = append(k.parts, p)
	}
	return k
}

// total returns the width of all blocks of a column.
func (k *cellCode) total() int {
	n := k.width
	for _, p := range k.parts {
		n += p.width
	}
	return n
}

// number moves a raw number into the schema: it is clamped, and rounded if the column holds whole
// numbers or has a step. The result is NaN exactly for a missing value in a column that allows
// missing values.
func (k *cellCode) number(v float64) float64 {
	if v != v {
		if k.missing {
			return math.NaN()
		}
		v = k.lo
	}
	v = min(max(v, k.lo), k.hi)
	if k.grid != nil {
		return k.grid.nearest(v)
	}
	if k.whole {
		v = math.Round(v)
	}
	return v + 0 // turns -0 into 0
}

// tickOf moves a raw tick into the schema. The result is missingTick exactly for a missing value in
// a column that allows missing values.
func (k *cellCode) tickOf(v int64) int64 {
	switch {
	case k.kind.isIdentifier():
		return v
	case v != missingTick && v != unreadableTick:
		return k.tick.within(v)
	case k.missing:
		return missingTick
	}
	return 0
}

// level moves a raw code into the schema. The result is a level, or missingLevel exactly for a
// missing value in a column that allows missing values.
func (k *cellCode) level(code uint16) uint16 {
	switch {
	case code < k.levels:
		return code
	case code == missingLevel:
		return k.absent
	}
	return k.other
}

// position returns the coordinate in [0, 1] of a number inside the schema.
func (k *cellCode) position(v float64) float32 {
	if k.log > 0 {
		return float32(math.Log1p((v-k.lo)/k.log) / k.scale)
	}
	return float32((v - k.lo) / k.scale)
}

// encodeNumber writes the coordinates of a raw number into a row that is zero.
func (k *cellCode) encodeNumber(row []float32, v float64) {
	if v = k.number(v); v != v {
		row[k.offset+1] = 1
		return
	}
	row[k.offset] = k.position(v)
}

// encodeTick writes the coordinates of a raw tick into a row that is zero.
func (k *cellCode) encodeTick(row []float32, v int64) {
	if v = k.tickOf(v); v == missingTick {
		row[k.offset+1] = 1
		for _, p := range k.parts {
			row[p.offset+p.width-1] = 1
		}
		return
	}
	row[k.offset] = k.tickPosition(v)
	for _, p := range k.parts {
		row[p.offset+partOf(k.tick.moment(v), p.part)] = 1
	}
}

// tickPosition returns the coordinate in [0, 1] of a tick inside the schema.
func (k *cellCode) tickPosition(v int64) float32 {
	if k.log > 0 {
		return float32(math.Log1p(float64(v)/k.log) / k.scale)
	}
	return float32(float64(v) / k.scale)
}

// encodeLevel writes the coordinates of a raw level into a row that is zero.
func (k *cellCode) encodeLevel(row []float32, code uint16) {
	code = k.level(code)
	switch {
	case code == missingLevel:
		row[k.offset+k.width-1] = 1
	case k.oneHot:
		row[k.offset+int(code)] = 1
	default:
		row[k.offset] = float32(code) / float32(k.levels-1)
	}
}

// decodeNumber returns the number that coordinates stand for.
func (k *cellCode) decodeNumber(row []float32) float64 {
	if k.missing && row[k.offset+1] > 0.5 {
		return math.NaN()
	}
	u := unit(row[k.offset])
	if k.grid != nil {
		if k.log > 0 {
			return k.number(k.lo + k.log*math.Expm1(u*k.scale))
		}
		return k.grid.at(math.Round(u * k.grid.last))
	}
	grown, to := u*k.scale, k.decimals
	if k.log > 0 {
		grown = k.log * math.Expm1(grown)
		to = decimalsFor((k.log + grown) * k.scale)
	}
	if k.whole && !to.left { // number rounds it, once
		return k.number(k.lo + grown)
	}
	return k.number(to.round(k.lo + grown))
}

// decodeTick returns the tick that coordinates stand for.
func (k *cellCode) decodeTick(row []float32) int64 {
	if k.missing && row[k.offset+1] > 0.5 {
		return missingTick
	}
	v := unit(row[k.offset]) * k.scale
	if k.log > 0 {
		v = k.log * math.Expm1(v)
	}
	at := k.tick.within(saturated(math.Round(v)))
	if len(k.parts) == 0 {
		return at
	}
	m, to := k.tick.moment(at), k.tick.moment(k.tick.last)
	for _, p := range k.parts {
		stated := row[p.offset : p.offset+p.width]
		if k.missing {
			stated = stated[:p.width-1]
		}
		m = moved(m, p.part, largest(stated), k.tick.from, to)
	}
	return k.tick.within(k.tick.ofTime(m))
}

// decodeLevel returns the level that coordinates stand for.
func (k *cellCode) decodeLevel(row []float32) uint16 {
	if k.oneHot {
		best := largest(row[k.offset : k.offset+k.width])
		if k.missing && best == k.width-1 {
			return missingLevel
		}
		return uint16(best)
	}
	if k.missing && row[k.offset+1] > 0.5 {
		return missingLevel
	}
	return uint16(math.Round(unit(row[k.offset]) * float64(k.levels-1)))
}

// unit clamps a coordinate to [0, 1]; NaN becomes 0.
func unit(u float32) float64 {
	switch {
	case u >= 1:
		return 1
	case u > 0:
		return float64(u)
	}
	return 0
}

// largest returns the index of the largest coordinate, and the first index if several are equal.
func largest(row []float32) int {
	best := 0
	for i, v := range row {
		if v > row[best] || row[best] != row[best] && v == v {
			best = i
		}
	}
	return best
}

// decimals describes how a number is rounded to the digits that a float32 coordinate can
// distinguish. Generated tables are then easier to read and take half the space.
type decimals struct {
	power float64 // a power of ten; 0 if numbers are not rounded
	left  bool    // whether the last digit kept is left of the decimal point
}

// decimalsFor returns the rounding of numbers that change by slope as their coordinate goes from 0
// to 1.
func decimalsFor(slope float64) decimals {
	const resolution = 1.0 / (1 << 24)
	digits := math.Ceil(-math.Log10(slope * resolution))
	if !(math.Abs(digits) < 300) {
		return decimals{}
	}
	return decimals{math.Pow10(int(math.Abs(digits))), digits < 0}
}

func (d decimals) round(v float64) float64 {
	switch {
	case d.power == 0:
		return v
	case d.left:
		return math.Round(v/d.power) * d.power
	}
	return math.Round(v*d.power) / d.power
}
