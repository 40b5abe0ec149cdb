package mechanism

import (
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism/internal/sampler"
)

// RandomizedResponse returns value with probability 1 − Noise, where Noise is the event's. With
// probability Noise it returns a category chosen uniformly from all categories, value included.
//
// Guarantee: the cost of the answer is the cost of the grant's accountant.RandomizedResponse.
// Probabilities are exact (noise class: exact). A value outside the categories counts as the
// nearest category. Errors: [ErrNotCovered] under any other event or at a second call.
func (g *Grant) RandomizedResponse(value int) (int, error) {
	e, ok := g.a.terms.other.(accountant.RandomizedResponse)
	if !ok {
		return 0, g.a.refuse("the event is not an accountant.RandomizedResponse")
	}
	g.a.mu.Lock()
	defer g.a.mu.Unlock()
	if err := g.chargeOnce(); err != nil {
		return 0, err
	}
	g.a.note(ledger.ExactNoise)
	src := g.a.stream()
	told := min(max(value, 0), e.Categories-1)
	in := []int64{int64(told)}
	if sampler.Bernoulli(e.Noise, src) {
		told = int(sampler.UniformBelow(uint64(e.Categories), src))
	}
	out := []int64{int64(told)}
	err := g.tellIntegers("randomized response", 1, 1, floatsOf(g, in), out)
	return int(out[0]), err
}
