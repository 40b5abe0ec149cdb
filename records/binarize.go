package records

// Binarize compares each coordinate of the records with a public threshold. A coordinate of the
// result is 1 if the clamped value is at least the threshold, and 0 otherwise. Images become binary
// images; vectors and colour images become binary vectors. Labels are kept. If the table holds
// bytes, the result shares its storage.
func Binarize(t *Table, threshold float32) *Table {
	out := t.clone()
	out.schema.kind, out.schema.lo, out.schema.hi = BinaryVector, 0, 1
	if t.schema.Channels() == 1 {
		out.schema.kind = BlackWhiteImage
	}
	out.enc = newEncoder(out.schema)
	out.level = &[256]float32{}
	if t.bytes != nil {
		for i, v := range t.level {
			if v >= threshold {
				out.level[i] = 1
			}
		}
		return out
	}
	out.level[1] = 1
	out.flat = nil
	out.bytes = make([]uint8, len(t.flat))
	for i, v := range t.flat {
		if t.enc.value(v) >= threshold {
			out.bytes[i] = 1
		}
	}
	return out
}
