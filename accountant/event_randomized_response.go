package accountant

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
	"github.com/seed7ba64551/privgen/internal/param"
)

// RandomizedResponse reports one of Categories values. It reports the true value with probability
// 1−Noise+Noise/Categories, and each other value with probability Noise/Categories.
type RandomizedResponse struct {
	Noise      float64 `json:"noise"`
	Categories int     `json:"categories"`
}

func (e RandomizedResponse) check() error {
	var errs []error
	if !(e.Noise > 0 && e.Noise <= 1) {
		errs = append(errs,
			param.New("accountant.RandomizedResponse.Noise", e.Noise, "a number in (0, 1]"))
	}
	if e.Categories < 2 {
		errs = append(errs,
			param.New("accountant.RandomizedResponse.Categories", e.Categories, "at least 2"))
	}
	return errors.Join(errs...)
}

func (RandomizedResponse) kind() string { return "randomized_response" }

func (e RandomizedResponse) describe() string {
	return fmt.Sprintf("randomized response over %d values, noise %.6g", e.Categories, e.Noise)
}

func (RandomizedResponse) sampling() sampling { return everyRecord() }

func (e RandomizedResponse) charge(c *collector, n int) error {
	if c.relation != ReplaceOne {
		return unsupported("randomized response (a missing record has no answer)", c.relation)
	}
	return c.push(responseAtom{e.Noise, e.Categories}, n)
}

func (e RandomizedResponse) dpAccounting(Relation) (string, error) {
	return dpCall("RandomizedResponseDpEvent", "noise_parameter", pyFloat(e.Noise), "num_buckets",
		strconv.Itoa(e.Categories)), nil
}

type responseAtom struct {
	noise      float64
	categories int
}

func (a responseAtom) key() string {
	return fmt.Sprintf("response %b %d", a.noise, a.categories)
}

func (a responseAtom) pairs() *pld.Pairs {
	other := a.noise / float64(a.categories)
	rest := a.noise * float64(a.categories-2) / float64(a.categories)
	gap := math.Log1p((1 - a.noise) / other) // keeps its digits if both are nearly equal
	if gap == 0 {
		return &pld.Pairs{Remove: pld.NewSymmetric([]float64{0}, []float64{1}, 0)}
	}
	return &pld.Pairs{Remove: pld.NewSymmetric([]float64{-gap, 0, gap},
		[]float64{other, rest, 1 - a.noise + other}, 0)}
}

func (a responseAtom) rdp(order float64) (float64, bool) {
	return a.pairs().Remove.(*pld.Discrete).Renyi(order), true
}

// own returns the largest loss. It is the logarithm of a ratio: the probability of the true answer
// over the probability of another answer.
func (a responseAtom) own() (float64, float64) {
	return math.Log1p((1-a.noise)/a.noise*float64(a.categories)) * (1 + 8*ulp), 0
}

func (responseAtom) attained() bool { return true }
