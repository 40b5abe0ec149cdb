//go:build unix

package sgd_test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// BenchmarkRatio measures the cost of privacy. Private and plain steps of BenchmarkStep alternate,
// so that other work on the machine affects both equally. The ratio is the median over pairs of
// consecutive steps. The benchmark also reports medians and fifth percentiles of the times of both
// steps, and medians of their processor times. Other work affects processor time less. On several
// cores processor time includes goroutines that wait.
//
//	go test ./sgd -run '^$' -bench Ratio -cpu 1,2 -benchtime 500x
func BenchmarkRatio(b *testing.B) {
	for _, batch := range []int{64, 600, 1024} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) { benchmarkRatio(b, batch) })
	}
}

func benchmarkRatio(b *testing.B, batch int) {
	data := benchData(b)
	private, stop := privateSteps(b, batch, data)
	defer stop()
	plain := plainSteps(b, batch, data)
	for range 20 { // warm up
		private()
		plain()
	}
	var ofPrivate, ofPlain, ratios, cpuPrivate, cpuPlain []float64
	b.ResetTimer()
	for range b.N {
		x, cx := seconds(private)
		y, cy := seconds(plain)
		ofPrivate, ofPlain, ratios = append(ofPrivate, x), append(ofPlain, y), append(ratios, x/y)
		cpuPrivate, cpuPlain = append(cpuPrivate, cx), append(cpuPlain, cy)
	}
	b.ReportMetric(0, "ns/op")
	for _, q := range []struct {
		name string
		at   float64
	}{{"p5", 0.05}, {"median", 0.5}} {
		x, y := quantile(ofPrivate, q.at), quantile(ofPlain, q.at)
		b.ReportMetric(1e6*y, "plain-"+q.name+"-µs")
		b.ReportMetric(1e6*x, "private-"+q.name+"-µs")
		b.ReportMetric(x/y, "ratio-of-"+q.name)
	}
	b.ReportMetric(quantile(ratios, 0.5), "median-ratio")
	x, y := quantile(cpuPrivate, 0.5), quantile(cpuPlain, 0.5)
	b.ReportMetric(1e6*y, "plain-cpu-µs")
	b.ReportMetric(1e6*x, "private-cpu-µs")
	b.ReportMetric(x/y, "cpu-ratio")
}

// seconds returns the time of a step and its processor time, in seconds.
func seconds(step func()) (wall, processor float64) {
	used, begin := processorTime(), time.Now()
	step()
	return time.Since(begin).Seconds(), processorTime() - used
}

func processorTime() float64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return float64(t.Nano()) * 1e-9
}

func quantile(x []float64, q float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[int(q*float64(len(x)-1)+0.5)]
}

// privateSteps returns a function that takes one private step at each call.
func privateSteps(b *testing.B, batch int, data records.Data) (step, stop func()) {
	cfg := sgd.Config{ClipNorm: 1, SamplingProbability: float64(batch) / benchRows, Steps: 1 << 20,
		NoiseMultiplier: 1, Optimizer: sgd.Adam(1e-4)}
	l := ledger.New(accountant.Budget{Epsilon: 1e12, Delta: 1e-5})
	trainer, err := sgd.New(cfg, benchVAE(b), l)
	if err != nil {
		b.Fatal(err)
	}
	next, stop := iter.Pull2(trainer.Steps(b.Context(), data))
	return func() {
		if _, err, ok := next(); err != nil || !ok {
			b.Fatal(err)
		}
	}, stop
}

// plainSteps returns a function that takes one step without clipping and noise. The step has the
// same sampling of rows, sum of gradients and optimiser on all cores.
func plainSteps(b *testing.B, batch int, data records.Data) (step func()) {
	be, net, d := device.CPU(), benchVAE(b), data.(*records.Table)
	sum := device.NewParams(be, net.Params().Shapes...)
	opt := sgd.Adam(1e-4).Descent(sum.Len())
	rng := rand.New(rand.NewPCG(2, 2))
	rows, ones := make([]int32, batch), make([]float32, batch)
	var in device.Batch
	in.Keys = make([]uint64, batch)
	for i := range ones {
		ones[i] = 1
	}
	return func() {
		for i := range rows {
			rows[i], in.Keys[i] = int32(rng.IntN(benchRows)), rng.Uint64()
		}
		d.BeginGather(rows, &in)
		be.(device.Sharing).Share((batch+15)/16, func(i int) {
			d.GatherPart(rows, &in, 16*i, min(16*(i+1), batch))
		})
		be.Fill(sum.Flat, 0)
		net.Gradients(in).AddWeightedSum(sum, ones)
		opt.StepShared(be.(device.Sharing), net.Params().Flat.Data, sum.Flat.Data, 1/float32(batch))
	}
}
