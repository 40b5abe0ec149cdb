// Command merf generates a table on the fly, shard by shard, and releases a generator of the table
// by a pipeline on Prism, Beam's runner in this process. It prints time, memory and throughput.
// With -memory it makes the same release without a pipeline.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"iter"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/beam"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
)

var (
	rows     = flag.Int("rows", 200_000, "number of rows")
	perShard = flag.Int("shard", 250_000, "number of rows of a shard")
	order    = flag.Int("order", 1, "1 for single columns, 2 for pairs of columns too")
	steps    = flag.Int("steps", 50, "number of training steps")
	memory   = flag.Bool("memory", false, "read the same records as a stream, without a pipeline")
	out      = flag.Int("sample", 1000, "number of synthetic rows to write as Parquet")
)

func main() {
	flag.Parse()
	beam.RegisterSource("made up", madeUp)
	sdk.Init() // does not return in a worker process
	slog.SetLogLoggerLevel(slog.LevelWarn)
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "merf")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	schema, err := table()
	if err != nil {
		return err
	}
	budget := accountant.Budget{Epsilon: 1, Delta: 1e-9}
	plan, err := merf.Config{Schema: schema, Budget: budget, Kernel: rff.Pairs{Order: *order},
		Generator: merf.GeneratorConfig{Steps: *steps}}.Plan()
	if err != nil {
		return err
	}
	fmt.Println(plan)
	l, err := ledger.Dir(filepath.Join(folder, "ledgers")).Create(ctx, "table",
		ledger.Terms{Budget: budget})
	if err != nil {
		return err
	}
	job := beam.Job{Source: "made up", Shards: shards(), Key: mechanism.NewKey(), Folder: folder}
	start, before := time.Now(), cpu()
	var e *merf.Embedding
	if *memory {
		e, err = plan.EmbedStream(ctx, l, everything(ctx))
	} else {
		e, err = beam.Embed(ctx, job, plan, l)
	}
	if err != nil {
		return err
	}
	took, busy := time.Since(start).Seconds(), cpu()-before
	fmt.Printf("%d rows of %d columns in %d shards: %.1f s, %.0f rows/s; %.1f s of processor time, "+
		"%.0f rows/s of it; peak memory %s\n", *rows, len(schema.Columns())-1, len(job.Shards), took,
		float64(*rows)/took, busy, float64(*rows)/busy, peak())
	if *out == 0 {
		return nil
	}
	return release(ctx, plan, e, folder)
}

// release trains a generator against the embedding, which costs no privacy, and draws from it.
// beam.MERF does the same in one call.
func release(ctx context.Context, plan *merf.Plan, e *merf.Embedding, folder string) error {
	start := time.Now()
	g, err := plan.Refit(ctx, e)
	if err != nil {
		return err
	}
	files, err := beam.Sample(ctx, g, beam.Drawing{Rows: int64(*out), Shards: 2, Seed: 1,
		Folder: folder})
	if err != nil {
		return err
	}
	fmt.Printf("trained a generator and drew %d synthetic rows into %d files: %.1f s; peak memory %s\n"+
		"%v\n", *out, len(files), time.Since(start).Seconds(), peak(), g.Guarantee())
	return nil
}

// shards divides the rows into shards.
func shards() (list []beam.Shard) {
	for lo := 0; lo < *rows; lo += *perShard {
		list = append(list, beam.Shard{Name: fmt.Sprintf("rows from %d", lo),
			Location: fmt.Sprint(lo, " ", min(lo+*perShard, *rows))})
	}
	return list
}

func everything(ctx context.Context) iter.Seq2[records.Data, error] {
	return func(yield func(records.Data, error) bool) {
		for _, s := range shards() {
			for data, err := range madeUp(ctx, s.Location) {
				if !yield(data, err) {
					return
				}
			}
		}
	}
}

// table returns a schema of 50 columns and a label.
func table() (records.Schema, error) {
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
	return records.NewSchema(append(columns, records.Label("y", "a", "b"))...)
}

const piece = 8192

// madeUp generates the rows of a location "lo hi" from a public seed. They describe no real person.
func madeUp(_ context.Context, location string) iter.Seq2[records.Data, error] {
	return func(yield func(records.Data, error) bool) {
		var lo, hi int
		if _, err := fmt.Sscan(location, &lo, &hi); err != nil {
			yield(nil, err)
			return
		}
		schema, err := table()
		if err != nil {
			yield(nil, err)
			return
		}
		rng := rand.New(rand.NewPCG(uint64(lo), 2))
		flat, labels := make([]float32, piece*schema.Dim()), make([]int32, piece)
		for i := range flat {
			flat[i] = rng.Float32()
		}
		for ; lo < hi; lo += piece {
			for range len(flat) / 50 { // changes every piece a little, at little cost
				flat[rng.IntN(len(flat))] = rng.Float32()
			}
			n := min(hi-lo, piece)
			for i := range labels {
				labels[i] = int32(rng.IntN(2))
			}
			f, err := records.DecodeFlat(schema, flat[:n*schema.Dim()], labels[:n]...)
			if !yield(f, err) || err != nil {
				return
			}
		}
	}
}

// cpu returns the processor time of this process so far, in seconds.
func cpu() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// peak returns the largest resident set so far, on Linux.
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
