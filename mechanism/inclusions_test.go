package mechanism

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/ledger"
)

func reserved(t testing.TB, e accountant.Event, count int) *Allowance {
	t.Helper()
	return must(Begin(t.Context(), ledger.New(testBudget())).Reserve("test", e, count))(t)
}

func planned(t testing.TB, n int, order ...*Allowance) *Inclusions {
	t.Helper()
	return must(PlanInclusions(n, order...))(t)
}

// cellsOf returns the inclusions of some rows, in order.
func cellsOf(x *Inclusions, lo, hi int) (list [][2]int) {
	x.Each(lo, hi, func(row, grant int) { list = append(list, [2]int{row, grant}) })
	slices.SortFunc(list, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	return list
}

// TestInclusionsDependOnPositionsAlone: the samples of shards of any size, in this process or
// another, together equal the samples of all rows. Rows that do not exist are in no sample.
func TestInclusionsDependOnPositionsAlone(t *testing.T) {
	const n = 5000
	for _, q := range []float64{0.01, 0.4, 1} {
		a := reserved(t, sampled(q), 7)
		x := planned(t, n, slices.Repeat([]*Allowance{a}, 7)...)
		secret := must(x.Secret())(t)
		other := must(ReadInclusions(secret))(t)
		want := cellsOf(x, 0, n)
		for _, size := range []int{333, 1024, 4000, 9000} {
			var got [][2]int
			for lo := 0; lo < n; lo += size {
				got = append(got, cellsOf(other, lo, lo+size)...)
			}
			if !slices.Equal(want, got) {
				t.Errorf("q = %v: the samples of shards of %d rows differ from those of all rows", q, size)
			}
		}
		if q == 1 && len(want) != 7*n {
			t.Errorf("got %d inclusions, want %d", len(want), 7*n)
		}
		if more := cellsOf(x, -10, 2*n); !slices.Equal(want, more) {
			t.Errorf("q = %v: rows that do not exist are in a sample", q)
		}
		again := planned(t, n, a)
		if q < 1 && slices.Equal(cellsOf(again, 0, n), cellsOf(planned(t, n, a), 0, n)) {
			t.Error("two plans share a key")
		}
	}
}

// TestInclusionsRate: every inclusion has the event's probability, and inclusions of one row, of
// one grant and of adjacent rows are independent. Each of the fifteen comparisons fails by chance
// with probability 6e-10.
func TestInclusionsRate(t *testing.T) {
	for _, q := range []float64{0.3, 0.1, 0.05} {
		const grants = 50
		n := int(1.7e6 * (1 - q) / q / grants) // one per cent of the rate is 13 standard deviations
		x := planned(t, n, slices.Repeat([]*Allowance{reserved(t, sampled(q), grants)}, grants)...)
		in := make([]bool, n*grants)
		x.Each(0, n, func(row, grant int) { in[row*grants+grant] = true })
		all, first, both, along, beside := 0, 0, 0, 0, 0
		for row := range n {
			for g := range grants {
				i := row*grants + g
				if !in[i] {
					continue
				}
				all++
				if g == 0 {
					first++
				}
				if g%2 == 0 && in[i+1] {
					both++
				}
				if row%2 == 0 && row+1 < n && in[i+grants] {
					along++
				}
				if g == grants-1 && row+1 < n && in[i+1] {
					beside++
				}
			}
		}
		sixSigma(t, "all", all, n*grants, q)
		sixSigma(t, "of the first grant", first, n, q)
		sixSigma(t, "of two grants", both, n*grants/2, q*q)
		sixSigma(t, "of two rows", along, n/2*grants, q*q)
		sixSigma(t, "of the last grant and the first", beside, n-1, q*q)
		cells := float64(n) * grants
		if off := 0.01 * q * cells / math.Sqrt(cells*q*(1-q)); off < 12.4 {
			t.Errorf("q = %v: an error of 1 %% in the rate is %.1f standard deviations, want 12.4", q, off)
		}
	}
}

// TestBlocksOfPositionsAreIndependent: no two blocks of positions share their samples, however far
// apart they are. Two equal ones would occur by chance with probability 2^-1024.
func TestBlocksOfPositionsAreIndependent(t *testing.T) {
	n := min(mostPositions, math.MaxInt)
	x := planned(t, n, reserved(t, sampled(0.5), 1))
	blocks := map[string]int{}
	for lo := 0; lo <= n/2; lo = max(2*lo, blockRows) { // twice as much is an int of 32 bits, too
		rows := make([]byte, blockRows)
		x.Each(lo, lo+blockRows, func(row, _ int) { rows[row-lo] = 1 })
		if at, known := blocks[string(rows)]; known {
			t.Errorf("the rows from %d and from %d have equal samples", at, lo)
		}
		blocks[string(rows)] = lo
	}
}

// TestInclusionsAreOfTheirGrants: a sample can be used once, by the grant that it was planned
// for, and a grant without a sample releases nothing.
func TestInclusionsAreOfTheirGrants(t *testing.T) {
	sum := NewFixedSum(1, GridFor(1))
	release := func(g *Grant) error {
		return g.Release(0.5, Part{Sum: sum, Std: 2, Out: make([]float64, 1)})
	}
	next := func(a *Allowance) *Grant {
		return must(a.Next())(t)
	}
	a := reserved(t, sampled(0.5), 9)
	x := planned(t, 10, a, a, a)
	one, two := next(a), next(a)
	if err := release(one); !errors.Is(err, ErrNotCovered) {
		t.Errorf("without a sample: got %v, want ErrNotCovered", err)
	}
	if err := x.Use(0, one); err != nil {
		t.Fatal(err)
	}
	if err := release(one); err != nil {
		t.Error(err)
	}
	for name, use := range map[string]func() (*Grant, error){
		"the sample of another": func() (*Grant, error) { return two, x.Use(2, two) },
		"a sample again":        func() (*Grant, error) { return one, x.Use(0, one) },
		"no sample": func() (*Grant, error) {
			g := next(a)
			return g, x.Use(9, g)
		},
		"two samples": func() (*Grant, error) {
			y := planned(t, 10, a)
			g := next(a)
			g.PoissonSample(10, nil, nil)
			return g, y.Use(0, g)
		},
		"read elsewhere": func() (*Grant, error) {
			y := planned(t, 10, a)
			secret, _ := y.Secret()
			z := must(ReadInclusions(secret))(t)
			g := next(a)
			return g, z.Use(0, g)
		},
		"of another allowance": func() (*Grant, error) {
			b := reserved(t, sampled(0.5), 1)
			g := next(b)
			return g, planned(t, 10, a).Use(0, g)
		},
	} {
		g, err := use()
		if !errors.Is(err, ErrNotCovered) {
			t.Errorf("%s: got %v, want ErrNotCovered", name, err)
		}
		if err := release(g); !errors.Is(err, ErrNotCovered) {
			t.Errorf("%s: the release returns %v, want ErrNotCovered", name, err)
		}
	}
}

// TestInclusionsThatCannotBe: invalid plans and invalid bytes are refused.
func TestInclusionsThatCannotBe(t *testing.T) {
	a, b := reserved(t, sampled(0.5), 2), reserved(t, sampled(0.25), 2)
	plain := reserved(t, accountant.Gaussian{NoiseMultiplier: 2}, 2)
	for name, order := range map[string][]*Allowance{"none": nil, "no sample": {plain},
		"two probabilities": {a, b}, "more than are left": {a, a, a}} {
		if _, err := PlanInclusions(10, order...); !errors.Is(err, ErrNotCovered) {
			t.Errorf("%s: got %v, want ErrNotCovered", name, err)
		}
	}
	many := math.MaxInt // too few where an int has 32 bits
	if _, err := PlanInclusions(many, a); int64(many) > mostPositions && !errors.Is(err,
		ErrNotCovered) {
		t.Errorf("too many rows: got %v, want ErrNotCovered", err)
	}
	for _, text := range []string{"", "{}", `{"Key":"AA==","N":"","Grants":1}`} {
		if _, err := ReadInclusions([]byte(text)); err == nil {
			t.Errorf("ReadInclusions accepts %q", text)
		}
	}
	lengths := map[int]bool{}
	for _, n := range []int{0, 1, math.MaxInt >> 24} {
		x := planned(t, n, a)
		secret := must(x.Secret())(t)
		lengths[len(secret)] = true
		if s := fmt.Sprintf("%v %+v %#v", x, x, *x); s != "[private] [private] [private]" {
			t.Errorf("inclusions print as %s", s)
		}
	}
	if len(lengths) != 1 {
		t.Errorf("secrets have the lengths %v, want one length", lengths)
	}
}

// TestInclusionsUnderTests: with a tap, the samples equal the samples that the grants draw.
func TestInclusionsUnderTests(t *testing.T) {
	ctx := entropy.WithTap(context.Background(), seededTap{})
	a := must(Begin(ctx, ledger.New(testBudget())).Reserve("test", sampled(0.3), 3))(t)
	x := planned(t, 200, a, a, a)
	for k := range 3 {
		g := must(a.Next())(t)
		want, _ := g.PoissonSample(200, nil, nil)
		var got []int32
		x.Each(0, 200, func(row, grant int) {
			if grant == k {
				got = append(got, int32(row))
			}
		})
		if !slices.Equal(got, want) {
			t.Errorf("grant %d: got %v, want %v", k, got, want)
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
