package records

import (
	"math"
	"math/bits"
	"slices"
)

// setBlocks holds sets in compressed sparse rows, in blocks of a fixed number of rows. Within a
// block, offsets fit 32 bits, and items take 16 bits if the universe allows it, so millions of sets
// take little more memory than their items. Blocks that are full are never copied again.
type setBlocks struct {
	shift  uint // a block has 2^shift rows; the last one may have fewer
	blocks []setBlock
}

// setBlock holds up to 2^shift rows. The items of row i are at positions offsets[i] …
// offsets[i+1]-1 of narrow or of wide, depending on the universe.
type setBlock struct {
	offsets []uint32
	narrow  []uint16
	wide    []uint32
}

// blockShift is the usual number of rows of a block, as a power of two.
const blockShift = 12

// narrowUniverse is the largest universe whose items fit 16 bits.
const narrowUniverse = 1 << 16

func (s Schema) narrow() bool { return s.dim <= narrowUniverse }

// blockShift returns the number of rows of a block, as a power of two. Blocks are so small that 32
// bits count their items, even if every row has the largest number of items.
func (s Schema) blockShift() uint {
	most := uint64(max(min(s.maxItems, s.dim), 1))
	return uint(min(blockShift, bits.Len64(math.MaxUint32/most)-1))
}

// setValues returns the storage of a set in addition to its items, as a number of values: its
// offset, and its share of the storage of a block.
func (s Schema) setValues() int { return 1 + 16>>s.blockShift() }

// at returns the block of a row, and the index of the row in the block.
func (b *setBlocks) at(row int) (*setBlock, int) {
	return &b.blocks[row>>b.shift], row & (1<<b.shift - 1)
}

// append adds the items of rows lo … hi-1, which lie in this block, to dst.
func (b *setBlock) append(dst []uint32, lo, hi int) []uint32 {
	from, to := b.offsets[lo], b.offsets[hi]
	if b.wide != nil {
		return append(dst, b.wide[from:to]...)
	}
	dst = slices.Grow(dst, int(to-from))
	for _, item := range b.narrow[from:to] {
		dst = append(dst, uint32(item))
	}
	return dst
}

func (b *setBlock) rows() int { return len(b.offsets) - 1 }

// blockWriter fills one block after another with encoded rows.
type blockWriter struct {
	schema Schema
	sealed setBlocks
	open   setBlock
}

func newBlockWriter(s Schema) blockWriter {
	return blockWriter{schema: s, sealed: setBlocks{shift: s.blockShift()},
		open: setBlock{offsets: []uint32{0}}}
}

// add appends one encoded row and reports whether it filled the block.
func (w *blockWriter) add(row []uint32) bool {
	o := &w.open
	if w.schema.narrow() {
		o.narrow = slices.Grow(o.narrow, len(row))
		for _, item := range row {
			o.narrow = append(o.narrow, uint16(item))
		}
		o.offsets = append(o.offsets, uint32(len(o.narrow)))
	} else {
		o.wide = append(o.wide, row...)
		o.offsets = append(o.offsets, uint32(len(o.wide)))
	}
	return o.rows() == 1<<w.sealed.shift
}

// seal stores a copy of the open block without spare room, and empties it.
func (w *blockWriter) seal() {
	if w.open.rows() == 0 {
		return
	}
	b := setBlock{offsets: exact(w.open.offsets)}
	if w.schema.narrow() {
		b.narrow = exact(w.open.narrow)
	} else {
		b.wide = exact(w.open.wide)
	}
	w.sealed.blocks = push(w.sealed.blocks, b)
	w.empty()
}

func (w *blockWriter) empty() {
	w.open.offsets, w.open.narrow, w.open.wide = w.open.offsets[:1], w.open.narrow[:0], w.open.wide[:0]
}

// exact returns a copy of s without spare room. It never returns nil.
func exact[T any](s []T) []T {
	out := make([]T, len(s))
	copy(out, s)
	return out
}
