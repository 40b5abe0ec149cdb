package report_test

import (
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report"
	"github.com/seed7ba64551/privgen/report/demo"
)

// BenchmarkMillionRecords makes a whole report and its page, of a million real, 100,000 held-out
// and a million synthetic records of fifteen columns. It measures the time and the largest memory
// of the process, including the records:
//
//	go test ./report -run '^$' -bench Million -benchtime 1x
func BenchmarkMillionRecords(b *testing.B) {
	source := demo.TableSource{Numbers: 6, Choices: 7, Levels: 16, Flags: 1, Classes: 2, Seed: 1}
	var data [3]*records.Frame
	for i, n := range []int{1_000_000, 100_000, 1_000_000} {
		source.Records, source.Draw = n, uint64(i)
		f, err := source.Make()
		if err != nil {
			b.Fatal(err)
		}
		data[i] = f
	}
	g := spent(b, accountant.AddOrRemoveOne)
	runtime.GC()
	most := peak(b.Context())
	for b.Loop() {
		start := time.Now()
		r, err := report.Compute(b.Context(), report.Input{Guarantee: &g, Real: data[0], HeldOut: data[1],
			Synthetic: data[2]}, report.Settings{})
		if err != nil {
			b.Fatal(err)
		}
		if err := r.WriteHTML(io.Discard); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(time.Since(start).Seconds(), "s/report")
	}
	b.ReportMetric(float64(most())/(1<<20), "MiB-peak")
}
