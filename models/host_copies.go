package models

import "github.com/seed7ba64551/privgen/device"

// staging copies host batches to a backend with separate memory. It copies nothing if the backend
// works on host memory.
type staging struct {
	be     device.Backend
	remote bool
	dense  device.Matrix
	host   []float32
}

func newStaging(be device.Backend) staging {
	return staging{be: be, remote: be.New(1, 1).Data == nil}
}

// record returns b's records in the backend's memory.
func (s *staging) record(b device.Batch) record {
	if b.Sparse != nil {
		return record{sparse: b.Sparse}
	}
	if !s.remote || b.Dense.Data == nil || b.Rows == 0 {
		return record{dense: b.Dense}
	}
	return record{dense: s.upload(b.Dense)}
}

// upload copies a host matrix of any stride into the backend's memory, which the next call reuses.
func (s *staging) upload(m device.Matrix) device.Matrix {
	if s.dense.Rows < m.Rows || s.dense.Cols != m.Cols {
		s.dense = s.be.New(roomFor(m.Rows), m.Cols)
	}
	dst := s.dense.RowRange(0, m.Rows)
	s.be.Upload(dst, s.flat(m))
	return dst
}

// flat returns m's numbers row by row without gaps.
func (s *staging) flat(m device.Matrix) []float32 {
	if m.Stride == m.Cols {
		return m.Data[:m.Rows*m.Cols]
	}
	s.host = grow(s.host, m.Rows*m.Cols)
	for i := range m.Rows {
		copy(s.host[i*m.Cols:], m.Row(i))
	}
	return s.host
}

// subtract sets dst = m − x for dense or sparse x; dst may be m.
func (s *staging) subtract(dst, m device.Matrix, x record) {
	switch {
	case x.sparse == nil:
		s.be.Sub(dst, m, x.dense)
	case s.remote:
		s.be.Sub(dst, m, s.densify(x.sparse, m.Rows))
	default:
		for i := range m.Rows {
			row, from := dst.Row(i), m.Row(i)
			if len(row) > 0 && &row[0] != &from[0] {
				copy(row, from)
			}
			for _, item := range x.sparse.Row(i) {
				row[item]--
			}
		}
	}
}

func (s *staging) densify(x *device.Sparse, rows int) device.Matrix {
	s.host = grow(s.host, rows*x.Cols)
	clear(s.host)
	for i := range rows {
		for _, item := range x.Row(i) {
			s.host[i*x.Cols+int(item)]++
		}
	}
	return s.upload(device.HostMatrix(rows, x.Cols, s.host))
}

// grow returns buf with length n, reallocated with some slack if its capacity is too small.
func grow[T any](buf []T, n int) []T {
	if n > cap(buf) {
		return make([]T, n, roomFor(n))
	}
	return buf[:n]
}

// toHost returns m in host memory. If m must be copied, the copy uses the memory of buf if there is
// enough.
func toHost(be device.Backend, m device.Matrix, buf []float32) device.Matrix {
	if m.Mem == nil {
		return m
	}
	buf = grow(buf, m.Rows*m.Cols)
	be.Download(buf, m)
	return device.HostMatrix(m.Rows, m.Cols, buf)
}
