package main

import (
	"fmt"
	"testing"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
)

// TestRecommendedSystemsAreAccepted checks that --system accepts the name of every system that plan
// recommends, and makes a plan of that system.
func TestRecommendedSystemsAreAccepted(t *testing.T) {
	numbers := []records.Column{records.Label("class", "u", "v")}
	for i := range 4 {
		numbers = append(numbers, records.Numeric(fmt.Sprint("x", i), 0, 1))
	}
	table, err := records.NewSchema(numbers...)
	if err != nil {
		t.Fatal(err)
	}
	levels, err := records.NewSchema(records.Flag("old", "no", "yes"), numbers[0])
	if err != nil {
		t.Fatal(err)
	}
	b := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	seen := map[string]bool{}
	for _, s := range []records.Schema{table, levels, records.Sets(90, 9),
		records.BinaryImage(8, 8).WithLabels("u", "v"), records.Binary(5)} {
		for _, n := range []int{100, 3000, 100_000} {
			list, _ := privgen.Recommend(s, b, n) // ErrNoise comes with plans
			for _, l := range list {
				name := l.Plan.System()
				if seen[name] {
					continue
				}
				seen[name] = true
				make, ok := systems[name]
				if !ok {
					t.Errorf("%v: --system does not accept %s", s, name)
					continue
				}
				p, err := make(s, b, n, 1)
				if err != nil || p.System() != name {
					t.Errorf("%v: --system %s: got %v, error %v", s, name, p, err)
				}
			}
		}
	}
	for _, name := range []string{"pool", "ranks", "dpgm", "mix"} {
		if !seen[name] {
			t.Errorf("no schema of this test gets %s: the test has no power", name)
		}
	}
	if _, err := systems["pool"](levels, b, 1000, 1); err != nil {
		t.Errorf("a pool of levels: %v", err)
	}
}
