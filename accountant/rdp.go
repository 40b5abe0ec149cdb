package accountant

import (
	"math"

	"github.com/seed7ba64551/privgen/accountant/internal/renyi"
	"github.com/seed7ba64551/privgen/param"
)

// RDP is an upper bound, tight to the last few digits where the package knows the exact value, of the Rényi divergence of
// the given order between the outputs of e on neighbouring data sets. Units: nats. Order: above 1.
// Source: Mironov 2017; Mironov, Talwar and Zhang 2019.
func RDP(e Event, order float64, r Relation) (float64, error) {
	if !(order > 1) || math.IsInf(order, 0) {
		return 0, param.New("accountant.RDP.order", order, "a finite number above 1")
	}
	alts, err := reduce(e, r)
	if err != nil {
		return 0, err
	}
	worst := 0.0
	for _, terms := range alts {
		v, ok := rdpTerms(terms, order)
		if !ok || slackOf(terms) > 0 {
			return 0, unsupported("the Rényi divergence of "+e.kind(), r)
		}
		worst = math.Max(worst, v)
	}
	return worst, nil
}

func rdpTerms(terms []term, order float64) (float64, bool) {
	sum := 0.0
	for _, t := range terms {
		v, ok := t.atom.rdp(order)
		if !ok {
			return 0, false
		}
		if math.IsNaN(v) {
			v = math.Inf(1)
		}
		sum += float64(t.n) * v
	}
	return sum, true
}

// slackOf is the δ that atoms lose outside their Rényi divergences.
func slackOf(terms []term) float64 {
	sum := 0.0
	for _, t := range terms {
		if s, ok := t.atom.(interface{ slack() float64 }); ok {
			sum += float64(t.n) * s.slack()
		}
	}
	return sum
}

// RDPReport is an ε obtained from Rényi divergences.
type RDPReport struct {
	Epsilon float64 // sound
	Order   float64 // the order that gave it
	AtEdge  bool    // the best order is the smallest or largest tried: other orders could do better
}

// RDPEpsilon is the smallest ε over the orders the package tries, by the conversion of Canonne, Kamath and Steinke 2020, Proposition 12.
// With orders given, only those are tried.
func RDPEpsilon(e Event, delta float64, r Relation, orders ...float64) (RDPReport, error) {
	if err := checkDelta("accountant.RDPEpsilon.delta", delta); err != nil {
		return RDPReport{}, err
	}
	alts, err := reduce(e, r)
	if err != nil {
		return RDPReport{}, err
	}
	for _, a := range orders {
		if !(a > 1) || math.IsInf(a, 0) {
			return RDPReport{}, param.New("accountant.RDPEpsilon.orders", a, "finite numbers above 1")
		}
	}
	var worst RDPReport
	for _, terms := range alts {
		report, ok := rdpEpsilon(terms, delta, orders)
		if !ok {
			return RDPReport{}, unsupported("the Rényi divergence of "+e.kind(), r)
		}
		if report.Epsilon >= worst.Epsilon {
			worst = report
		}
	}
	return worst, nil
}

func rdpEpsilon(terms []term, delta float64, orders []float64) (RDPReport, bool) {
	sorted := len(orders) == 0
	if sorted {
		orders = renyi.Orders()
	}
	best := RDPReport{Epsilon: math.Inf(1)}
	if len(terms) == 0 {
		return RDPReport{}, true
	}
	if delta -= slackOf(terms); !(delta > 0) {
		_, ok := rdpTerms(terms, 2)
		return best, ok
	}
	for i, a := range orders {
		v, ok := rdpTerms(terms, a)
		if !ok {
			return best, false
		}
		if eps := renyi.Epsilon(a, v, delta); eps < best.Epsilon {
			best = RDPReport{eps, a, eps > 0 && (i == 0 || i == len(orders)-1)}
		}
		if a > 2 && v > best.Epsilon+1.4 && sorted {
			break // divergences grow with the order, and the rest of the conversion takes off less than 2·log 2
		}
	}
	return best, true
}

// epsilonFromRDP converts the divergence of one order, rounded outward; see renyi.Epsilon.
func epsilonFromRDP(order, rdp, delta float64) float64 { return renyi.Epsilon(order, rdp, delta) }

func rdpDelta(terms []term, eps float64) (float64, bool) {
	best := 1.0
	for _, a := range renyi.Orders() {
		v, ok := rdpTerms(terms, a)
		if !ok {
			return 1, false
		}
		best = math.Min(best, renyi.Delta(a, v, eps))
	}
	return math.Min(1, best+slackOf(terms)), true
}

// RDPWithoutReplacement is Theorem 27 of Wang, Balle and Kasiviswanathan 2019 for a Gaussian on a subset of a fraction q
// of the records, under ReplaceOne, at an integer order (others are rounded up): a bound that is looser than what RDP
// returns, for comparison with other accountants.
func RDPWithoutReplacement(q, noiseMultiplier, order float64) (float64, error) {
	if err := probability("accountant.RDPWithoutReplacement.q", q); err != nil {
		return 0, err
	}
	if err := positive("accountant.RDPWithoutReplacement.noiseMultiplier", noiseMultiplier); err != nil {
		return 0, err
	}
	if !(order > 1 && order <= 4096) {
		return 0, param.New("accountant.RDPWithoutReplacement.order", order, "a number in (1, 4096]")
	}
	return renyi.WithoutReplacement(q, noiseMultiplier, order), nil
}
