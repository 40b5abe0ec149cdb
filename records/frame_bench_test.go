package records_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

// fifty returns a frame of fifty columns, half numbers, half levels.
func fifty(b *testing.B, n int) *records.Frame {
	b.Helper()
	var columns []records.Column
	for i := range 50 {
		name := fmt.Sprintf("c%d", i)
		if i%2 == 0 {
			columns = append(columns, records.Numeric(name, 0, 100))
		} else {
			columns = append(columns, records.Categorical(name, "a", "b", "c", "d"))
		}
	}
	s, err := records.NewSchema(columns...)
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	flat := make([]float32, n*s.Dim())
	for i := range flat {
		flat[i] = rng.Float32()
	}
	f, err := records.DecodeFlat(s, flat)
	if err != nil {
		b.Fatal(err)
	}
	return f
}

func BenchmarkFrameRange(b *testing.B) {
	f := fifty(b, 4096)
	var batch device.Batch
	b.SetBytes(int64(4 * f.Len() * f.Schema().Dim()))
	for b.Loop() {
		f.Range(0, f.Len(), &batch)
	}
	b.ReportMetric(float64(f.Len())*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkCSVStream(b *testing.B) {
	f := fifty(b, 4096)
	var text strings.Builder
	if err := (records.CSV{}).WriteFrame(&text, f); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		for _, err := range (records.CSV{}).Stream(strings.NewReader(text.String()), f.Schema(), 1024) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(f.Len())*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkCSVWriteFrame(b *testing.B) {
	f := fifty(b, 4096)
	for b.Loop() {
		if err := (records.CSV{}).WriteFrame(io.Discard, f); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(f.Len())*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkDecodeFlat(b *testing.B) {
	f := fifty(b, 4096)
	var batch device.Batch
	f.Range(0, f.Len(), &batch)
	for b.Loop() {
		if _, err := records.DecodeFlat(f.Schema(), batch.Dense.Data); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(f.Len())*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
