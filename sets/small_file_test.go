package sets

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// TestSmallFileOfLargeDomain: a file holds 8 bytes for each set of MWEM's domain. A reader draws
// the sets again, and they may be long, so their product is bounded for plans and for files.
func TestSmallFileOfLargeDomain(t *testing.T) {
	for _, c := range []struct {
		items, domain int
		good          bool
	}{{512, 64, true}, {1 << 14, 1 << 10, true}, {1 << 15, 1 << 10, false}, {1 << 24, 2, false}} {
		s := records.Sets(1<<24, c.items)
		v := make([]float64, c.domain)
		v[0] = 1
		f, err := synth.NewFile(modelHeader{Schema: s, MaxItems: c.items, Domain: c.domain},
			synth.FloatsPart(sectionNumbers, &v, len(v)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := readModel(f, synth.Loading{}); (err == nil) != c.good ||
			errors.Is(err, synth.ErrFormat) == c.good {
			t.Errorf("file of %d sets of %d items: got %v", c.domain, c.items, err)
		}
		_, err = MWEM{Common: Common{Schema: s, MaxItems: c.items,
			Budget: accountant.Budget{Epsilon: 1, Delta: 1e-6}}, Domain: c.domain}.Plan()
		if wrong := (*param.Error)(nil); (err == nil) != c.good || errors.As(err, &wrong) == c.good {
			t.Errorf("plan of %d sets of %d items: got %v", c.domain, c.items, err)
		}
	}
}

// TestLongSetsAreTheSame compares both ways to draw a set: files depend on them.
func TestLongSetsAreTheSame(t *testing.T) {
	for seed := range uint64(20) {
		n := longSet + 1 + int(seed)
		universe := n + 1 + int(seed*seed)
		long := drawSet(rand.New(rand.NewPCG(seed, 1)), universe, n)
		rng := rand.New(rand.NewPCG(seed, 1))
		var set []uint32
		for last := universe - n; last < universe; last++ {
			item := uint32(rng.IntN(last + 1))
			if slices.Contains(set, item) {
				item = uint32(last)
			}
			set = append(set, item)
		}
		slices.Sort(set)
		if !slices.Equal(long, set) {
			t.Fatalf("%d of %d items differ", n, universe)
		}
	}
}
