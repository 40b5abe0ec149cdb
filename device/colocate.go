package device

// Colocate returns m if m and like are in the same memory. If m is a host matrix and like is in the
// memory of b, it returns a copy of m in the memory of b. Both m and like must be in the memory of
// b or of the host.
func Colocate(b Backend, m, like Matrix) Matrix {
	if like.Mem == nil || m.Mem != nil || m.Empty() {
		return m
	}
	numbers := m.Data
	if !m.contiguous() {
		numbers = make([]float32, 0, m.Rows*m.Cols)
		for i := range m.Rows {
			numbers = append(numbers, m.Row(i)...)
		}
	}
	out := b.New(m.Rows, m.Cols)
	b.Upload(out, numbers[:m.Rows*m.Cols])
	return out
}
