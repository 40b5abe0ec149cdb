package graphical

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// largest draws the largest numbers.
type largest struct{}

func (largest) Uint64() uint64 { return math.MaxUint64 }

// smallest draws zeros.
type smallest struct{}

func (smallest) Uint64() uint64 { return 0 }

// TestExtendedModelsAreApart extends one model twice: neither has a factor of the other.
func TestExtendedModelsAreApart(t *testing.T) {
	m := NewModel(Domain{2, 3, 4}, append(make([]Factor, 0, 9), Factor{[]int{0}, make([]float64, 2)}))
	one := m.Extended([]int{1})
	other := m.Extended([]int{0}, []int{1, 2})
	if !slices.Equal(one.Factors[1].Attributes, []int{1}) || len(one.Factors) != 2 ||
		!slices.Equal(other.Factors[1].Attributes, []int{1, 2}) || len(other.Factors) != 2 {
		t.Errorf("got factors %v and %v, want one more of [1] and of [1 2]", one.Factors, other.Factors)
	}
}

// TestProbabilitiesOfObservationsAreAtMostOne observes what is certain: rounding errors must not
// give it a probability above 1.
func TestProbabilitiesOfObservationsAreAtMostOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 100 {
		m := random(rng)
		pair := []int{rng.IntN(3), 3 + rng.IntN(2)} // another tree, whose sums round otherwise
		certain := slices.Repeat([]float64{1}, int(m.Domain.Cells(pair)))
		if _, p := m.Given(Observation(pair, certain)); !(p > 1-1e-9 && p <= 1) {
			t.Fatalf("what is certain has the probability %v", p)
		}
	}
}

// TestNoFactorOutweighsWhatIsObserved: a file may hold factors of ±1e5 that make a class all but
// impossible. Rows of this class were of another one, since an observation was a factor of -1e5.
// What contradicts itself has no probability, and no row is NaN.
func TestNoFactorOutweighsWhatIsObserved(t *testing.T) {
	m := NewModel(Domain{3, 2, 4}, []Factor{{[]int{0}, []float64{-1e5, 1e5, 0}},
		{[]int{0, 1}, []float64{-1e5, -1e5, 1e5, 1e5, 0, 0}},
		{[]int{1, 2}, []float64{0, 1, 2, 3, 1e5, -1e5, -1e5, -1e5}},
		{[]int{2}, []float64{-1e5, -1e5, -1e5, -1e5}}})
	one := Observation([]int{0}, []float64{1, 0, 0})
	given, p := m.Given(one)
	rows := given.Drawer().Draw(rand.New(rand.NewPCG(1, 1)), 50)
	if slices.Max(rows[0]) != 0 || p != 0 {
		t.Errorf("rows of class 0 have the classes %v, and the probability %v", rows[0], p)
	}
	if law := given.Marginal([]int{0, 1}); !(math.Abs(law[0]+law[1]-1) < 1e-9) {
		t.Errorf("the distribution of class 0 is %v", law)
	}
	c := given.Completer(1)
	for v, row := range [][]uint16{{0, 9, 9}, {1, 9, 9}} {
		if c.Complete(rand.New(rand.NewPCG(1, 1)), row); row[1] > 1 || row[2] > 3 {
			t.Errorf("value %d: the row %v", v, row)
		}
	}
	none, p := m.Given(one, Observation([]int{0, 1}, []float64{0, 0, 1, 0, 1, 1}))
	if rows := none.Drawer().Draw(rand.New(rand.NewPCG(1, 1)), 5); p != 0 || len(rows[0]) != 5 {
		t.Errorf("a contradiction has the probability %v and the rows %v", p, rows)
	}
	if law := m.Marginal([]int{0}); law[1] != 1 {
		t.Errorf("the model has the classes %v", law)
	}
	if given, p := m.Given(Observation([]int{0}, make([]float64, 3))); p != 0 ||
		!slices.Equal(given.Marginal([]int{0}), m.Marginal([]int{0})) {
		t.Errorf("nothing observed: %v with the probability %v", given.Marginal([]int{0}), p)
	}
}

// TestFactorsThatAreNotFinite become numbers, since a file may hold any.
func TestFactorsThatAreNotFinite(t *testing.T) {
	theta := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300, 0}
	m := NewModel(Domain{5}, []Factor{{[]int{0}, slices.Clone(theta)}})
	sum := 0.0
	for _, p := range m.Marginal([]int{0}) {
		sum += p
	}
	if !(math.Abs(sum-1) < 1e-12) {
		t.Errorf("factors %v give probabilities of the sum %v, want 1", theta, sum)
	}
}

// TestRoundedTotals: whether the total is more or less than the weights add up to, what is drawn
// has a weight, and as many rows are drawn as wanted.
func TestRoundedTotals(t *testing.T) {
	weights, cells := []float64{0, 1, 0, 2, 0}, []int32{0, 1, 2, 3, 4}
	c := NewModel(Domain{5}, nil).Completer(0)
	for last, want := range map[float64]int32{2: 3, 1e300: 3, 1e-300: 1} { // 1 + 1e-300 is 1
		copy(c.model.nodes[0].work, []float64{0, 1, 0, last, 0})
		c.passes++
		if got := c.picked(rand.New(largest{}), 0, 0); got != want {
			t.Errorf("weights 1 and %v: cell %d is picked, want %d", last, got, want)
		}
		if got := c.picked(rand.New(smallest{}), 0, 0); got != 1 {
			t.Errorf("weights 1 and %v: cell %d is picked, want 1, the first", last, got)
		}
	}
	for _, total := range []float64{1, 3, 9} {
		got := stratified(rand.New(rand.NewPCG(1, 1)), weights, total, cells, 12, nil)
		if len(got) != 12 {
			t.Errorf("a total of %v gives %d picks, want 12", total, len(got))
		}
		for _, cell := range got {
			if weights[cell] == 0 {
				t.Errorf("a total of %v: cell %d without a weight is picked", total, cell)
			}
		}
	}
}

// TestFitWeighsSumsByTheirParts: a value that is the sum of many noisy numbers counts less than one
// that is a single number.
func TestFitWeighsSumsByTheirParts(t *testing.T) {
	m := NewModel(Domain{2}, nil).Extended([]int{0})
	err := m.Fit(t.Context(), []Measurement{
		{Attributes: []int{0}, Values: []float64{80, 20}, Std: 1},
		{Attributes: []int{0}, Values: []float64{20, 80}, Std: 1, Parts: []float64{99, 99}},
	}, 100, 400)
	want := (0.8 + 0.2/99) / (1 + 1./99)
	if p := m.Marginal([]int{0}); err != nil || math.Abs(p[0]-want) > 1e-3 {
		t.Errorf("got %v, %v, want a probability of %v of the first value", p, err, want)
	}
}

func TestAnEndedContextEndsAFit(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	list := []Measurement{{Attributes: []int{0}, Values: []float64{8, 2}, Std: 1}}
	m := NewModel(Domain{2}, nil).Extended([]int{0})
	if err := m.Fit(ended, list, 10, 40); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want Canceled", err)
	}
}
