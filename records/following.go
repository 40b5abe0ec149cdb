package records

import (
	"math"

	"github.com/seed7ba64551/privgen/device"
)

// following are rows of a table together with the columns of the rows that they follow: those of
// the parent and of the row before; see [Tables.Seen]. A row's columns are read where they are,
// since copies of a parent's columns for all of its rows would take several times the memory.
type following struct {
	private
	*followingRows
}

type followingRows struct {
	schema Schema
	n      int
	from   []cellsFrom // of each column
	home   *origin     // nil for rows that are not known whole
}

// cellsFrom says where the cells of a column are: in a column of a frame, in row at[i] for row i. A
// negative row is missing. If at is nil, the rows are the same. A nil frame leaves the column out.
type cellsFrom struct {
	frame  *Frame
	column int
	at     []int32
}

// followed returns the sources of the columns of Seen.
func (n tableNode) followed(parent tableNode, up *Frame, at []int32, position, before *Frame,
	previous []int32, own *Frame) *following {
	f := &followingRows{schema: n.seen, n: len(at)}
	for j, c := range parent.full.table.columns {
		if !c.kind.isIdentifier() {
			f.from = append(f.from, cellsFrom{up, j, at})
		}
	}
	if n.Ordered {
		f.from = append(f.from, cellsFrom{position, 0, nil})
		for j := range n.full.table.columns {
			f.from = append(f.from, cellsFrom{before, j, previous})
		}
	}
	for j := range n.full.table.columns {
		f.from = append(f.from, cellsFrom{own, j, nil})
	}
	return &following{followingRows: f}
}

func (f *following) Schema() Schema  { return f.schema }
func (f *following) Len() int        { return f.n }
func (f *following) origin() *origin { return f.home }

// nonzeros appends one row. Cells are moved into the schema of their frame, and then encoded in
// this one.
func (f *following) nonzeros(z *Nonzeros, row int) {
	for j := range f.from {
		from, to := &f.from[j], &f.schema.table.cells[j]
		if from.frame == nil {
			continue
		}
		at := row
		if from.at != nil {
			at = int(from.at[row])
		}
		code, cells := &from.frame.schema.table.cells[from.column], &from.frame.cells[from.column]
		switch {
		case code.kind.hasLevels():
			level := missingLevel
			if at >= 0 {
				level = code.level(cells.levels[at])
			}
			z.level(to, level)
		case code.tick != nil:
			tick := missingTick
			if at >= 0 {
				tick = code.tickOf(cells.ticks[at])
			}
			z.tick(to, tick)
		case at < 0:
			z.Append(to.offset+1, 1)
		default:
			z.number(to, code.number(cells.numbers[at]))
		}
	}
	z.End()
}

// copied returns the rows as a frame.
func (f *following) copied() *Frame {
	out := &Frame{frameRef: &frameRef{&frameRows{schema: f.schema, n: f.n, home: new(origin)}}}
	for _, from := range f.from {
		var own cells
		c := &from.frame.cells[from.column]
		switch code := &from.frame.schema.table.cells[from.column]; {
		case code.kind.hasLevels():
			own.levels = cellsAt(c.levels, from.at, f.n, missingLevel)
		case code.tick != nil:
			own.ticks = cellsAt(c.ticks, from.at, f.n, missingTick)
		default:
			own.numbers = cellsAt(c.numbers, from.at, f.n, math.NaN())
		}
		out.cells = append(out.cells, own)
	}
	return out
}

// cellsAt returns the cells in n rows: those of the given rows, missing for a negative one.
func cellsAt[T any](cells []T, at []int32, n int, missing T) []T {
	out := make([]T, n)
	for i := range out {
		row := i
		if at != nil {
			row = int(at[i])
		}
		if out[i] = missing; row >= 0 {
			out[i] = cells[row]
		}
	}
	return out
}

// Gather encodes the given rows.
func (f *following) Gather(rows []int32, b *device.Batch) {
	var z Nonzeros
	z.Gather(f, rows)
	z.fill(b, f.schema.dim)
}

// Range encodes rows lo … hi-1.
func (f *following) Range(lo, hi int, b *device.Batch) {
	var z Nonzeros
	z.Range(f, lo, hi)
	z.fill(b, f.schema.dim)
}

// fill writes the rows to a batch.
func (z *Nonzeros) fill(b *device.Batch, dim int) {
	data := denseBuffer(b, z.Rows, dim)
	clear(data)
	for i := range z.Rows {
		places, values := z.Row(i)
		for k, at := range places {
			data[i*dim+int(at)] = values[k]
		}
	}
	b.Labels = nil
	indexRows(b, z.Index)
}
