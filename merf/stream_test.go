package merf_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

var streamRows = flag.Int("stream", 0,
	"embed a generated stream of this number of rows with 50 columns; report time and memory")

// wide returns a table of 50 columns and a label.
func wide(t testing.TB) records.Schema {
	t.Helper()
	var columns []records.Column
	for i := range 20 {
		columns = append(columns, records.Numeric(fmt.Sprintf("x%d", i), 0, 100))
	}
	for i := range 10 {
		columns = append(columns, records.Integer(fmt.Sprintf("n%d", i), 0, 9+i))
	}
	for i := range 15 {
		var levels []string
		for j := range 3 + i/2 {
			levels = append(levels, fmt.Sprint("level ", j))
		}
		columns = append(columns, records.Categorical(fmt.Sprintf("c%d", i), levels...))
	}
	for i := range 5 {
		columns = append(columns, records.Flag(fmt.Sprintf("f%d", i), "no", "yes"))
	}
	return must(records.NewSchema(append(columns, records.Label("y", "a", "b"))...))(t)
}

// generated yields rows of a schema in frames of at most 8192 rows, which it makes one after
// another.
func generated(t testing.TB, s records.Schema, rows int) iter.Seq2[records.Data, error] {
	return func(yield func(records.Data, error) bool) {
		const most = 8192
		rng := rand.New(rand.NewPCG(1, 2))
		flat, labels := make([]float32, most*s.Dim()), make([]int32, most)
		for i := range flat {
			flat[i] = rng.Float32()
		}
		for left := rows; left > 0; left -= most {
			for range len(flat) / 50 { // change each frame a little, which is cheap
				flat[rng.IntN(len(flat))] = rng.Float32()
			}
			n := min(left, most)
			for i := range labels {
				labels[i] = int32(i & 1)
			}
			f, err := records.DecodeFlat(s, flat[:n*s.Dim()], labels[:n]...)
			if !yield(f, err) {
				return
			}
		}
	}
}

// TestStreamsNeedConstantMemory checks that embedding a stream takes less than 1 GiB. The flag
// -stream sets the number of rows, for example 10000000. The test logs the peak memory where the
// system reports it.
func TestStreamsNeedConstantMemory(t *testing.T) {
	rows := max(*streamRows, 5000)
	s := wide(t)
	c := merf.Config{Schema: s, Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5},
		Kernel: rff.RBF{Dim: 1000, Bandwidth: 2}}
	p := mustPlan(t, c)
	start := time.Now()
	l := ledger.New(c.Budget)
	if _, err := p.EmbedStream(context.Background(), l, generated(t, s, rows)); err != nil {
		t.Fatal(err)
	}
	took := time.Since(start).Seconds()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	t.Logf("%d rows of %d columns (%d encoded), %d features: %.1f s, %.0f rows/s", rows,
		len(s.Columns())-1, s.Dim(), p.Features(), took, float64(rows)/took)
	t.Logf("heap %d MB of the system, peak %s", m.Sys>>20, peak())
	if m.Sys > 1<<30 {
		t.Errorf("the process has taken %d MB, want at most 1024", m.Sys>>20)
	}
}

// peak returns the largest resident set size so far on Linux, and "unknown" elsewhere.
func peak() string {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return "unknown"
	}
	defer f.Close()
	for in := bufio.NewScanner(f); in.Scan(); {
		if rest, ok := strings.CutPrefix(in.Text(), "VmHWM:"); ok {
			return strings.TrimSpace(rest)
		}
	}
	return "unknown"
}

// BenchmarkEmbed measures the time to add a row.
func BenchmarkEmbed(b *testing.B) {
	s := wide(b)
	c := merf.Config{Schema: s, Budget: accountant.Budget{Epsilon: 1, Delta: 1e-5},
		Kernel: rff.RBF{Dim: 1000, Bandwidth: 2}}
	p := mustPlan(b, c)
	var frames []records.Data
	for f := range generated(b, s, 8192) {
		frames = append(frames, f)
	}
	sum := p.NewPartial()
	for b.Loop() {
		if err := sum.Add(context.Background(), frames[0]); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*frames[0].Len())/b.Elapsed().Seconds(), "rows/s")
}
