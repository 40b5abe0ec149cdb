package accountant

import (
	"errors"
	"fmt"

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
type RandomAllocation struct {
	Steps           int     `json:"steps"`            // of one epoch, at most 2^20
	NoiseMultiplier float64 `json:"noise_multiplier"` // standard deviation ÷ clip norm
}

func (e RandomAllocation) check() error {
	errs := []error{positive("accountant.RandomAllocation.NoiseMultiplier", e.NoiseMultiplier)}
	if !(e.Steps >= 1 && e.Steps <= pld.MostSlots) {
		errs = append(errs, param.New("accountant.RandomAllocation.Steps", e.Steps,
			"a positive integer of at most 2^20"))
	}
	return errors.Join(errs...)
}

func (RandomAllocation) kind() string { return "random_allocation" }

func (e RandomAllocation) describe() string {
	return fmt.Sprintf("on a random allocation of records to %d steps: Gaussian releases of a clipped "+
		"sum, standard deviation %.6g clip norms", e.Steps, e.NoiseMultiplier)
}

func (RandomAllocation) sampling() sampling { return sampled(samplerAllocated) }

func (e RandomAllocation) charge(c *collector, n int) error {
	switch {
	case c.relation != AddOrRemoveOne:
		return unsupported("a random allocation of records to steps", c.relation)
	case e.Steps == 1:
		return c.add(Gaussian{e.NoiseMultiplier}, n)
	}
	return c.push(allocationAtom{e.Steps, max(1/e.NoiseMultiplier, leastAllocated)}, n)
}

func (e RandomAllocation) dpAccounting(Relation) (string, error) { return notInDPAccounting(e) }

// leastAllocated is the smallest effect of an allocation: with a larger one it only costs more.
const leastAllocated = 1e-8

type allocationAtom struct {
	steps int
	mu    float64
}

func (a allocationAtom) key() string { return fmt.Sprintf("allocation %d %b", a.steps, a.mu) }

// rdp returns the divergence of a record whose step is public, which is never smaller.
func (a allocationAtom) rdp(order float64) (float64, bool) { return gaussianAtom{a.mu}.rdp(order) }

func (a allocationAtom) pairs() *pld.Pairs {
	if !(a.mu <= pld.MostEffect) { // as if the record's step were public
		return &pld.Pairs{Remove: pld.Gauss{Mu: a.mu}, Loose: true}
	}
	p := a.end(true)
	if p.Loose = true; a.mu > leastAllocated { // otherwise the effect may be smaller
		p.Under = func() *pld.Pairs { return a.end(false) }
	}
	return p
}

// end returns one end of the bracket. It takes long, so only what is priced computes it.
func (a allocationAtom) end(upper bool) *pld.Pairs {
	key := fmt.Sprintf("%t %s", upper, a.key())
	s, ok := allocations.find(key)
	if !ok {
		s = pld.Allocated(a.steps, a.mu, upper)
		allocations.keep(key, s)
	}
	return s.Pairs()
}
