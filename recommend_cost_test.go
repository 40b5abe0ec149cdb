package privgen

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
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

// TestPlansOfManyClassesBuildNoNetworks checks that networks which are only checked have no
// parameters: a small schema can name 60,000 classes. It also checks that a network of many
// parameters fits the images that it makes.
func TestPlansOfManyClassesBuildNoNetworks(t *testing.T) {
	names := make([]string, 60_000)
	for i := range names {
		names[i] = fmt.Sprint(i)
	}
	budget := accountant.Budget{Epsilon: 10, Delta: 1e-9}
	images := records.Image(28, 28).WithLabels(names...)
	table, err := records.NewSchema(records.Integer("a", 0, 9), records.Label("c", names...))
	if err != nil {
		t.Fatal(err)
	}
	const n = 100_000_000
	for what, plan := range map[string]func() (synth.Plan, error){
		"DPGM":         func() (synth.Plan, error) { return DPGM(table, budget).Nominal(n).Plan() },
		"GAN":          func() (synth.Plan, error) { return GAN(images, budget).Nominal(n).Plan() },
		"MERF":         func() (synth.Plan, error) { return MERF(table, budget).Nominal(n).Plan() },
		"MERF, images": func() (synth.Plan, error) { return MERF(images, budget).Nominal(n).Plan() },
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := plan()
		runtime.ReadMemStats(&after)
		if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; err != nil || mb > 32 {
			t.Errorf("%s takes %d MB, want at most 32: %v", what, mb, err)
		}
	}
}
