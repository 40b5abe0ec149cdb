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
//
// Errors: those of draw; *[param.Error] for rows of another schema, and invalid tables.
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
		own, err := draw(l.known(n, up, nil, nil, 0))
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
		if drawn, err = draw(l.known(n, at, drawn, before, step+1)); err != nil {
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

// known returns what is known of the rows of a table before they are drawn: their parents, and in a
// table in order their position and the rows before.
func (l *linker) known(n tableNode, at []int32, drawn *Frame, before []int32,
	position int) *Nonzeros {
	var positions *Frame
	if n.Ordered {
		positions = n.positions(slices.Repeat([]float64{float64(position)}, len(at)))
	}
	z := new(Nonzeros)
	z.Range(n.followed(l.nodes[n.parent], l.parts[n.parent].frame, at, positions, drawn, before,
		nil), 0,
		len(at))
	return z
}

// tableFrame returns a frame without rows.
func tableFrame(s Schema) *Frame {
	b, _ := NewFrameBuilder(s) // the schema is a table's
	return b.Frame()
}
