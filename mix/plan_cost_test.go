package mix_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/records"
)

// TestPlansOfManyClassesAreCheap checks that a plan that mixes every class apart takes memory in
// proportion to the classes once, and not for every price of its search.
func TestPlansOfManyClassesAreCheap(t *testing.T) {
	names := make([]string, 20_000)
	for i := range names {
		names[i] = fmt.Sprint("class ", i)
	}
	s := records.Interval(4, 0, 1).WithLabels(names...)
	for _, relation := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		c := mix.Config{Schema: s, ByClass: true, Mixtures: len(names), ClipNorm: 2,
			Sampling: mix.Poisson{Nominal: 120_000},
			Budget:   accountant.Budget{Epsilon: 1, Delta: 1e-5, Relation: relation}}
		if relation == accountant.ReplaceOne {
			c.Sampling = mix.PoissonReplaceOne{Records: 120_000}
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := c.Plan()
		runtime.ReadMemStats(&after)
		if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; err != nil || mb > 64 {
			t.Errorf("%v: %d MB, %v", relation, mb, err)
		}
	}
}
