package privgen

import (
	"runtime"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
)

// TestPlansOfLargeRecordsAreCheap checks that planning builds no network whose size follows from a
// number in a schema: 64 bytes of a schema file took gigabytes.
func TestPlansOfLargeRecordsAreCheap(t *testing.T) {
	b := accountant.Budget{Epsilon: 1, Delta: 1e-6}
	for name, s := range map[string]records.Schema{
		"image": records.Image(2048, 1024).WithLabels("a", "b"), "sets": records.Sets(1<<22, 20),
		"vectors": records.Interval(1<<22, 0, 1),
	} {
		for _, design := range []func(records.Schema, accountant.Budget, int) Design{merfOf, ganOf,
			dpgmOf} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := design(s, b, 100_000).PlanFor(s, b)
			runtime.ReadMemStats(&after)
			if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 64 {
				t.Errorf("%s: a plan takes %d MB: %v", name, mb, err)
			}
		}
	}
}
