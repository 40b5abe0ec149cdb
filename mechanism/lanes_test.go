package mechanism

import (
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/ledger"
)

// TestNumbersAreGivenUnderTheLock: the number of an allowance is a part of the key of its noise,
// and the number of a grant is a part of the keys of its rows. Goroutines that made two at once
// could get equal numbers, so each waits for the run's lock. A number that did not wait would be
// there long before the test looks.
func TestNumbersAreGivenUnderTheLock(t *testing.T) {
	run := Begin(t.Context(), ledger.New(testBudget()))
	for what, number := range map[string]func() uint64{
		"an allowance": func() uint64 { return run.allowance("test", gaussian(1), nil).id },
		"a grant":      run.nextStep,
	} {
		given := make(chan uint64)
		run.mu.Lock()
		go func() { given <- number() }()
		select {
		case n := <-given:
			t.Errorf("%s gets the number %d while another goroutine gives numbers", what, n)
			run.mu.Unlock()
			continue
		case <-time.After(20 * time.Millisecond):
		}
		run.mu.Unlock()
		if first, second := <-given, number(); second != first+1 {
			t.Errorf("%s has the number %d, after %d", what, second, first)
		}
	}
}
