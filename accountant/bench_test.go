package accountant

import "testing"

func BenchmarkEpsilon10000Steps(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		prices.forget()
		if _, err := Epsilon(poissonSteps(0.01, 1.1, 10000), 1e-5, AddOrRemoveOne); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEpsilonTinyRate(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		prices.forget()
		if _, err := Epsilon(poissonSteps(2.2e-5, 2, 909091), 1e-5, AddOrRemoveOne); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCalibrateNoise(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		prices.forget()
		if _, _, err := CalibrateNoise(Budget{Epsilon: 1, Delta: 1e-5}, func(s float64) Event {
			return poissonSteps(0.01, s, 10000)
		}); err != nil {
			b.Fatal(err)
		}
	}
}

// hundredEvents returns a hundred one-step events that all differ.
func hundredEvents() []Event {
	var out []Event
	for i := range 100 {
		out = append(out, PoissonSampled{0.001 + 0.0005*float64(i), Gaussian{0.8 + 0.02*float64(i)}})
	}
	return out
}

func BenchmarkHundredHeterogeneousSteps(b *testing.B) {
	b.ReportAllocs()
	events := hundredEvents()
	for b.Loop() {
		prices.forget()
		if _, err := Epsilon(Composed{events}, 1e-5, AddOrRemoveOne); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkHundredOneStepQueries(b *testing.B) {
	b.ReportAllocs()
	events := hundredEvents()
	for b.Loop() {
		prices.forget()
		for _, e := range events {
			if _, err := Epsilon(e, 1e-5, AddOrRemoveOne); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkTrainingPlan(b *testing.B) {
	plan := Composed{[]Event{Repeated{Gaussian{40}, 20}, poissonSteps(0.0017, 2.83, 11765)}}
	for b.Loop() {
		prices.forget()
		if _, err := Epsilon(plan, 1e-5, AddOrRemoveOne); err != nil {
			b.Fatal(err)
		}
	}
}
