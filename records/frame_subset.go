package records

// Take returns a frame of copies of the given rows, in the given order.
func (f *Frame) Take(rows []int32) *Frame {
	out := &Frame{frameRef: &frameRef{&frameRows{schema: f.schema, n: len(rows),
		cells: make([]cells, len(f.cells)),
		home:  f.home.derived()}}}
	for j, c := range f.cells {
		out.cells[j] = cells{takeRows(c.numbers, rows, 1), takeRows(c.levels, rows, 1),
			takeRows(c.ticks, rows, 1), takeRows(c.texts, rows, 1)}
	}
	return out
}

// Slice returns the frame of rows lo … hi-1, sharing storage.
func (f *Frame) Slice(lo, hi int) *Frame {
	out := &Frame{frameRef: &frameRef{&frameRows{schema: f.schema, n: hi - lo,
		cells: make([]cells, len(f.cells)),
		home:  f.home.derived()}}}
	for j, c := range f.cells {
		switch {
		case c.levels != nil:
			out.cells[j].levels = c.levels[lo:hi:hi]
			if c.texts != nil {
				out.cells[j].texts = c.texts[lo:hi:hi]
			}
		case c.ticks != nil:
			out.cells[j].ticks = c.ticks[lo:hi:hi]
		default:
			out.cells[j].numbers = c.numbers[lo:hi:hi]
		}
	}
	return out
}

// WithoutLabels returns the same records without the label column, sharing
// storage.
func (f *Frame) WithoutLabels() *Frame {
	out := &Frame{frameRef: &frameRef{&frameRows{schema: f.schema.WithoutLabels(), n: f.n,
		home: f.home.derived()}}}
	for j, c := range f.cells {
		if j != f.schema.table.label {
			out.cells = append(out.cells, c)
		}
	}
	return out
}

// concatFrames joins the raw cells of frames; data of other types are decoded first.
func concatFrames(s Schema, parts []Data) (Data, error) {
	out := &Frame{frameRef: &frameRef{&frameRows{schema: s, cells: make([]cells, len(s.table.cells)),
		home: joined(parts)}}}
	for _, p := range parts {
		f, err := frameOf(s, p)
		if err != nil {
			return nil, err
		}
		out.n += f.n
		for j, c := range f.cells {
			out.cells[j].numbers = append(out.cells[j].numbers, c.numbers...)
			out.cells[j].levels = append(out.cells[j].levels, c.levels...)
			out.cells[j].ticks = append(out.cells[j].ticks, c.ticks...)
			out.cells[j].texts = append(out.cells[j].texts, c.texts...)
			if s.table.cells[j].open && c.texts == nil {
				out.cells[j].texts = append(out.cells[j].texts, make([]string, f.n)...)
			}
		}
	}
	return out, nil
}
