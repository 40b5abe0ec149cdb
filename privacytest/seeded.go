package privacytest

import (
	"context"
	"sync"
	"testing"

	"github.com/seed7ba64551/privgen/internal/entropy"
)

// Seeded returns a context in which the noise, samples and keys of every run are a function of
// the seed and of the order of the runs. Poisson samples are coupled: whether a row is drawn
// depends only on the seed, the run, the step and the row's number. So a row with the same number
// in two data sets is in both samples, or in none of them.
//
// Guarantee: none. Every ledger that such a run spends from is marked
// "deterministic test noise: not private".
func Seeded(tb testing.TB, ctx context.Context, seed uint64) context.Context {
	tb.Helper()
	return entropy.WithTap(ctx, &seeded{seed: seed})
}

// seeded is a tap that only replaces the source.
type seeded struct {
	mu   sync.Mutex
	seed uint64
	runs uint64
	// number, if not nil, returns the number that determines the inclusion and the key of a row.
	number func(row int) int
}

// Source gives every run in one context a different key.
func (s *seeded) Source() (*entropy.Source, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs++
	return entropy.Renumbered(s.seed*0x9e3779b97f4a7c15+s.runs, s.number)
}

func (*seeded) Spend(string, any, int, error)  {}
func (*seeded) Sample(entropy.Sample)          {}
func (*seeded) Refuse(string, error)           {}
func (*seeded) Release(*entropy.Release) error { return nil }
