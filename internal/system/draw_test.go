package system

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

func TestChunksAddUp(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var sizes []int
	refusal := error(nil)
	all := Chunks(ctx, 2*SampleChunk+5, func() (func(int) (records.Data, error), error) {
		return func(n int) (records.Data, error) { sizes = append(sizes, n); return nil, nil }, refusal
	})
	for range 2 { // a sequence can be gone through again
		sizes = nil
		for _, err := range all {
			if err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(sizes, []int{SampleChunk, SampleChunk, 5}) {
			t.Fatal(sizes)
		}
	}
	cancel()
	for _, err := range all {
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	refusal = errors.ErrUnsupported
	for _, err := range all {
		if !errors.Is(err, refusal) {
			t.Fatal(err)
		}
	}
}
