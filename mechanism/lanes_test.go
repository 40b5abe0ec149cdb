package mechanism

import (
	"sync"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
)

// TestAllowancesMadeAtOnceHaveStreamsOfTheirOwn: the number of an allowance is a part of the key of
// its noise, and the number of a grant is a part of the key of its sample. So no two are equal,
// although several goroutines make them at once.
func TestAllowancesMadeAtOnceHaveStreamsOfTheirOwn(t *testing.T) {
	const goroutines, each = 8, 4000
	run := Begin(t.Context(), accountant.NewLedger(testBudget()))
	numbers := map[string]func() uint64{
		"allowances": func() uint64 { return run.allowance("test", gaussian(1), nil).id },
		"grants":     run.nextStep,
	}
	for what, number := range numbers {
		var made [goroutines][each]uint64
		var wait sync.WaitGroup
		for i := range made {
			wait.Go(func() {
				for k := range made[i] {
					made[i][k] = number()
				}
			})
		}
		wait.Wait()
		seen := map[uint64]bool{}
		for _, list := range made {
			for _, n := range list {
				seen[n] = true
			}
		}
		if len(seen) != goroutines*each {
			t.Errorf("%s: %d numbers for %d", what, len(seen), goroutines*each)
		}
	}
}
