package records

import (
	"slices"

	"github.com/seed7ba64551/privgen/internal/param"
)

// Grow draws the rows of the tables below generated rows of the root, which have the full schema.
// It asks draw for rows of the i-th table below the root, one for each row of known, which holds
// the columns that are known beforehand; see [Tables.Seen]. The result has the own schema of Seen.
//
// Every row belongs to a row of its parent's table, and a row has as many rows in a table as its
// own column says. In a table in order, all first rows are drawn together, then all second rows.
// Rows that do not obey the constraints of their table are drawn again, until a hundred rows have
// been drawn for each row of a table, and 65,536 more.
//
// Errors: those of draw; *[param.Error] for rows of another schema, invalid tables, and a row that
// cannot be drawn.
func Grow(t Tables, roots *Frame, draw func(i int, known *Nonzeros) (*Frame, error)) (*Linked,
	error) {
	l, err := newLinker(t)
	if err != nil {
		return nil, err
	}
	if roots == nil || !roots.Schema().Equal(l.nodes[0].full) {
		return nil, param.New("records.Grow.roots", "[records]", "rows of Tables.Full")
	}
	l.parts = []linkedTable{{frame: roots}}
	for i := range l.nodes[1:] {
		own, up, err := l.grow(i+1, func(known *Nonzeros) (*Frame, error) {
			f, err := draw(i, known)
			if err == nil && (f.Len() != known.Rows || !f.Schema().Equal(l.nodes[i+1].full)) {
				err = param.New("records.Grow.draw", "[records]", "a row for each row of known")
			}
			return f, err
		})
		if err != nil {
			return nil, err
		}
		l.parts = append(l.parts, linkedTable{frame: own, up: up})
	}
	return l.linked(), nil
}

// grow draws the rows of table i.
func (l *linker) grow(i int, draw func(*Nonzeros) (*Frame, error)) (*Frame, []int32, error) {
	n := l.nodes[i]
	parent := l.parts[n.parent].frame
	numbers := make([]int, parent.Len())
	first := make([]int32, parent.Len()+1)
	steps := 0
	for p := range numbers {
		numbers[p] = n.number(l.nodes, parent, p)
		first[p+1] = first[p] + int32(numbers[p])
		steps = max(steps, numbers[p])
	}
	var up, order []int32
	for p, m := range numbers {
		for range m {
			up = append(up, int32(p))
		}
	}
	if !n.Ordered {
		own, err := l.obeying(n, up, nil, nil, 0, draw)
		return own, up, err
	}
	empty := tableFrame(n.full)
	drawn, before := empty, []int32(nil)
	parts := []Data{empty}
	place := make([]int32, len(up))
	last := make([]int32, parent.Len()) // each parent's row in the previous step
	for step := range steps {
		var at []int32
		before = before[:0]
		for p, m := range numbers {
			if m <= step {
				continue
			}
			previous := int32(-1)
			if step > 0 {
				previous = last[p]
			}
			place[int(first[p])+step] = int32(len(order) + len(at))
			last[p] = int32(len(at))
			at, before = append(at, int32(p)), append(before, previous)
		}
		order = append(order, at...)
		var err error
		if drawn, err = l.obeying(n, at, drawn, before, step+1, draw); err != nil {
			return nil, nil, err
		}
		parts = append(parts, drawn)
	}
	all, err := concatFrames(n.full, parts)
	if err != nil {
		return nil, nil, err
	}
	return all.(*Frame).Take(place), up, nil
}

// The constraints of all tables may cost mostDraws draws for each row on average, and extraDraws
// more, since the last of few rows may need many.
const (
	mostDraws  = 100
	extraDraws = 1 << 16
)

// obeying draws rows that obey the constraints of their table.
func (l *linker) obeying(n tableNode, at []int32, drawn *Frame, before []int32, position int,
	draw func(*Nonzeros) (*Frame, error)) (*Frame, error) {
	e, err := n.enforcer()
	if err != nil {
		return nil, err
	}
	parts := []Data{tableFrame(n.full)}
	kept, place := 0, make([]int32, len(at)) // where each row is among those that are kept
	open := make([]int32, len(at))           // rows that are left to draw
	for i := range open {
		open[i] = int32(i)
	}
	for l.wanted += len(at); l.draws <= mostDraws*l.wanted+extraDraws; l.draws += len(open) {
		var above, previous []int32
		for _, row := range open {
			above = append(above, at[row])
			if n.Ordered {
				previous = append(previous, before[row])
			}
		}
		known := l.following(n, above, drawn, previous, position, nil)
		var z Nonzeros
		z.Range(known, 0, known.n)
		own, err := draw(&z)
		if err != nil {
			return nil, err
		}
		if n.Gaps != "" {
			own = n.spaced(own, drawn, previous)
		}
		if len(n.Constraints) == 0 {
			return own, nil
		}
		w := e.work(l.following(n, above, drawn, previous, position, own).copied())
		var left, good []int32
		for k, row := range open {
			if !e.row(w, k) {
				left = append(left, row)
				continue
			}
			place[row] = int32(kept + len(good))
			good = append(good, int32(k))
		}
		parts, kept, open = append(parts, own.Take(good)), kept+len(good), left
		if len(open) == 0 {
			all, err := concatFrames(n.full, parts)
			if err != nil {
				return nil, err
			}
			return all.(*Frame).Take(place), nil
		}
	}
	return nil, param.New("records.Tables.Constraints", n.Name,
		"constraints that drawn rows can obey, given their parents and the rows before")
}

// following returns rows of a table with what is known before they are drawn: their parents, and
// in a table in order their position and the rows before. Their own columns may be left out.
func (l *linker) following(n tableNode, at []int32, drawn *Frame, before []int32, position int,
	own *Frame) *following {
	var positions *Frame
	if n.Ordered {
		positions = n.positions(slices.Repeat([]float64{float64(position)}, len(at)))
	}
	return n.followed(l.nodes[n.parent], l.parts[n.parent].frame, at, positions, drawn, before, own)
}

// tableFrame returns a frame without rows.
func tableFrame(s Schema) *Frame {
	b, _ := NewFrameBuilder(s) // the schema is a table's
	return b.Frame()
}
