package accountant

import (
	"errors"
	"testing"
)

// TestPublicSizesAreOfAllRecords: a sampler whose price uses the number of records covers all
// records only. The number of records in a sample or in a part is private, so every event that
// holds such a sampler there is refused, however deep it is.
func TestPublicSizesAreOfAllRecords(t *testing.T) {
	truncated := TruncatedPoisson{Probability: 0.01, Population: 1000, MaxBatch: 50,
		NoiseMultiplier: 2}
	subset := SampledWithoutReplacement{Population: 1000, Sample: 50, Event: Gaussian{2}}
	still := []Event{Gaussian{2}, Gaussian{3}}
	for _, r := range []Relation{AddOrRemoveOne, ReplaceOne} {
		if _, err := Epsilon(truncated, 1e-5, r); err != nil {
			t.Fatalf("%v: a sample of all records: %v", r, err)
		}
		for _, of := range []Event{truncated, subset, Repeated{truncated, 2},
			Composed{[]Event{Gaussian{2}, truncated}}} {
			list := []Event{PoissonSampled{0.5, of}, Disjoint{Parts: []Event{of, of}},
				Disjoint{Parts: []Event{Gaussian{2}, of}, Fixed: true}}
			if r == ReplaceOne { // otherwise nothing moves
				list = append(list, Disjoint{Parts: still, Moving: []Event{Gaussian{2}, of}})
			}
			for _, e := range list {
				if _, err := Epsilon(e, 1e-5, r); !errors.Is(err, ErrUnsupported) {
					t.Errorf("%v: %s: got %v, want ErrUnsupported", r, Describe(e), err)
				}
			}
		}
	}
}
