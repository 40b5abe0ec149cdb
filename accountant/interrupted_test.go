package accountant

import (
	"context"
	"errors"
	"testing"
)

// endsAfter is a context that has ended once its error was asked for left times.
type endsAfter struct {
	context.Context
	left int
}

func (c *endsAfter) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestInterruptedPrices ends the context at every point where it is looked at. The result is the
// context's error or the right price, and no other price is remembered.
func TestInterruptedPrices(t *testing.T) {
	laplace := PoissonSampled{Event: Laplace{Scale: 3}, Probability: 0.01}
	for name, e := range map[string]Event{
		"composition": Composed{[]Event{Repeated{laplace, 9},
			PoissonSampled{Event: Laplace{Scale: 4}, Probability: 0.01}, Gaussian{NoiseMultiplier: 9}}},
		"selection": RepeatAndSelect{Event: laplace, Mean: 9, Shape: 1},
		"parts":     Composed{[]Event{Disjoint{Parts: []Event{laplace, Laplace{Scale: 70}}}, laplace}},
	} {
		alts := must[[][]term](t)(reduce(e, AddOrRemoveOne))
		prices.forget()
		want := must[Price](t)(priceAll(t.Context(), alts, 1e-5, AddOrRemoveOne, true))
		interrupted := 0
		for ; ; interrupted++ {
			prices.forget()
			ctx := &endsAfter{t.Context(), interrupted}
			got, err := priceAll(ctx, alts, 1e-5, AddOrRemoveOne, true)
			after := want
			if interrupted%4 == 0 {
				after = must[Price](t)(priceAll(t.Context(), alts, 1e-5, AddOrRemoveOne, true))
			}
			if err == nil && got != want || err != nil && !errors.Is(err, context.Canceled) ||
				after != want {
				t.Fatalf("%s: after %d looks: %v, %v, then %v; want %v", name, interrupted, got, err,
					after, want)
			}
			if err == nil {
				break
			}
		}
		if interrupted < 2 {
			t.Errorf("%s: the context is looked at %d times", name, interrupted)
		}
	}
}
