package mechanism

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
)

func normHistogram(t testing.TB, least, most float64, bins int) *NormHistogram {
	t.Helper()
	return must(NewNormHistogram(least, most, bins))(t)
}

func TestNormsCountInTheirBin(t *testing.T) {
	equal, growing := normHistogram(t, 0, 10, 5), normHistogram(t, 1, 1000, 4)
	for _, c := range []struct {
		h          *NormHistogram
		norm, edge float64
	}{
		{equal, 0, 2}, {equal, 1, 2}, {equal, 2, 2}, {equal, 2.1, 4}, {equal, 9, 10}, {equal, 10, 10},
		{equal, 11, 10}, {equal, 1e9, 10}, {equal, 1e150, 10},
		{growing, 0, 1}, {growing, 0.5, 1}, {growing, 2, 10}, {growing, 11, 100}, {growing, 500, 1000},
		{growing, 1e6, 1000},
	} {
		if got := c.h.edges[c.h.bin(c.norm*c.norm)]; math.Abs(got-c.edge) > 1e-12*c.edge {
			t.Errorf("norm %v: got the bin with upper edge %v, want %v", c.norm, got, c.edge)
		}
	}
	// The top edge is exactly most, and edges increase.
	for _, most := range []float64{0.1, 1.0 / 3, 7.7, 1e9} {
		for _, least := range []float64{0, most / 1e6} {
			h := normHistogram(t, least, most, 97)
			if h.edges[96] != most {
				t.Errorf("got top edge %v, want %v", h.edges[96], most)
			}
			for j := 1; j < len(h.edges); j++ {
				if !(h.edges[j] > h.edges[j-1]) {
					t.Errorf("edge %d is %v after %v", j, h.edges[j], h.edges[j-1])
				}
			}
		}
	}
}

// TestRowsThatBecomeZeroCountAsZero: ClipFactor turns a row whose norm is not finite into zero,
// so the histogram counts it in the bin of the zero row.
func TestRowsThatBecomeZeroCountAsZero(t *testing.T) {
	zero := normHistogram(t, 0, 10, 5).bin(0)
	for _, squared := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1} {
		if ClipFactor(squared, 1) != 0 {
			t.Fatalf("a row of squared norm %v is kept", squared)
		}
		for _, h := range []*NormHistogram{normHistogram(t, 0, 10, 5), normHistogram(t, 0.1, 10, 5)} {
			if got := h.bin(squared); got != zero {
				t.Errorf("squared norm %v counts in bin %d, the zero row in bin %d", squared, got, zero)
			}
		}
	}
	if got := normHistogram(t, 0, 10, 5).bin(math.MaxFloat64); got != 4 {
		t.Errorf("the largest finite norm counts in bin %d, want the top one", got)
	}
}

// TestNormHistogramChoosesTheFullestBin: the fullest bin wins. The noise is about 1/100 of a count,
// so a false alarm needs noise of 50 standard deviations or more.
func TestNormHistogramChoosesTheFullestBin(t *testing.T) {
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		run := Begin(context.Background(),
			ledger.New(accountant.Budget{Epsilon: 1e9, Delta: 1e-5, Relation: r}))
		const z = 0.01
		g := must(run.Spend("norm", accountant.Gaussian{NoiseMultiplier: z}))(t)
		h := normHistogram(t, 0, 10, 5)
		for range 3 {
			h.Add(1e9)
		}
		h.Reset()
		h.Add(25)
		if _, err := h.Release(g, z/2); !errors.Is(err, ErrNotCovered) {
			t.Errorf("%v: half the noise: got %v, want ErrNotCovered", r, err)
		}
		if norm, err := h.Release(g, z); err != nil || norm != 6 {
			t.Errorf("%v: got clip norm %v, %v, want 6", r, norm, err)
		}
		if _, err := h.Release(g, z); !errors.Is(err, ErrNotCovered) {
			t.Errorf("%v: twice: got %v, want ErrNotCovered", r, err)
		}
	}
}

// TestNormHistogramNoise: the noise of a count is the multiplier times the relation's sensitivity.
// The noise of the difference of two bins is √2 times larger. So a bin that leads by lead counts
// wins with probability Φ(lead ÷ (√2·std)). Each frequency must lie within 6.2 standard deviations
// of this probability, which fails by chance with a probability below 1e-9. A factor of √2 in the
// noise would be detected.
func TestNormHistogramNoise(t *testing.T) {
	const n, z, lead = 20000, 50, 100
	for r, p := range map[accountant.Relation]float64{
		accountant.AddOrRemoveOne: phi(lead / (z * math.Sqrt2)),
		accountant.ReplaceOne:     phi(lead / (z * math.Sqrt2 * math.Sqrt2)),
	} {
		run := Begin(context.Background(),
			ledger.New(accountant.Budget{Epsilon: 1e9, Delta: 1e-5, Relation: r}))
		a := must(run.Reserve("norm", accountant.Gaussian{NoiseMultiplier: z}, n))(t)
		h := normHistogram(t, 0, 2, 2)
		for range lead {
			h.Add(4)
		}
		won := 0
		for range n {
			g := must(a.Next())(t)
			norm := must(h.Release(g, z))(t)
			if norm == 2 {
				won++
			}
		}
		sixSigma(t, r.String(), won, n, p)
	}
	if a, b := phi(lead/(z*math.Sqrt2)),
		phi(lead/(z*2.0)); math.Abs(a-b)*n < 12.4*math.Sqrt(n*b*(1-b)) {
		t.Errorf("the probabilities %v and %v of the two relations are too close", a, b)
	}
}

// TestNormHistogramNoiseInShares: where persons are counted in shares, the noise is that of whole
// persons. A lead of one person is 1/100 of the noise of the difference, so each of two bins wins
// often: 200 releases all choose the leading bin with probability 5e-60. Noise in steps of a share
// would never let the other one win.
func TestNormHistogramNoiseInShares(t *testing.T) {
	const n, z = 200, 100
	a := reserved(t, gaussian(z), n)
	h := normHistogram(t, 0, 2, 2)
	h.InShares()
	h.AddShare(4, 1)
	other := 0
	for range n {
		g := must(a.Next())(t)
		norm := must(h.Release(g, z))(t)
		if norm == 1 {
			other++
		}
	}
	if other == 0 {
		t.Errorf("the noise never exceeds a lead of one person in %d releases", n)
	}
}

func phi(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

func TestNormHistogramRefuses(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		least, most float64
		bins        int
	}{
		{0, 0, 3}, {0, -1, 3}, {0, nan, 3}, {0, inf, 3}, {1, 1, 3}, {2, 1, 3}, {-1, 1, 3}, {nan, 1, 3},
		{0, 1, 0}, {0, 1, -1}, {0, 1, 1<<20 + 1}, {0.1, 1, 1},
	} {
		var wrong *param.Error
		if _, err := NewNormHistogram(c.least, c.most, c.bins); !errors.As(err, &wrong) {
			t.Errorf("%+v: got %v, want a *param.Error", c, err)
		}
	}
}
