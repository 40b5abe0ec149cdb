package kmeans

import (
	"cmp"
	"context"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// A store provides the features of all records, part by part. It keeps them in memory if they fit;
// otherwise it computes them again at each visit.
type store struct {
	be    device.Backend
	f     Features
	data  records.Data   // rows
	share records.Shares // of the rows
	clip  float64        // 0 until a clip norm is known
	parts []part
	rows  int  // number of rows of a full part
	keep  bool // features stay in memory

	batch   device.Batch
	scratch device.Matrix
	squared []float64
	factors []float32
}

// A part is a run of consecutive records.
type part struct {
	lo, hi   int
	features device.Matrix // hi−lo rows
}

const (
	partBytes = 8 << 20 // bytes of features in one part
	minRows   = 16
	maxRows   = 8192
)

func newStore(be device.Backend, f Features, data records.Data, limit int64) *store {
	data, shares := records.RowsOf(data)
	n, row := data.Len(), 4*f.Dim()
	rows := min(max(partBytes/row, minRows), maxRows)
	s := &store{be: be, f: f, data: data, share: shares, rows: min(rows, n),
		keep: int64(n)*int64(row) <= limit}
	for lo := 0; lo < n; lo += rows {
		s.parts = append(s.parts, part{lo: lo, hi: min(lo+rows, n)})
	}
	s.squared = make([]float64, s.rows)
	s.factors = make([]float32, s.rows)
	return s
}

// shares returns the weights of a part's rows, or nil if every row has weight 1.
func (s *store) shares(p part) records.Shares {
	if s.share == nil {
		return nil
	}
	return s.share[p.lo:p.hi]
}

// visit calls fn with the features of each part. If a clip norm has been set, the features are
// clipped. visit stops between parts if ctx is done, also if there are none, since whether there
// are records must not be seen. It returns an error if reading the data has failed.
func (s *store) visit(ctx context.Context, fn func(part) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for i := range s.parts {
		p := s.parts[i]
		if p.features.Rows == 0 {
			p.features = s.transform(p)
			s.clipRows(p)
			if s.keep {
				s.parts[i] = p
			}
		}
		if err := cmp.Or(fn(p), ctx.Err()); err != nil {
			return err
		}
	}
	if records.Failed(s.data) {
		return errData
	}
	return nil
}

func (s *store) transform(p part) device.Matrix {
	s.data.Range(p.lo, p.hi, &s.batch)
	var dst device.Matrix
	if s.keep {
		dst = s.be.New(p.hi-p.lo, s.f.Dim())
	} else {
		if s.scratch.Rows == 0 {
			s.scratch = s.be.New(s.rows, s.f.Dim())
		}
		dst = s.scratch.RowRange(0, p.hi-p.lo)
	}
	s.f.Transform(s.be, s.batch, dst)
	return dst
}

// norms returns the squared norms of a part's rows. The slice is valid until the next call.
func (s *store) norms(p part) []float64 {
	sq := s.squared[:p.hi-p.lo]
	s.be.RowSquaredNorms(sq, p.features)
	return sq
}

// setClip sets the clip norm and clips all features that are in memory.
func (s *store) setClip(norm float64) {
	s.clip = norm
	for _, p := range s.parts {
		if p.features.Rows > 0 {
			s.clipRows(p)
		}
	}
}

// clipRows clips the rows of a part. Rows that are not finite become zero.
func (s *store) clipRows(p part) {
	if s.clip == 0 {
		return
	}
	clipRows(s.be, p.features, s.clip, s.norms(p), s.factors)
}

// clipRows clips the rows of m, given their squared norms; factors is scratch memory.
func clipRows(be device.Backend, m device.Matrix, norm float64, squared []float64,
	factors []float32) {
	scaled := false
	for i, sq := range squared {
		factor := mechanism.ClipFactor(sq, norm)
		if factor == 0 {
			be.Fill(m.RowRange(i, i+1), 0) // zero times NaN is NaN
			factor = 1
		}
		factors[i] = float32(factor)
		scaled = scaled || factor != 1
	}
	if scaled {
		be.ScaleRows(m, factors[:m.Rows])
	}
}
