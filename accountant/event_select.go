package accountant

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/seed7ba64551/privgen/accountant/internal/pld"
	"github.com/seed7ba64551/privgen/accountant/internal/renyi"
	"github.com/seed7ba64551/privgen/internal/param"
)

// RepeatAndSelect runs Event a random number of times and releases the best result only. If Poisson
// is set, the number of runs is Poisson with the given Mean, and may be zero. Otherwise it is
// truncated negative binomial with the given Mean and Shape η > −1: η=1 is geometric, η=0
// logarithmic. Source: Papernot and Steinke 2022, Theorems 2 and 6.
//
// The runs are independent given the records. Only the best result is released: the number of runs
// and the other results stay secret. The results may be ranked by any order, with ties broken by
// time.
//
// A truncated negative binomial number of runs may also be redrawn until it is at most a public
// limit; the price covers this. Let f be the generating function of the unlimited number, and f_c
// the generating function of the limited number. Let q and q′ be the probabilities of one event
// under two neighbours. The theorem's proof bounds f′(q)·(f′(q)/f′(q′))^(λ−1). It uses f′(q) ≤
// f′(1) = Mean and an upper bound of f′(q)/f′(q′) that is at least 1. Both bounds also hold for
// f_c:
//
//   - f_c′(q) ≤ f_c′(1), and f_c′(1) is the mean of the limited number, which is at most Mean.
//   - The derivative of log f_c′ at x is the mean of (k−1)/x under the weights k·p_k·x^(k−1).
//     Leaving out the largest k makes this mean smaller. So f_c′(q)/f_c′(q′) is at most
//     f′(q)/f′(q′) if q > q′, and at most 1 otherwise.
type RepeatAndSelect struct {
	Event   Event   `json:"event"`
	Mean    float64 `json:"mean"`
	Shape   float64 `json:"shape"`
	Poisson bool    `json:"poisson,omitempty"`
}

func (e RepeatAndSelect) check() error {
	errs := []error{inner("accountant.RepeatAndSelect.Event", e.Event),
		positive("accountant.RepeatAndSelect.Mean", e.Mean)}
	if !e.Poisson {
		if e.Mean < 1 {
			errs = append(errs,
				param.New("accountant.RepeatAndSelect.Mean", e.Mean, "at least 1 unless Poisson"))
		}
		if !(e.Shape > -1) || math.IsInf(e.Shape, 0) {
			errs = append(errs,
				param.New("accountant.RepeatAndSelect.Shape", e.Shape, "a finite number above −1"))
		}
	}
	return errors.Join(errs...)
}

func (RepeatAndSelect) kind() string { return "repeat_and_select" }

func (e RepeatAndSelect) describe() string {
	return fmt.Sprintf("best of about %.4g runs of [%s]", e.Mean, Describe(e.Event))
}

func (e RepeatAndSelect) sampling() sampling { return samplingOf(e.Event) }

func (e RepeatAndSelect) dpAccounting(r Relation) (string, error) {
	shape := e.Shape
	if e.Poisson {
		shape = math.Inf(1)
	}
	return dpAround(e.Event, r, func(s string) string {
		return dpCall("RepeatAndSelectDpEvent", "event", s, "mean", pyFloat(e.Mean), "shape",
			pyFloat(shape))
	})
}

// selectAtom releases the best of a random number of runs. It has Rényi divergences and, if it is
// the only use in an event, a hockey-stick curve.
type selectAtom struct {
	relation Relation
	within   []term
	mean     float64
	shape    float64
	poisson  bool
	gamma    float64 // parameter γ of the truncated negative binomial
	*selectMemo
}

// selectMemo holds what takes long to compute, computed when it is first needed: an event may be
// reduced only to be refused. Several goroutines may price one event.
type selectMemo struct {
	mu     sync.Mutex
	second float64 // Theorem 2's second term, minimised; 0 if not known yet
	curve  []float64
	// known caches divergences by order, because nested selections request the same order many times.
	known map[float64]float64
}

func (e RepeatAndSelect) charge(c *collector, n int) error {
	alts, err := c.reduce(e.Event, c.relation)
	if err != nil {
		return err
	}
	within := alts[0]
	if len(alts) > 1 {
		// Two neighbours differ by a record in one part, and this part is the same in every run. So
		// the divergence of a run is the divergence of an alternative, and at most the largest.
		within = []term{{worstAtom{alts}, 1}}
	}
	a := selectAtom{relation: c.relation, within: within, mean: e.Mean, shape: e.Shape,
		poisson: e.Poisson, selectMemo: &selectMemo{known: map[float64]float64{}}}
	id := c.relation.String() + a.key()
	if known := c.work.selected[id]; known != nil {
		return c.push(known, n)
	}
	if !selects(within) { // their divergences are remembered; the first of others may take as long
		if err := c.step((1 + placesOfAll(within)) << 13); err != nil {
			return err
		}
	}
	if _, ok := rdpTerms(within, 2); !ok || !(slackOf(within) <= 0) {
		return unsupported("selection among runs without Rényi divergence", c.relation)
	}
	if !e.Poisson {
		a.gamma = selectGamma(e.Shape, e.Mean)
	}
	c.work.selected[id] = a
	return c.push(a, n)
}

// prepare computes the curve or the second term.
func (a selectAtom) prepare() {
	switch {
	case a.curve != nil || a.second != 0:
	case a.poisson:
		for _, order := range renyi.Orders() {
			d, _ := rdpTerms(a.within, order)
			a.curve = append(a.curve, d)
		}
	default:
		a.second = math.Inf(1)
		for _, second := range selectOrders() {
			d, _ := rdpTerms(a.within, second)
			a.second = min(a.second, (1-1/second)*d-math.Log(a.gamma)/second)
		}
	}
}

func (a selectAtom) key() string {
	return fmt.Sprintf("select %b %b %t of %s", a.mean, a.shape, a.poisson, termsKey(a.within))
}

func (a selectAtom) pairs() *pld.Pairs { return nil }

// selectMean returns the mean of the truncated negative binomial: η(1−γ)/(γ(1−γ^η)), or
// (1/γ−1)/log(1/γ) for η = 0.
func selectMean(shape, gamma float64) float64 {
	l := math.Log(gamma)
	if math.Abs(shape*l) < 1e-9 {
		return (1/gamma - 1) / -l
	}
	return shape * (1 - gamma) / (gamma * -math.Expm1(shape*l))
}

// selectGamma inverts selectMean, which decreases in γ. It returns the lower end of the last
// bracket, because a smaller γ costs more.
func selectGamma(shape, mean float64) float64 {
	lo, hi := 1e-300, 1.0
	if !(selectMean(shape, lo) >= mean) {
		return 0 // the parameter is too small for floating point; no price is known
	}
	for range 2000 {
		mid := math.Sqrt(lo) * math.Sqrt(hi)
		if !(mid > lo && mid < hi) {
			break
		}
		if selectMean(shape, mid) >= mean {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// Gamma returns the parameter γ of the truncated negative binomial number of runs, as used for the
// price. It returns NaN for a Poisson number. A larger γ means fewer runs and costs less.
func (e RepeatAndSelect) Gamma() float64 {
	if e.Poisson || e.check() != nil {
		return math.NaN()
	}
	return selectGamma(e.Shape, e.Mean)
}

// selectOrders returns the second orders λ̂ over which Theorem 2 may be minimised.
func selectOrders() []float64 {
	var out []float64
	for x := 1.05; x < 5000; x *= 1.12 {
		if x > 12 {
			x = math.Round(x)
		}
		out = append(out, x)
	}
	return out
}

func (a selectAtom) rdp(order float64) (float64, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	v, ok := a.known[order]
	if ok {
		return v, true
	}
	run, ok := rdpTerms(a.within, order)
	if !ok {
		return 0, false
	}
	v = a.selected(run, order)
	a.known[order] = v
	return v, true
}

// selected returns the divergence of the best of all runs, where one run has the divergence run.
func (a selectAtom) selected(run, order float64) float64 {
	a.prepare()
	if a.poisson {
		// Theorem 6, with ε̂ = log(1 + 1/(λ−1)) and δ̂ = δ(ε̂) of one run.
		eps := math.Log1p(1 / (order - 1))
		delta := 1.0
		for i, o := range renyi.Orders() {
			delta = min(delta, renyi.Delta(o, a.curve[i], eps*(1-4*ulp)))
		}
		v := run + a.mean*delta + math.Log(a.mean)/(order-1)
		// v covers the outcomes of one run or more. The outcome without any run has probability
		// e^{−mean} under both neighbours.
		var s renyi.LogSum
		s.Add(-a.mean)
		s.Add((order - 1) * v)
		return max(0, s.Value()/(order-1)+1e-14*(run+1+math.Abs(math.Log(a.mean)/(order-1))))
	}
	// Theorem 2; a.second is the smallest value over the second orders.
	v := run + (1+a.shape)*a.second + math.Log(a.mean)/(order-1)
	return max(0, v+1e-13*(math.Abs(v)+1))
}

// own returns (2+η)ε for the best of a truncated negative binomial number of runs of an
// ε-differentially private mechanism. The best of a Poisson number of runs is not ε-differentially
// private for any ε. Source: Papernot and Steinke 2022, Theorem 2 with both orders infinite.
func (a selectAtom) own() (eps, delta float64) {
	e, lost := composedOwn(a.within)
	if a.poisson || !(e < math.Inf(1) && lost <= 0) { // a curve may end above δ = 0
		return math.Inf(1), 0
	}
	return (2 + a.shape) * e * (1 + 4*ulp), 0
}
