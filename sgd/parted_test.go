//go:build unix

package sgd_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"golang.org/x/exp/mmap"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// partedRows are binary records of so many rows, and the same in parts of mapped files.
func partedRows(t testing.TB, rows, dim, parts int) (*records.Table, *records.PartedTable) {
	t.Helper()
	s := records.Binary(dim)
	rng := rand.New(rand.NewPCG(1, 1))
	flat := make([]float32, rows*dim)
	for i := range flat {
		flat[i] = float32(rng.IntN(5) / 4)
	}
	table, err := records.FromFlat(s, flat)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	var list []records.TablePart
	for i := range parts {
		var out bytes.Buffer
		if err := records.WriteNPY(&out, table.Slice(rows*i/parts, rows*(i+1)/parts)); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, fmt.Sprint(i, ".npy"))
		if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := mmap.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		p, err := records.NPYPart(s, f, int64(f.Len()), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	parted, err := records.NewPartedTable(s, list...)
	if err != nil {
		t.Fatal(err)
	}
	return table, parted
}

// busy is the processor time of this process so far, in seconds.
func busy() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// after trains for some steps and returns the parameters.
func after(t testing.TB, data records.Data, steps int, q float64) []float32 {
	t.Helper()
	net, err := models.PaperVAE().New(device.CPU(), models.Visible{Dim: data.Schema().Dim()}, 1)
	if err != nil {
		t.Fatal(err)
	}
	cfg := sgd.Config{ClipNorm: 1, SamplingProbability: q, Steps: steps, NoiseMultiplier: 1,
		Optimizer: sgd.Adam(1e-3)}
	ledger := accountant.NewLedger(accountant.Budget{Epsilon: 1e6, Delta: 1e-5})
	trainer, err := sgd.New(cfg, net, ledger)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range trainer.Steps(privacytest.Seeded(t, context.Background(), 4), data) {
		if err != nil {
			t.Fatal(err)
		}
	}
	return slices.Clone(net.Params().Flat.Data)
}

// TestPartsTrainTheSameBits as one table: for one part and for many.
func TestPartsTrainTheSameBits(t *testing.T) {
	for _, parts := range []int{1, 3, 60} {
		table, parted := partedRows(t, 200, 49, parts)
		want := after(t, table, 4, 0.2)
		got := after(t, parted, 4, 0.2)
		if !slices.Equal(got, want) {
			t.Errorf("%d parts: other parameters", parts)
		}
	}
}

// BenchmarkParts is a private step of the paper's VAE on rows of one file and of a thousand, each
// mapped; its processor time is what other work on the machine changes least.
//
//	go test ./sgd -run '^$' -bench Parts -benchtime 40x -count 5
func BenchmarkParts(b *testing.B) {
	const rows, q = 20_000, 0.02
	for _, parts := range []int{1, 1000} {
		_, parted := partedRows(b, rows, 784, parts)
		b.Run(fmt.Sprintf("step/parts=%d", parts), func(b *testing.B) {
			before := busy()
			after(b, parted, b.N, q)
			b.ReportMetric((busy()-before)*1e6/float64(b.N), "µs-busy/step")
		})
		b.Run(fmt.Sprintf("gather/parts=%d", parts), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 2))
			index := make([]int32, 400)
			for i := range index {
				index[i] = int32(rng.IntN(rows))
			}
			slices.Sort(index)
			var batch device.Batch
			before := busy()
			for b.Loop() {
				parted.Gather(index, &batch)
			}
			b.ReportMetric((busy()-before)*1e6/float64(b.N), "µs-busy/op")
		})
	}
}
