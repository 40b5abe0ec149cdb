package accountant

import (
	"context"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"testing"
)

// TestPinsOfEdges: chosen events, at which another rule decides the price.
func TestPinsOfEdges(t *testing.T) {
	add, replace := AddOrRemoveOne, ReplaceOne
	quiet := PoissonSampled{0.01, Gaussian{3}}
	twoCurves := Curve{"two", []float64{-1, 0, 1}, []float64{0.7, 0.3, 0}, []float64{0.65, 0.2, 0}}
	ends := Curve{"ends above 0", []float64{-1, 0, 1}, []float64{0.7, 0.3, 1e-9}, nil}
	noPairs := Composed{[]Event{DiscreteGaussian{1e5, 1},
		PoissonSampled{0.1, GaussianMixture{2, []float64{0, 1}, []float64{0.5, 0.5}}}}}
	var crowd, distinct []Event
	for i := range 600 {
		if distinct = append(distinct, Laplace{float64(i + 1)}); i < 36 {
			crowd = append(crowd, SampledSum{float64(i+1) / 256, 8})
		}
	}
	var lines []string
	for _, n := range []int{64, 256, 257, 300, 513, 600} {
		for i, e := range []Event{OneOf{distinct[:n]}, Disjoint{Parts: distinct[:n], Fixed: true},
			Composed{[]Event{Disjoint{Parts: distinct[:n/2], Fixed: true}, OneOf{distinct[:2]},
				Disjoint{Parts: distinct[:2], Fixed: true}}}} {
			for _, r := range []Relation{add, replace} {
				reduced, err := Reduce(e, r)
				costly, places := reduced.work()
				lines = append(lines, fmt.Sprintf("%d of %d parts, %v: %d lists, %d costly, %d places: %s",
					i, n, r, len(reduced.lists), costly, places, numbersOf(reduced.CheckWork("x"), err)))
			}
		}
	}
	for _, x := range []struct {
		e      Event
		r      Relation
		delta  float64
		eps    float64
		groups []int
	}{
		{Repeated{PoissonSampled{0.05, Gaussian{0.05}}, 40}, add, 1e-5, 900, nil}, // loud
		{Repeated{PoissonSampled{0.05, Gaussian{0.03}}, 40}, replace, 1e-2, 800, nil},
		{Repeated{SampledSum{0.05, 0.02}, 40}, replace, 1e-3, 4000, nil},
		{Repeated{RandomAllocation{5, 0.04, 0, false}, 3}, add, 1e-5, 900, nil},
		{Repeated{RandomAllocation{8, 0.05, 3, false}, 2}, add, 1e-5, 700, nil},
		{Repeated{SampledSum{1e-9, 0.05}, 3}, add, 1e-12, 10, nil},
		{Repeated{PoissonSampled{1e-3, Gaussian{0.9}}, 20000}, add, 1e-6, 2, nil}, // normal
		{Repeated{SampledSum{1e-4, 0.8}, 400000}, replace, 1e-6, 1, nil},
		{Repeated{Laplace{3000}, 300000}, add, 1e-6, 0.5, nil},
		{Repeated{Laplace{1e7}, 1 << 28}, add, 1e-6, 3, nil},
		{Composed{[]Event{Gaussian{2}, Repeated{Laplace{5e4}, 20_000}}}, add, 1e-6, 1, nil},
		{Repeated{RandomAllocation{200, 0.9, 0, false}, 3}, add, 1e-6, 1, nil},
		{RandomAllocation{64, 6, 0, false}, add, 1e-9, 0.01, nil},
		{RandomAllocation{5, 2, 5, false}, add, 1e-5, 0.01, nil},
		{RandomAllocation{50, 1e9, 0, false}, add, 1e-5, 0.01, nil},
		{RandomAllocation{50, 1e-3, 2, false}, add, 1e-5, 1, nil},
		{TruncatedPoisson{0.01, 10000, 60, 1.5}, add, 1e-5, 1, []int{2}}, // usually cut
		{TruncatedPoisson{0.01, 10000, 140, 1.5}, add, 1e-5, 0.1, nil},
		{TruncatedPoisson{0.01, 10000, 140, 1.5}, replace, 1e-5, 0.1, nil},
		{Repeated{TruncatedPoisson{0.2, 40, 8, 3}, 5}, replace, 1e-5, 0.5, nil},
		{Repeated{TruncatedPoisson{0.2, 40, 8, 3}, 5}, add, 1e-5, 0.5, nil},
		{TruncatedPoisson{1, 40, 8, 3}, add, 1e-5, 0.5, nil},
		{TruncatedPoisson{1, 40, 8, 3}, replace, 1e-5, 0.5, nil},
		{TruncatedPoisson{1, 40, 40, 3}, replace, 1e-5, 0.5, nil},
		{TruncatedPoisson{0, 40, 8, 3}, add, 1e-5, 0.5, nil},
		{TruncatedPoisson{1e-3, 1 << 30, 1 << 20, 3}, add, 1e-5, 0.5, nil},
		{quiet, add, 1e-5, 0.1, []int{2, 7, 1000}}, // groups
		{Repeated{quiet, 3}, add, 1e-5, 0.1, []int{3}},
		{Gaussian{9}, replace, 1e-5, 0.1, []int{2, 1000}},
		{Composed{[]Event{Gaussian{9}, quiet}}, add, 1e-5, 0.1, []int{2}},
		{BandedSum{0.01, 3, []float64{1, 0.5}}, add, 1e-5, 0.1, []int{3}},
		{PoissonSampled{1e-13, Gaussian{3}}, add, 1e-20, 0.1, []int{2}},
		{Pure{0.1}, add, 0, 0.1, []int{1, 4}},
		{Disjoint{Parts: []Event{Laplace{4}, Gaussian{5}}, Fixed: true}, add, 1e-5, 0.1, []int{2}},
		{Disjoint{Parts: []Event{Laplace{4}, twoCurves}}, replace, 1e-5, 0.1, []int{2}},
		{Disjoint{Parts: []Event{Disjoint{Parts: []Event{Gaussian{40}, Gaussian{30}},
			Moving: []Event{Laplace{3}, twoCurves}}, Laplace{60}}}, replace, 1e-5, 0.1, nil},
		{Disjoint{Parts: []Event{Disjoint{Parts: []Event{Gaussian{40}, Gaussian{30}},
			Moving: []Event{Laplace{3}, twoCurves}}, Laplace{60}}}, replace, 0, 0.1, nil},
		{Repeated{Disjoint{Parts: []Event{quiet, Laplace{60}, quiet, quiet}}, 2}, replace, 1e-7, 0.1,
			nil},
		{Composed{[]Event{Disjoint{Parts: []Event{ZCDP{0.1}, Laplace{9}}}, Laplace{2},
			OneOf{[]Event{Gaussian{2}, Pure{0.7}}}}}, add, 1e-6, 1, nil},
		{Composed{[]Event{Disjoint{Parts: []Event{SparseHistogram{4, 30, 3}, Repeated{Laplace{9}, 5}}},
			Repeated{Laplace{20}, 8}}}, add, 1e-6, 1, nil},
		{RepeatAndSelect{Event: Laplace{9}, Mean: 4, Shape: 1}, add, 1e-6, 1, nil},
		{RepeatAndSelect{Event: Gaussian{9}, Mean: 4}, replace, 1e-6, 1, nil},
		{RepeatAndSelect{Event: Gaussian{9}, Mean: 4, Shape: -0.5}, add, 1e-8, 1, nil},
		{RepeatAndSelect{Event: Laplace{9}, Mean: 4, Shape: 0.5}, add, 0, 1, nil},
		{RepeatAndSelect{Event: Gaussian{9}, Mean: 4, Poisson: true}, add, 1e-6, 1, nil},
		{RepeatAndSelect{Event: Gaussian{9}, Mean: 0.5, Poisson: true}, add, 1e-6, 1, nil},
		{RepeatAndSelect{Event: RepeatAndSelect{Event: Pure{0.1}, Mean: 2, Shape: 1}, Mean: 3,
			Shape: 0}, add, 1e-6, 1, nil},
		{RepeatAndSelect{Event: Disjoint{Parts: []Event{Gaussian{9}, Pure{0.2}}}, Mean: 3, Shape: 1}, add,
			1e-6, 1, nil},
		{RepeatAndSelect{Event: Approximate{0.1, 1e-9}, Mean: 3, Shape: 1}, add, 1e-6, 1, nil},
		{RepeatAndSelect{Event: Gaussian{9}, Mean: 1e300, Shape: 2}, add, 1e-6, 1, nil},
		{DiscreteGaussian{1e5, 1}, add, 1e-6, 0.1, nil}, // no pairs
		{DiscreteGaussian{0.1, 3}, add, 1e-6, 10, nil},
		{Repeated{DiscreteGaussian{6, 1}, 3}, replace, 1e-6, 0.1, nil},
		{Repeated{DiscreteLaplace{0.1, 3}, 12}, add, 1e-6, 1, nil}, // on one lattice
		{Composed{[]Event{DiscreteLaplace{0.1, 3}, DiscreteLaplace{0.25, 2}, Laplace{9}}}, add, 1e-6, 1,
			nil},
		{Repeated{RandomizedResponse{0.6, 5}, 7}, replace, 1e-6, 1, []int{2}},
		{RandomizedResponse{1, 5}, replace, 0, 1, nil},
		{Repeated{ExponentialMechanism{0.4, false}, 6}, add, 1e-6, 1, []int{2}},
		{Repeated{ExponentialMechanism{0.4, true}, 6}, add, 1e-6, 1, nil},
		{ExponentialMechanism{1e-7, false}, add, 1e-6, 1e-8, nil},
		{ExponentialMechanism{60, false}, add, 1e-6, 50, nil},
		{Approximate{0.5, 1e-4}, add, 1e-5, 0.1, nil}, // its own δ is above
		{Approximate{0.5, 1e-5}, add, 1e-5, 0.5, nil},
		{Repeated{Approximate{0.5, 1e-7}, 4}, add, 1e-5, 3, nil},
		{Laplace{0.001}, add, 1e-5, 700, nil},
		{Repeated{Laplace{0.01}, 9}, add, 1e-5, 500, nil},
		{Gaussian{1e-200}, add, 1e-5, 500, nil},
		{Repeated{Gaussian{1e200}, 5}, add, 1e-5, 0, nil},
		{Repeated{PoissonSampled{0.3, Laplace{1}}, 12}, add, 1e-6, 1, nil},
		{PoissonSampled{0.3, Pure{500}}, add, 0, 1, nil},
		{PoissonSampled{0.3, twoCurves}, add, 1e-6, 0.2, nil},
		{PoissonSampled{0.3, PoissonSampled{0.3, Gaussian{1}}}, add, 1e-6, 0.2, nil},
		{PoissonSampled{0.3, SparseHistogram{4, 30, 2}}, add, 1e-6, 0.2, nil},
		{PoissonSampled{0.3, SampledWithoutReplacement{10, 5, Gaussian{1}}}, replace, 1e-6, 0.2, nil},
		{Repeated{SampledWithoutReplacement{100, 30, Gaussian{2}}, 30}, replace, 1e-6, 1, nil},
		{SampledWithoutReplacement{100, 99, Gaussian{1e9}}, replace, 1e-6, 1, nil},
		{GaussianMixture{2, []float64{0, 1, 2}, []float64{0.9, 0.08, 0.02}}, add, 1e-9, 0.3, nil},
		{Repeated{GaussianMixture{2, []float64{0, 1, 2}, []float64{0.9, 0.08, 0.02}}, 9}, add, 1e-6, 0.3,
			nil},
		{GaussianMixture{2, []float64{0, 0}, []float64{0.9, 0.1}}, add, 1e-9, 0.3, nil},
		{SparseHistogram{3, 12, 1}, add, 1e-2, 0.3, nil},
		{SparseHistogram{3, 12, 2}, replace, 1e-2, 0.3, nil},
		{Composed{[]Event{SparseHistogram{6, 50, 2}, Gaussian{4}}}, add, 1e-8, 0.3, nil},
		{OneOf{[]Event{noPairs, Composed{[]Event{noPairs, Laplace{9}}}}}, add, 1e-6, 0.3, nil},
		{noPairs, add, 1e-6, 0.3, []int{2}},
		{RepeatAndSelect{Event: ends, Mean: 3, Shape: 1}, add, 0, 1, nil},
		{RepeatAndSelect{Event: ends, Mean: 3, Shape: 1}, add, 1e-5, 1, nil},
		{Composed{[]Event{RepeatAndSelect{Event: ends, Mean: 3, Shape: 1}, Pure{0.1}}}, add, 1e-5, 1,
			nil},
		{RepeatAndSelect{Event: Disjoint{Parts: []Event{RepeatAndSelect{Event: Pure{0.1}, Mean: 2},
			Gaussian{5}}}, Mean: 3, Shape: 1}, replace, 1e-5, 1, nil},
		{Repeated{OneOf{[]Event{Repeated{Laplace{9}, math.MaxInt / 4}}}, 2}, add, 1e-5, 1, nil},
		{Repeated{Disjoint{Parts: []Event{Repeated{Laplace{9}, math.MaxInt / 4}}}, 2}, add, 1e-5, 1, nil},
		{Repeated{Laplace{9}, math.MaxInt / 4}, add, 0, 1, nil},
		{Repeated{Repeated{Laplace{9}, 3}, math.MaxInt / 4}, add, 0, 1, nil},
		{Composed{crowd}, add, 1e-5, 2, nil},
		{RepeatAndSelect{Event: Repeated{OneOf{[]Event{Laplace{9}, Gaussian{9}}}, 2}, Mean: 3, Shape: 1},
			add, 1e-5, 1, nil},
		{Composed{[]Event{OneOf{[]Event{Composed{[]Event{noPairs, Laplace{9}}},
			Composed{[]Event{noPairs, Pure{0.1}}}}}, Laplace{4}}}, add, 1e-5, 1, nil},
		{Repeated{SampledSum{0.9, 0.01}, 5000}, add, 1e-5, 1e7, nil},
		{Repeated{Laplace{14}, 3}, add, 0.1, 0, nil},
		{Repeated{Laplace{10}, 3}, add, 0.1, 0.001, nil},
		{Repeated{Laplace{7}, 3}, replace, 0.1, 0.01, nil},
		{Repeated{SampledSum{0.05, 2}, 4}, replace, 0.03, 0.01, nil},
		{Composed{}, replace, 1e-6, 0, []int{2}},
		{nil, replace, 1e-6, 0, nil},
		{Gaussian{1}, Relation(2), 1e-6, 0, nil},
		{Gaussian{1}, add, math.NaN(), -1, []int{0, 1001}},
		{Gaussian{1}, add, 1e-31, math.Inf(1), nil},
		{Gaussian{1}, add, 1, 0, nil},
	} {
		lines = append(lines, fmt.Sprintf("%+v", x.e))
		say := func(what string, b any, err error) {
			lines = append(lines, fmt.Sprintf("  %.3s %s: %s", x.r, what, numbersOf(b, err)))
		}
		b, err := Epsilon(x.e, x.delta, x.r)
		say(fmt.Sprint("ε at ", x.delta), b, err)
		reduced, err := Reduce(x.e, x.r)
		if err == nil {
			p, err := reduced.Price(context.Background(), Budget{1, x.delta, x.r}, 0, false)
			say("upper", p, err)
			say("work", fmt.Sprint(reduced.work()), nil)
		}
		b, err = Delta(x.e, x.eps, x.r)
		say(fmt.Sprint("δ at ", x.eps), b, err)
		for _, order := range []float64{1, 1.1, 4, 64} {
			if x.e != nil {
				v, err := RDP(x.e, order, x.r)
				say(fmt.Sprint("order ", order), v, err)
			}
		}
		for _, n := range x.groups {
			b, err := GroupEpsilon(x.e, n, x.delta, x.r)
			say(fmt.Sprint("group of ", n), b, err)
		}
	}
	comparePins(t, "pins_edges.txt", lines)
}

// TestPinsOfFields: what is said of every event with one field, or one number of a list, that may
// be out of range.
func TestPinsOfFields(t *testing.T) {
	var lines []string
	d := pinDraws{newDraws(883)}
	for _, of := range eventTypes {
		var e Event
		for e == nil || reflect.TypeOf(e) != reflect.TypeOf(of) {
			if e = d.leaf(); d.rarely(3) {
				e = d.event(1)
			}
		}
		if _, ok := e.(BandedSum); ok {
			e = BandedSum{0.1, 2, []float64{1, 0.5, 0.5, 0.25}}
		}
		lines = append(lines, numbersOf(MarshalEvent(e)))
		for i := range reflect.TypeOf(e).NumField() {
			changed := reflect.New(reflect.TypeOf(e)).Elem()
			changed.Set(reflect.ValueOf(e))
			f, name := changed.Field(i), reflect.TypeOf(e).Field(i).Name
			try := func(v any) {
				f.Set(reflect.ValueOf(v))
				text, err := MarshalEvent(changed.Interface().(Event))
				own, key, late := Own(changed.Interface().(Event))
				if (err == nil) != (late == nil) || err == nil && (key != string(text) ||
					!reflect.DeepEqual(own, changed.Interface())) {
					t.Errorf("%+v: %s %v, but owned %+v %s %v", changed, text, err, own, key, late)
				}
				lines = append(lines, fmt.Sprintf("  %s %s: %s", name, shown(v), numbersOf(err == nil, err)))
			}
			switch was := f.Interface().(type) {
			case float64:
				for _, v := range []float64{math.NaN(), math.Inf(1), -1, -1e-300, 0, 1e-300, 1, 1 + 1e-15, 64} {
					try(v)
				}
			case int:
				for _, v := range []int64{-1, 0, 1, 2, 1 << 12, 1<<12 + 1, 1 << 20, 1<<20 + 1, 1 << 40,
					1<<40 + 1} {
					try(int(v))
				}
			case []float64:
				for j := range was {
					for _, v := range []float64{math.NaN(), -1e-9, 0, 0x1p-13, 1, 1.5, 700, 701, math.Inf(1)} {
						list := append([]float64(nil), was...)
						list[j] = v
						try(list)
					}
				}
				try(append([]float64(nil), was[:len(was)/2]...))
				try(append([]float64{1}, was...))
			case []Event:
				try([]Event(nil))
				try([]Event{Gaussian{1}})
				try([]Event{Gaussian{1}, nil, Gaussian{-1}})
				try([]Event{&Gaussian{1}, Gaussian{1}})
			case Event:
				try(Event(Gaussian{-1}))
				try(Event(Laplace{1}))
			}
		}
	}
	comparePins(t, "pins_fields.txt", lines)
}

// shown writes a field without addresses.
func shown(v any) string {
	if list, ok := v.([]Event); ok {
		text := ""
		for _, e := range list {
			text += fmt.Sprintf("%T ", e)
		}
		return text
	}
	return fmt.Sprint(v)
}

// TestPinsOfRunningSums: events that are added one by one, priced for two budgets in turn.
func TestPinsOfRunningSums(t *testing.T) {
	d := pinDraws{newDraws(884)}
	var lines []string
	for try := range 24 {
		r := Relation(try % 2)
		budgets := []Budget{{d.number(0.5, 8), 1e-6, r}, {d.number(1, 9), d.number(1e-9, 1e-3), r}}
		if try%4 == 3 {
			budgets[1].Epsilon = budgets[0].Epsilon
		}
		var sums []Reduced
		sum := must[Reduced](t)(Reduce([]Event{Composed{}, Gaussian{9}, Laplace{9}}[try%3], r))
		for range 2 + d.IntN(5) {
			if len(sums) > 0 && d.rarely(4) { // added to an earlier one
				sum = sums[d.IntN(len(sums))]
			}
			e := []Event{Gaussian{d.number(2, 30)}, Laplace{d.number(5, 50)}, SampledSum{d.number(0.01, 0.3),
				d.number(1, 6)}, d.leaf(), SameBatch{[]float64{9, 8}}}[d.IntN(5)]
			next, err := Reduce(Repeated{e, 1 + d.IntN(4)}, r, sum)
			if err != nil {
				continue
			}
			sum = next
			sums = append(sums, sum)
			lines = append(lines, numbersOf(MarshalEvent(e)))
			for _, b := range []int{try / 2 % 2, 1 - try/2%2, try / 2 % 2} {
				p, err := sum.Price(t.Context(), budgets[b], 0, d.rarely(2))
				lines = append(lines, fmt.Sprintf("  at %v: %s", budgets[b], numbersOf(p, err)))
			}
			lines = append(lines, "  work: "+numbersOf(nil, sum.CheckWork("x")))
		}
	}
	for i, of := range []func(k int) Event{
		func(k int) Event { return Laplace{float64(20 + k)} },
		func(k int) Event { return SampledSum{float64(k+1) / 512, 5} },
		func(k int) Event { return SampledSum{float64(k+1) / 512, 0x1p-70} },
		func(k int) Event { return TruncatedPoisson{0.1, 100 + k, 20, 5} },
		func(k int) Event { return RandomAllocation{4 + k, 5, 0, false} },
		func(k int) Event { return Gaussian{float64(20 + k)} },
		func(k int) Event { return OneOf{[]Event{Laplace{float64(20 + k)}, Pure{0.01}}} },
	} {
		sum := must[Reduced](t)(Reduce(Gaussian{9}, AddOrRemoveOne))
		for k := range 40 {
			if sum = must[Reduced](t)(Reduce(of(k), AddOrRemoveOne, sum)); sum.CheckWork("x") != nil {
				lines = append(lines, fmt.Sprint(i, " ", k, ": ", sum.CheckWork("x")))
				break
			}
		}
	}
	comparePins(t, "pins_running.txt", lines)
}

// TestPinsOfSearches: noise, counts, attacks and words.
func TestPinsOfSearches(t *testing.T) {
	var lines []string
	say := func(what string, v any, b any, err error) {
		lines = append(lines, fmt.Sprintf("%s: %s | %s", what, numbersOf(v, nil), numbersOf(b, err)))
	}
	of := map[string]func(float64) Event{
		"gaussian": func(s float64) Event { return Repeated{Gaussian{s}, 5} },
		"laplace":  func(s float64) Event { return Repeated{Laplace{s}, 3} },
		"sampled":  func(s float64) Event { return Repeated{SampledSum{0.1, s}, 20} },
		"fixed":    func(s float64) Event { return Composed{[]Event{Gaussian{1}, Gaussian{s}}} },
		"zcdp":     func(s float64) Event { return ZCDP{1 / s / s / 2} },
		"wrong":    func(s float64) Event { return Gaussian{-s} },
		"parts":    func(s float64) Event { return Disjoint{Parts: []Event{Gaussian{s}, Laplace{s}}} },
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		for i, target := range []Budget{{1, 1e-5, AddOrRemoveOne}, {0.1, 1e-9, ReplaceOne},
			{3, 0, AddOrRemoveOne}, {0, 1e-5, ReplaceOne}} {
			s, b, err := CalibrateNoise(target, of[name])
			say(fmt.Sprint(name, " ", target), s, b, err)
			if i == 0 {
				s, b, err = CalibrateShare(target, 0.3, of[name])
				say(name+" share", s, b, err)
			}
		}
	}
	for _, share := range []float64{0, 1, math.NaN()} {
		s, b, err := CalibrateShare(Budget{1, 1e-5, 0}, share, of["gaussian"])
		say("share", s, b, err)
	}
	s, b, err := CalibrateNoise(Budget{1, 1e-5, 0}, nil)
	say("no event", s, b, err)
	for _, limit := range []int{0, 1, 20, 5000, 1 << 30} {
		for i, count := range []func(n int) Event{
			func(n int) Event { return Repeated{Gaussian{30}, n} },
			func(n int) Event { return Repeated{Laplace{20}, n} },
			func(n int) Event { return Repeated{Gaussian{0.1}, n} },
			func(n int) Event { return Repeated{ZCDP{0.001}, n} },
			nil,
		} {
			n, b, err := CalibrateCount(Budget{1.5, 1e-6, Relation(limit % 2)}, limit, count)
			say(fmt.Sprint("count ", i, " of ", limit), n, b, err)
		}
	}
	for _, e := range []Event{Gaussian{1}, Laplace{0.5}, Repeated{SampledSum{0.1, 1}, 10}, Pure{3},
		Composed{}, Approximate{1, 0.1}, Gaussian{0.02}, Gaussian{1e-300}, Laplace{1e-3},
		RandomizedResponse{0.5, 3}} {
		for _, delta := range []float64{1e-5, 1e-12} {
			a, err := AttackBounds(e, delta, ReplaceOne)
			say(fmt.Sprintf("attack %v", e), a.TruePositiveAt1Percent, pin(a.BestAccuracy,
				a.Posterior, a.PosteriorExcept, a.GaussianEffect, a.GaussianFit)+" "+a.String(), err)
		}
		all, err := TradeOff(e, AddOrRemoveOne)
		say(fmt.Sprintf("curve %v", e), len(all), "", err)
		some, err := TradeOff(e, ReplaceOne, 0, 0.02, 0.5, 1)
		for _, p := range append(all, some...) {
			say("  at", p.FalsePositive, p.TruePositive, err)
		}
	}
	_, err = TradeOff(Gaussian{1}, AddOrRemoveOne, 0.1, 1.1)
	say("curve", 0., "", err)
	for _, b := range []Budget{{10, 0.1, 0}, {10.1, 0.001, 1}, {1, 0, 0}, {1e9, 1e-6, 0}, {-1, 2, 5}} {
		for _, n := range []int{-1, 0, 1, 9, 10, 1000} {
			say(fmt.Sprint("caution ", b, n), b.Caution(n), b.Relation.Meaning("user"), b.Validate())
		}
	}
	for _, text := range []string{`{"epsilon":1,"delta":0,"relation":"replace_one"}`, `{"epsilon":1}`,
		`{"epsilon":1,"relation":"other"}`, `{"epsilon":1,"more":2}`, `[]`} {
		var b Budget
		err := b.UnmarshalJSON([]byte(text))
		say(text, fmt.Sprint(b), "", err)
	}
	for _, text := range []string{"", "null", "{}", `{"kind":3}`, `{"kind":"gauss"}`,
		`{"kind":"gaussian"}`, `{"kind":"gaussian","noise_multiplier":-1}`,
		`{"kind":"gaussian","noise_multiplier":1,"more":0}`, `{"kind":"repeated","count":2}`,
		`{"kind":"repeated","count":2,"event":{"kind":"laplace","scale":1}}`,
		`{"kind":"composed","events":[{"kind":"pure","epsilon":1},{}]}`,
		`{"kind":"composed","events":null}`, `{"kind":"gaussian","Noise_multiplier":1}`} {
		e, err := UnmarshalEvent([]byte(text))
		say(text, fmt.Sprintf("%+v", e), "", err)
	}
	for _, x := range []float64{0, 1, 0.1, 1.25, 1e-300, 5e-324, 9.9999, 99.95, math.MaxFloat64,
		math.Inf(1), math.NaN(), -0.15, -1e9} {
		for digits := range 5 {
			say("digits", FormatUpper(x, digits), FormatLower(x, 4*digits+1), nil)
		}
	}
	up := func(float64) float64 { return 0.6 }
	down := func(eps float64) float64 { return 0.5 - eps/9 }
	for _, x := range []struct {
		eps         []float64
		remove, add func(float64) float64
	}{{[]float64{0, 1}, up, down}, {[]float64{0, 1}, up, nil}, {[]float64{0, 1}, nil, up},
		{[]float64{-2, 1}, up, nil}, {[]float64{-2, 1}, down, up}, {[]float64{1, 0}, up, down}} {
		c, err := Tabulate("drawn", x.eps, x.remove, x.add)
		say("tabulate", fmt.Sprint(x.eps), fmt.Sprint(c), err)
	}
	for _, list := range [][]float64{nil, {2}, {2, 3}, {0, 1}, {math.Inf(1)}, {1e-300, 1e-300},
		{-1, 2}} {
		say("multiplier", EffectiveMultiplier(list...), "", nil)
	}
	for _, x := range []RepeatAndSelect{{Gaussian{1}, 3, 1, false}, {Gaussian{1}, 3, 0, false},
		{Gaussian{1}, 3, 0, true}, {Gaussian{1}, 0.5, 1, false}, {Gaussian{1}, 1, 2, false},
		{Gaussian{1}, 1e200, -0.9, false}} {
		say("gamma", x.Gamma(), "", nil)
	}
	comparePins(t, "pins_searches.txt", lines)
}
