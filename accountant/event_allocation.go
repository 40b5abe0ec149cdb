package accountant

import (
	"errors"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
	"github.com/seed7ba64551/privgen/internal/param"
)

// RandomAllocation is an epoch of Steps Gaussian releases, each of a sum of some of the records.
// Every record takes part in exactly one step, drawn uniformly and independently of other records,
// and adds vectors there that depend on earlier releases. NoiseMultiplier is standard deviation ÷
// the largest norm of a record's vector. Several releases of one step count as one, as [SameBatch]
// does. Only AddOrRemoveOne has a price. Repeated is several epochs, with new draws in each.
//
// A fixed partition of a shuffled data set into batches is another mechanism: there, a removed
// record changes the batches of others.
//
// Proof of the price: let the allocation of the other records be public, which only helps to tell
// neighbours apart. Let I be the step of the record. Without the record, the result y_i of step i
// is normal about some f_i(y_1, …, y_{i−1}); with it, f_i + 1{I = i}·g_i, where g_i is at most one
// norm long and also depends on earlier results. Let u_i be the direction of g_i and r_i its length
// in norms, at most 1. Draw x from N(0, σ²I), or from (1/t)Σ N(e_i, σ²I), and let
// y_i = f_i + u_i·(r_i·x_i + √(1−r_i²)·w_i) + w′_i, where w_i is N(0, σ²) and w′_i is normal noise
// orthogonal to u_i. So y is distributed as the results without the record, or with it. Therefore
// the two distributions of x dominate the mechanism, in both directions, and constant vectors g_i
// attain them. In a step of several releases, x_i is the value of a Brownian motion with a drift,
// and the releases are its increments. Compare Chua et al. 2024, Balls-and-Bins Sampling for
// DP-SGD, and Feldman and Shenfeld 2025, Privacy amplification by random allocation.
//
// With Times = k above 1, every record takes part in exactly k steps, a uniform subset of them. It
// costs at most k such epochs of ⌊Steps/k⌋ steps. Proof: to draw k disjoint sets of this many
// steps, and then one step from each, draws a uniform subset. If the sets are public, x has a
// coordinate for each step, and the sets' coordinates are independent. As above, y depends on x in
// the order of time.
//
// With Shuffled, the records are shuffled in each epoch, and as many go to every step, or one more.
// Only ReplaceOne has a price, because the number of records decides the batches. The multiplier is
// then standard deviation ÷ the distance that a replacement moves a sum. The price is that of one
// Gaussian release in each epoch, as if the batches were public. It is not proven that a shuffle
// costs less. Its lower end is an allocation's, which other records like the replacement attain:
// only the batch of the record moves. Compare Chua et al. 2024, How Private are DP-SGD
// Implementations.
type RandomAllocation struct {
	Steps           int     `json:"steps"`            // of one epoch, at most 2^20
	NoiseMultiplier float64 `json:"noise_multiplier"` // see above
	Times           int     `json:"times,omitempty"`  // steps that a record takes part in; 0 for one
	Shuffled        bool    `json:"shuffled,omitempty"`
}

// mostTimes bounds the draws for a record.
const mostTimes = 1 << 12

func (e RandomAllocation) check() error {
	errs := []error{positive("accountant.RandomAllocation.NoiseMultiplier", e.NoiseMultiplier)}
	if !(e.Steps >= 1 && e.Steps <= pld.MostSlots) {
		errs = append(errs, param.New("accountant.RandomAllocation.Steps", e.Steps,
			"a positive integer of at most 2^20"))
	}
	if !(e.Times >= 0 && e.Times <= min(max(e.Steps, 0), mostTimes)) || e.Shuffled && e.Times > 1 {
		errs = append(errs, param.New("accountant.RandomAllocation.Times", e.Times,
			"a number of steps, at most Steps and 4096, and at most 1 with Shuffled"))
	}
	return errors.Join(errs...)
}

func (RandomAllocation) kind() string { return "random_allocation" }

func (e RandomAllocation) describe() string {
	how, unit := "on a random allocation of records to %d steps", "clip norms"
	if e.Times > 1 {
		how = fmt.Sprintf("on a random allocation of records to %d of %%d steps", e.Times)
	} else if e.Shuffled {
		how, unit = "on a shuffle of the records to %d steps", "times what a replacement moves it"
	}
	return fmt.Sprintf(how+": Gaussian releases of a clipped sum, standard deviation %.6g %s",
		e.Steps, e.NoiseMultiplier, unit)
}

func (e RandomAllocation) sampling() sampling {
	if e.Shuffled {
		return sampled(samplerShuffled).ofPublicSize()
	}
	return sampled(samplerAllocated)
}

func (e RandomAllocation) charge(c *collector, n int) error {
	a := allocationAtom{steps: e.Steps, mu: max(1/e.NoiseMultiplier, leastAllocated),
		shuffled: e.Shuffled}
	times := max(e.Times, 1)
	if a.steps /= times; times > 1 {
		a.share = float64(times) / float64(e.Steps)
	}
	switch {
	case e.Shuffled != (c.relation == ReplaceOne):
		return unsupported("such an allocation of records to steps", c.relation)
	case times == e.Steps:
		return c.pushAll([]term{{gaussianAtom{1 / e.NoiseMultiplier}, times}}, n)
	}
	return c.pushAll([]term{{a, times}}, n)
}

func (e RandomAllocation) dpAccounting(Relation) (string, error) { return notInDPAccounting(e) }

// leastAllocated is the smallest effect of an allocation: with a larger one it only costs more.
const leastAllocated = 1e-8

type allocationAtom struct {
	steps    int
	mu       float64
	share    float64 // of all steps of an epoch that a record takes part in, if they are several
	shuffled bool
}

func (a allocationAtom) key() string {
	return fmt.Sprintf("allocation %d %b %b %t", a.steps, a.mu, a.share, a.shuffled)
}

// rdp returns the divergence of a record whose step is public, which is never smaller.
func (a allocationAtom) rdp(order float64) (float64, bool) { return gaussianAtom{a.mu}.rdp(order) }

func (a allocationAtom) pairs() *pld.Pairs {
	p := &pld.Pairs{Remove: pld.Gauss{Mu: a.mu}, Loose: true} // as if the record's step were public
	if a.mu <= pld.MostEffect && !a.shuffled && a.steps > 1 {
		p = a.end(true)
		p.Loose = true
	}
	switch {
	case !(a.mu > leastAllocated && a.mu <= pld.MostEffect): // the effect may be smaller
	case a.share > 0: // the sum of all steps, a Gaussian release, in equal parts
		p.Under = func() *pld.Pairs {
			return &pld.Pairs{Remove: pld.Gauss{Mu: a.mu * math.Sqrt(a.share) * (1 - 8*ulp)}}
		}
	default:
		p.Under = func() *pld.Pairs { return a.end(false) }
	}
	return p
}

// end returns one end of the bracket. It takes long, so only what is priced computes it.
func (a allocationAtom) end(upper bool) *pld.Pairs {
	key := fmt.Sprintf("%t %d %b", upper, a.steps, a.mu)
	s, ok := allocations.find(key)
	if !ok {
		s = pld.Allocated(a.steps, a.mu, upper)
		allocations.keep(key, s)
	}
	return s.Pairs()
}
