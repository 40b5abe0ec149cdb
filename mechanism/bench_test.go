package mechanism

import (
	"context"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
)

func testBudget() accountant.Budget { return accountant.Budget{Epsilon: 1e9, Delta: 1e-5} }

func BenchmarkReleaseGradient(b *testing.B) {
	for _, workers := range []int{1, 2} {
		b.Run(map[int]string{1: "one", 2: "two"}[workers], func(b *testing.B) {
			run := Begin(context.Background(), ledger.New(testBudget()))
			g, err := run.Spend("bench", accountant.Gaussian{NoiseMultiplier: 1e-3})
			if err != nil {
				b.Fatal(err)
			}
			sum := make([]float32, 317186)
			for i := range sum {
				sum[i] = float32(i%1000) / 1000
			}
			sink := func(int, []float64) {}
			b.ReportAllocs()
			b.SetBytes(0)
			for b.Loop() {
				if err := g.ReleaseGradient(Gradient{Sum: sum, Sensitivity: 1, NoiseMultiplier: 1.5,
					Workers: workers}, sink); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*float64(len(sum))/b.Elapsed().Seconds()/1e6, "M/s")
		})
	}
}

func BenchmarkFixedSum(b *testing.B) {
	sum := NewFixedSum(1000, GridFor(1))
	row := make([]float32, 1000)
	for i := range row {
		row[i] = float32(i%17)/17 - 0.5
	}
	for b.Loop() {
		sum.AddRow(row, 0.7)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/coordinate")
}

func BenchmarkRelease(b *testing.B) {
	run := Begin(context.Background(), ledger.New(testBudget()))
	g, err := run.Spend("bench", accountant.Gaussian{NoiseMultiplier: 1e-3})
	if err != nil {
		b.Fatal(err)
	}
	part := Part{Sum: NewFixedSum(10000, GridFor(1)), Std: 1, Out: make([]float64, 10000)}
	for b.Loop() {
		if err := g.Release(1, part); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/10000, "ns/coordinate")
}
