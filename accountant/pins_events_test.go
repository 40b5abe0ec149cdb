package accountant

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
)

// pinDraws draws events. Their numbers have three digits, so that they are the same everywhere.
type pinDraws struct{ draws }

func (d pinDraws) number(lo, hi float64) float64 {
	v, _ := strconv.ParseFloat(strconv.FormatFloat(d.between(lo, hi), 'g', 3, 64), 64)
	return v
}

func (d pinDraws) numbers(n int, lo, hi float64) (all []float64) {
	for range n {
		all = append(all, d.number(lo, hi))
	}
	return all
}

// rarely is true once in n times.
func (d pinDraws) rarely(n int) bool { return d.IntN(n) == 0 }

func (d pinDraws) sigma() float64 {
	switch {
	case d.rarely(40):
		return d.number(1e-3, 0.1)
	case d.rarely(40):
		return d.number(1e3, 1e11)
	}
	return d.number(0.7, 30)
}

func (d pinDraws) rate() float64 {
	if d.rarely(12) {
		return []float64{0, 1, 1 - 1e-13, 1e-70, 0.9999}[d.IntN(5)]
	}
	return d.number(1e-3, 0.9)
}

// leaf draws an event with none inside.
func (d pinDraws) leaf() Event {
	switch d.IntN(17) {
	case 0:
		return Gaussian{d.sigma()}
	case 1:
		return Laplace{d.sigma()}
	case 2:
		return DiscreteGaussian{d.number(0.5, 30), 1 + d.IntN(4)}
	case 3:
		if d.rarely(8) {
			return DiscreteLaplace{d.number(1e-6, 1e-5), 1 << 18}
		}
		return DiscreteLaplace{d.number(0.01, 1), 1 + d.IntN(6)}
	case 4:
		return RandomizedResponse{d.number(0.05, 1), 2 + d.IntN(6)}
	case 5:
		return ExponentialMechanism{d.number(0.01, 2), d.rarely(2)}
	case 6:
		return Pure{d.number(0.01, 2)}
	case 7:
		e := Approximate{d.number(0.01, 2), d.number(1e-12, 1e-6)}
		if d.rarely(3) {
			e.Epsilon = 0
		}
		if d.rarely(3) {
			e.Delta = 0
		}
		return e
	case 8:
		return ZCDP{d.number(1e-4, 0.1)}
	case 9:
		n := 1 + int(d.number(10, 1e4))
		q := d.rate()
		return TruncatedPoisson{q, n, max(1, int(float64(n)*q*(0.7+d.Float64()))), d.sigma()}
	case 10:
		return SampledSum{d.rate(), d.sigma()}
	case 11:
		band := []float64{1}
		for range d.IntN(4) {
			band = append(band, math.Floor(band[len(band)-1]*d.Float64()*0x1p12)/0x1p12)
		}
		return BandedSum{d.rate(), d.sigma(), band}
	case 12:
		steps := 1 + d.IntN(12)
		e := RandomAllocation{steps, d.sigma(), d.IntN(min(steps, 4) + 1), d.rarely(3)}
		if e.Shuffled {
			e.Times = min(e.Times, 1)
		}
		return e
	case 13:
		return SameBatch{d.numbers(1+d.IntN(3), 0.7, 30)}
	case 14:
		return d.mixture()
	case 15:
		return d.curve()
	}
	return SparseHistogram{d.number(1, 20), d.number(10, 90), 1 + d.IntN(4)}
}

func (d pinDraws) mixture() Event {
	e := GaussianMixture{NoiseMultiplier: d.sigma()}
	rest := 1.0
	for i := range 1 + d.IntN(4) {
		p := math.Floor(rest*d.Float64()*64) / 64
		rest -= p
		e.Sensitivities = append(e.Sensitivities, float64(i)*d.number(0.2, 1))
		e.Probabilities = append(e.Probabilities, p)
	}
	e.Sensitivities = append(e.Sensitivities, d.number(0.1, 2))
	e.Probabilities = append(e.Probabilities, rest)
	return e
}

// curve draws the curve of a randomised response, or of one that differs between the directions.
func (d pinDraws) curve() Event {
	eps, lost := d.number(0.1, 2), 0.0
	if d.rarely(3) {
		lost = 1e-8
	}
	points := func(top float64) (all []float64) {
		for _, x := range []float64{-1, -0.5, 0, 0.5, 1} {
			v := max(0, 1-math.Exp(x*eps), (math.Exp(top)-math.Exp(x*eps))/(math.Exp(top)+1))
			all = append(all, math.Ceil(min(1, v+lost)*0x1p40)/0x1p40)
		}
		return all
	}
	e := Curve{Name: "pinned", Epsilons: []float64{-eps, -eps / 2, 0, eps / 2, eps},
		Deltas: points(eps)}
	if d.rarely(2) {
		e.AddDeltas = points(0.75 * eps)
	}
	return e
}

func (d pinDraws) events(depth, least, most int) (all []Event) {
	for range least + d.IntN(most-least+1) {
		all = append(all, d.event(depth-1))
	}
	if len(all) > 1 && d.rarely(4) {
		all[0] = all[len(all)-1] // equal parts
	}
	return all
}

// event draws an event with others inside to the given depth.
func (d pinDraws) event(depth int) Event {
	if depth == 0 || d.rarely(5) {
		return d.leaf()
	}
	switch d.IntN(9) {
	case 0:
		return Composed{d.events(depth, 0, 4)}
	case 1:
		return OneOf{d.events(depth, 1, 4)}
	case 2, 3:
		e := Disjoint{Parts: d.events(depth, 1, 4), Fixed: d.rarely(2)}
		if d.rarely(2) {
			e.Moving = d.events(depth, len(e.Parts), len(e.Parts))
		}
		return e
	case 4:
		return RepeatAndSelect{d.event(depth - 1), d.number(1, 30), d.number(0.1, 2) - 0.9, d.rarely(3)}
	case 5:
		return PoissonSampled{d.rate(), d.event(depth - 1)}
	case 6:
		n := 1 + d.IntN(300)
		return SampledWithoutReplacement{n, 1 + d.IntN(n), d.event(depth - 1)}
	case 7:
		return PoissonSampled{d.rate(), Gaussian{d.sigma()}}
	}
	return Repeated{d.event(depth - 1), 1 + int(d.number(1, 60))}
}

// pinnedEvents returns events of all kinds that are priced quickly.
func pinnedEvents() (all []Event) {
	d := pinDraws{newDraws(881)}
	for len(all) < 400 {
		e := d.event(1 + len(all)%3)
		quick := 0
		for _, r := range []Relation{AddOrRemoveOne, ReplaceOne} {
			if reduced, err := Reduce(e, r); err == nil {
				if costly, places := reduced.work(); costly <= 3 && places <= 5 {
					quick++
				} else {
					quick = -2
				}
			}
		}
		if quick > 0 || quick == 0 && d.rarely(8) {
			all = append(all, e)
		}
	}
	return all
}

// numbersOf writes what a function returned: numbers, or a refusal in one line.
func numbersOf(b any, err error) string {
	if err != nil {
		return strings.ReplaceAll(err.Error(), "\n", " + ")
	}
	switch b := b.(type) {
	case Bound:
		return pin(b.Lower, b.Estimate, b.Upper)
	case Price:
		return fmt.Sprint(pin(b.Lower, b.Estimate, b.Upper), " ", b.AtEdge, " ", b.Engine)
	case float64:
		return pin(b)
	case []byte:
		return string(b)
	}
	return fmt.Sprint(b)
}

// TestPinsOfEvents: the prices of random events, their words and their files.
func TestPinsOfEvents(t *testing.T) {
	var lines []string
	for i, e := range pinnedEvents() {
		text := must[[]byte](t)(MarshalEvent(e))
		if back, err := UnmarshalEvent(text); err != nil || !EqualEvents(e, back) {
			t.Errorf("%s: %v, read again: %v", text, e, err)
		}
		words := sha256.New()
		fmt.Fprintln(words, Describe(e), Samplers(e))
		for _, r := range []Relation{AddOrRemoveOne, ReplaceOne} {
			script, err := DPAccountingScript(e, 1e-5, r)
			fmt.Fprintln(words, script, err)
		}
		lines = append(lines, string(text), fmt.Sprintf("  words %.4x", words.Sum(nil)))
		for _, r := range []Relation{AddOrRemoveOne, ReplaceOne} {
			lines = append(lines, pinsOf(i, e, r)...)
		}
	}
	comparePins(t, "pins_events.txt", lines)
}

// pinsOf returns what the package says of event i under one relation.
func pinsOf(i int, e Event, r Relation) (lines []string) {
	say := func(what string, b any, err error) {
		lines = append(lines, fmt.Sprintf("  %.3s %s: %s", r, what, numbersOf(b, err)))
	}
	b := Budget{1, []float64{1e-5, 1e-8, 1e-30, 0.1, 1e-12, 0}[i%6], r}
	bound, err := Epsilon(e, b.Delta, r)
	say(fmt.Sprint("ε at ", b.Delta), bound, err)
	reduced, err := Reduce(e, r)
	if err != nil {
		return lines
	}
	b.Delta = 1e-6
	p, err := reduced.Price(context.Background(), b, 0, false)
	say("upper", p, err)
	eps := []float64{0, 0.3, 1, 4}[i%4]
	bound, err = Delta(e, eps, r)
	say(fmt.Sprint("δ at ", eps), bound, err)
	order := []float64{1.5, 3, 20}[i%3]
	v, err := RDP(e, order, r)
	say(fmt.Sprint("order ", order), v, err)
	p, err = reduced.Price(context.Background(), b, order, false)
	say("filter", p, err)
	costly, places := reduced.work()
	say("work", fmt.Sprint(costly, " ", places), nil)
	if costly == 0 || i%16 == 0 {
		bound, err = GroupEpsilon(e, 2+i%4, 1e-6, r)
		say("group", bound, err)
	}
	return lines
}
