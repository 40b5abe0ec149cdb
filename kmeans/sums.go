package kmeans

import (
	"context"
	"sync"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// sums holds one iteration's private numbers: the exact fixed-point sums of features and the counts
// of every cluster. Each worker has its own sums and counts. Only [mechanism.Grant.Release]
// releases them.
type sums struct {
	k, dim  int
	workers []workerSums
	host    []float32 // features on the host, if the backend has separate memory
}

type workerSums struct {
	features *mechanism.FixedSum // k·dim
	counts   *mechanism.FixedSum // k
}

func newSums(k, dim, workers int, n noise, shared bool) *sums {
	s := &sums{k: k, dim: dim, workers: make([]workerSums, max(workers, 1))}
	for i := range s.workers {
		s.workers[i] = workerSums{
			mechanism.NewFixedSum(k*dim, mechanism.GridFor(n.sum)),
			mechanism.NewFixedSum(k, mechanism.CountGrid(n.count, shared)),
		}
	}
	return s
}

func (s *sums) reset() {
	for _, w := range s.workers {
		w.features.Reset()
		w.counts.Reset()
	}
}

// add adds every row to its cluster. A row of a person has the row's own weight, and any other row
// has weight 1. A person thus adds a weighted mean of rows; see [records.RowsOf]. Since sums are
// integers, the result does not depend on how rows are divided among workers.
func (s *sums) add(be device.Backend, features device.Matrix, assigned []int32,
	shares records.Shares) {
	features = s.onHost(be, features)
	var wg sync.WaitGroup
	each := (features.Rows + len(s.workers) - 1) / len(s.workers)
	for i, w := range s.workers {
		lo, hi := min(i*each, features.Rows), min((i+1)*each, features.Rows)
		if hi-lo == features.Rows {
			w.add(s.dim, features, assigned, shares, lo, hi)
			return
		}
		wg.Go(func() { w.add(s.dim, features, assigned, shares, lo, hi) })
	}
	wg.Wait()
}

func (w workerSums) add(dim int, features device.Matrix, assigned []int32, shares records.Shares,
	lo, hi int) {
	for i := lo; i < hi; i++ {
		c := int(assigned[i])
		w.features.AddRowAt(c*dim, features.Row(i), shares.Of(i))
		w.counts.AddShare(c, shares.Of(i))
	}
}

func (s *sums) onHost(be device.Backend, m device.Matrix) device.Matrix {
	if m.Mem == nil {
		return m
	}
	if len(s.host) < m.Rows*m.Cols {
		s.host = make([]float32, m.Rows*m.Cols)
	}
	host := device.Matrix{Rows: m.Rows, Cols: m.Cols, Stride: m.Cols, Data: s.host[:m.Rows*m.Cols]}
	be.Download(host.Data, m)
	return host
}

// total merges the sums of all workers into the first worker's and returns them.
func (s *sums) total() workerSums {
	t := s.workers[0]
	for _, w := range s.workers[1:] {
		t.features.Merge(w.features)
		t.counts.Merge(w.counts)
		w.features.Reset()
		w.counts.Reset()
	}
	return t
}

// released holds one iteration's noisy numbers, which are public.
type released struct {
	sums   []float64 // k·dim
	counts []float64 // k
}

func (t workerSums) release(g *mechanism.Grant, n noise, out released) error {
	return g.Release(n.effect,
		mechanism.Part{Sum: t.features, Std: n.sum, Out: out.sums},
		mechanism.Part{Sum: t.counts, Std: n.count, Out: out.counts})
}

// assigning adds records to the clusters of their nearest centres.
type assigning struct {
	be       device.Backend
	near     *nearest
	assigned []int32
	totals   *sums
}

func newAssigning(be device.Backend, k, dim, rows int, totals *sums) *assigning {
	return &assigning{be, newNearest(be, k, dim, rows), make([]int32, rows), totals}
}

// add adds every record of a store once.
func (a *assigning) add(ctx context.Context, s *store) error {
	return s.visit(ctx, func(p part) error {
		a.near.assign(p.features, a.assigned)
		a.totals.add(a.be, p.features, a.assigned, s.shares(p))
		return nil
	})
}

// isReal reports whether a backend makes fewer than two promises. The first promise is that the
// result for a row does not depend on other rows. The second promise is that this result always has
// the same bits. Without both promises, noise is of the real class.
func isReal(be device.Backend) bool {
	return device.PromisesOf(be) != device.Promises{RowsAlone: true, SameBits: true}
}
