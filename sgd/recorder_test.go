package sgd_test

import (
	"context"
	"sync"

	"github.com/seed7ba64551/privgen/internal/entropy"
)

// recorder records the releases of a run; force may change their outputs.
type recorder struct {
	mu       sync.Mutex
	seed     uint64
	sums     [][]float64 // inputs of gradient releases
	effects  []float64
	samples  []int
	spends   int // ledger lines written
	early    bool
	releases []entropy.Release
	force    func(*entropy.Release)
}

func (s *recorder) context(ctx context.Context) context.Context { return entropy.WithTap(ctx, s) }

func (s *recorder) Source() (*entropy.Source, error) { return entropy.Seeded(s.seed) }

func (s *recorder) Spend(_ string, _ any, count int, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if count == 0 {
		s.spends++
	}
}

func (s *recorder) Sample(x entropy.Sample) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.samples = append(s.samples, len(x.Rows))
	s.early = s.early || s.spends < len(s.samples)
}

func (s *recorder) Release(r *entropy.Release) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.effects = append(s.effects, r.Effect)
	s.early = s.early || s.spends < len(s.samples)
	if r.Mechanism == "Gaussian gradient" {
		s.sums = append(s.sums, append([]float64(nil), r.Inputs[0]...))
	}
	s.releases = append(s.releases, *r)
	if s.force != nil {
		s.force(r)
	}
	return nil
}

func (s *recorder) Refuse(string, error) {}
