package tables

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// TestRowsOfATrendDependOnTheSeedOnly checks that rows are the same for any sizes of requests and
// any number of processors, and if two samplers of one model draw at once. Rows stay unchanged when
// others are drawn. Samplers that are left before their rows end leave no goroutine.
func TestRowsOfATrendDependOnTheSeedOnly(t *testing.T) {
	m := trended(t)
	const rows = 6000
	draw := func(size, stop int) (string, error) {
		s, err := m.Sampler(synth.Draw{Seed: 3, Cluster: -1, Class: -1})
		if err != nil {
			return "", err
		}
		var parts []records.Data
		for n := 0; n < stop; n += size {
			d, err := s.Next(min(size, stop-n))
			if err != nil {
				return "", err
			}
			parts = append(parts, d)
		}
		var values []any
		for _, p := range parts { // after all have been drawn
			f, _ := records.AsFrame(p)
			for i := range f.Len() {
				values = append(values, f.Number(i, 0), f.Value(i, 3), f.Value(i, 5))
			}
		}
		return fmt.Sprint(values), nil
	}
	want := must(draw(rows, rows))(t)
	before := runtime.NumGoroutine()
	for _, processors := range []int{1, 2} {
		old := runtime.GOMAXPROCS(processors)
		var wait sync.WaitGroup
		for _, size := range []int{7, 512, 1000, 5000} {
			wait.Add(1)
			go func() {
				defer wait.Done()
				if got, err := draw(size, rows); err != nil || got != want {
					t.Errorf("%d processors, %d rows at a time: other rows, error %v", processors, size, err)
				}
				if _, err := draw(size, 3*size); err != nil {
					t.Error(err)
				}
			}()
		}
		wait.Wait()
		runtime.GOMAXPROCS(old)
	}
	for range 500 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines are left of samplers, want %d", runtime.NumGoroutine(), before)
}
