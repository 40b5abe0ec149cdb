//go:build unix

package sgd_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
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

// slow answers after a delay, like a store across a network.
type slow struct {
	io.ReaderAt
	answer time.Duration
}

func (s slow) ReadAt(p []byte, at int64) (int, error) {
	if s.answer > 0 && at > 0 && len(p) > 12 { // not the header
		time.Sleep(s.answer)
	}
	return s.ReaderAt.ReadAt(p, at)
}

// partedRows returns a table of binary records, and the same records in parts of mapped files.
func partedRows(t testing.TB, rows, dim, parts int, answer time.Duration) (*records.Table,
	*records.PartedTable) {
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
		p, err := records.NPYPart(s, slow{f, answer}, int64(f.Len()), nil, 0)
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

// busy returns the processor time that this process has used, in seconds.
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

// TestPartsTrainTheSameBits: training on a table and training on its rows in one or many parts give
// the same bits.
func TestPartsTrainTheSameBits(t *testing.T) {
	for _, parts := range []int{1, 3, 60} {
		table, parted := partedRows(t, 200, 49, parts, 0)
		want := after(t, table, 4, 0.2)
		for _, readers := range []int{0, 1, 16} {
			ahead, err := parted.WithReaders(readers)
			if err != nil {
				t.Fatal(err)
			}
			if got := after(t, ahead, 4, 0.2); !slices.Equal(got, want) {
				t.Errorf("%d parts, %d readers: parameters differ from those of one table", parts, readers)
			}
		}
	}
}

// TestReadAheadReplays: if records are in parts that are read ahead, the visible results of a run
// depend on the records only through its releases.
func TestReadAheadReplays(t *testing.T) {
	table, _ := partedRows(t, 30, 9, 1, 0)
	for _, at := range []int{0, 14, 29} {
		privacytest.Replay[[]int32]{Budget: accountant.Budget{Epsilon: 1e6, Delta: 1e-5},
			Data: without(30, at), Neighbour: without(30, -1), Seeds: 2,
			Run: func(ctx context.Context, ledger *accountant.Ledger, rows []int32) (any, error) {
				var list []records.TablePart
				for _, row := range rows {
					var out bytes.Buffer
					if err := records.WriteNPY(&out, table.Take([]int32{row})); err != nil {
						return nil, err
					}
					p, err := records.NPYPart(table.Schema(), bytes.NewReader(out.Bytes()),
						int64(out.Len()), nil, 0)
					if err != nil {
						return nil, err
					}
					list = append(list, p)
				}
				parted, err := records.NewPartedTable(table.Schema(), list...)
				if err != nil {
					return nil, err
				}
				if parted, err = parted.WithReaders(4); err != nil {
					return nil, err
				}
				net, err := models.VAE{Hidden: []int{5}, Latent: 2}.New(device.CPU(),
					models.Visible{Dim: 9}, 1)
				if err != nil {
					return nil, err
				}
				cfg := sgd.Config{ClipNorm: 1, SamplingProbability: 0.3, Steps: 4, NoiseMultiplier: 1,
					Optimizer: sgd.Adam(1e-3)}
				trainer, err := sgd.New(cfg, net, ledger)
				if err != nil {
					return nil, err
				}
				var steps []sgd.Step
				for step, err := range trainer.Steps(ctx, parted) {
					if err != nil {
						return nil, err
					}
					steps = append(steps, step)
				}
				return []any{steps, slices.Clone(net.Params().Flat.Data)}, nil
			}}.Check(t)
	}
}

// without returns the row numbers 0 to n−1 except the given row.
func without(n, row int) (list []int32) {
	for i := range n {
		if i != row {
			list = append(list, int32(i))
		}
	}
	return list
}

// BenchmarkReadAhead measures the step of BenchmarkParts with rows from mapped files and from a
// store that answers after 2 ms. Rows are read one after another, or ahead by several readers.
//
//	go test ./sgd -run '^$' -bench ReadAhead -benchtime 20x
func BenchmarkReadAhead(b *testing.B) {
	const rows, q, parts = 20_000, 0.02, 1000
	for _, c := range []struct {
		answer  time.Duration
		readers int
	}{{0, 0}, {0, 8}, {2 * time.Millisecond, 0}, {2 * time.Millisecond, 8}, {2 * time.Millisecond,
		64}} {
		_, parted := partedRows(b, rows, 784, parts, c.answer)
		ahead, err := parted.WithReaders(c.readers)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("answer=%v/readers=%d", c.answer, c.readers), func(b *testing.B) {
			before := busy()
			after(b, ahead, b.N, q)
			b.ReportMetric((busy()-before)*1e6/float64(b.N), "µs-busy/step")
		})
	}
}

// BenchmarkParts measures a private step of the paper's VAE on rows of one mapped file and of a
// thousand mapped files. It reports processor time, which other work on the machine affects least.
//
//	go test ./sgd -run '^$' -bench Parts -benchtime 40x -count 5
func BenchmarkParts(b *testing.B) {
	const rows, q = 20_000, 0.02
	for _, parts := range []int{1, 1000} {
		_, parted := partedRows(b, rows, 784, parts, 0)
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
