package beam_test

import (
	"context"
	"fmt"
	"iter"
	"syscall"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/beam"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/records"
)

// BenchmarkMix measures the release of 2,000 mixtures of 400,000 rows, in memory and by a pipeline
// with 8 shards.
func BenchmarkMix(b *testing.B) {
	const n = 400_000
	base := some(vectorSchema, 0, 4000)
	pieces := make([]records.Data, n/base.Len())
	for i := range pieces {
		pieces[i] = base
	}
	whole, err := records.Concat(vectorSchema, pieces...)
	if err != nil {
		b.Fatal(err)
	}
	beam.RegisterSource("large", func(_ context.Context, location string) iter.Seq2[records.Data,
		error] {
		return func(yield func(records.Data, error) bool) {
			var lo, hi int
			_, err := fmt.Sscan(location, &lo, &hi)
			for ; lo < hi; lo += base.Len() {
				if !yield(base, err) {
					return
				}
			}
		}
	})
	c := mix.Config{Schema: vectorSchema, Mixtures: 2000, ClipNorm: 1.2, NoiseMultiplier: 2,
		Budget:   accountant.Budget{Epsilon: 1e3, Delta: 1e-5},
		Sampling: mix.Poisson{Nominal: n, Degree: 256}}
	p, err := c.Plan()
	if err != nil {
		b.Fatal(err)
	}
	measure := func(b *testing.B, fit func() error) {
		before := busy()
		for b.Loop() {
			if err := fit(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(n*b.N)/(busy()-before), "rows/busy-s")
	}
	b.Run("memory", func(b *testing.B) {
		measure(b, func() error {
			_, err := p.FitOn(b.Context(), ledger.New(p.Budget()), whole)
			return err
		})
	})
	b.Run("pipeline", func(b *testing.B) {
		j := job(b, "large", 8)
		for i := range j.Shards {
			j.Shards[i].Location = fmt.Sprint(n*i/8, " ", n*(i+1)/8)
		}
		measure(b, func() error {
			_, err := beam.Mix(b.Context(), j, p, ledger.New(p.Budget()))
			return err
		})
	})
}

// busy returns the processor time of this process so far, in seconds.
func busy() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}
