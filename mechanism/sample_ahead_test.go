package mechanism

import (
	"context"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/entropy"
)

// allowanceOf returns an allowance of three grants without a tap. The samples follow from a seed.
func allowanceOf(t testing.TB) *Allowance {
	t.Helper()
	r := Begin(context.Background(), accountant.NewLedger(testBudget()))
	var err error
	if r.source, err = entropy.Seeded(3); err != nil {
		t.Fatal(err)
	}
	a, err := r.Reserve("test", sampled(0.3), 3)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestNextSample: NextSample returns the sample that the next grant gets. It changes no sample and
// no key and takes no use. Each sample is given to one grant.
func TestNextSample(t *testing.T) {
	const n = 500
	plain, looking := allowanceOf(t), allowanceOf(t)
	var samples [][]int32
	for left := 3; left > 0; left-- {
		first := slices.Clone(looking.NextSample(n))
		again := slices.Clone(looking.NextSample(n))
		if looking.Remaining() != left {
			t.Fatalf("%d uses are left, want %d", looking.Remaining(), left)
		}
		a, err := plain.Next()
		if err != nil {
			t.Fatal(err)
		}
		b, err := looking.Next()
		if err != nil {
			t.Fatal(err)
		}
		want, wantKeys := a.PoissonSample(n, nil, nil)
		got, keys := b.PoissonSample(n, nil, nil)
		if !slices.Equal(got, want) || !slices.Equal(keys, wantKeys) || !slices.Equal(first, want) ||
			!slices.Equal(again, want) {
			t.Errorf("%d left: NextSample returns %v and %v, the grant draws %v, want %v", left, first,
				again, got, want)
		}
		samples = append(samples, want)
	}
	if slices.Equal(samples[0], samples[1]) || slices.Equal(samples[1], samples[2]) {
		t.Error("two grants have the same sample")
	}
	if looking.NextSample(n) != nil {
		t.Error("NextSample returns a sample although no grant is left")
	}
}

// TestNextSampleOfOtherRows: a sample that NextSample drew for another number of rows is not
// used.
func TestNextSampleOfOtherRows(t *testing.T) {
	a := allowanceOf(t)
	if a.NextSample(10); slices.Max(append(a.NextSample(1000), 0)) < 10 {
		t.Error("the sample of 10 rows was returned for 1000")
	}
	g, err := a.Next()
	if err != nil {
		t.Fatal(err)
	}
	rows, _ := g.PoissonSample(10, nil, nil)
	for _, r := range rows {
		if r >= 10 {
			t.Errorf("got row %d of 10 rows", r)
		}
	}
	none, err := Begin(t.Context(), accountant.NewLedger(testBudget())).Reserve("test",
		accountant.Gaussian{NoiseMultiplier: 9}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if none.NextSample(10) != nil {
		t.Error("NextSample returns a sample for an event without a sample")
	}
}

// TestNextSampleUnderTests: NextSample returns the sample of the next step also with a tap.
func TestNextSampleUnderTests(t *testing.T) {
	ctx := entropy.WithTap(t.Context(), seededTap{})
	a, err := Begin(ctx, accountant.NewLedger(testBudget())).Reserve("test", sampled(0.3), 2)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		want := a.NextSample(100)
		g, err := a.Next()
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := g.PoissonSample(100, nil, nil); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

// seededTap is a tap that records nothing.
type seededTap struct{}

func (seededTap) Source() (*entropy.Source, error) { return entropy.Seeded(4) }
func (seededTap) Spend(string, any, int, error)    {}
func (seededTap) Sample(entropy.Sample)            {}
func (seededTap) Release(*entropy.Release) error   { return nil }
func (seededTap) Refuse(string, error)             {}
