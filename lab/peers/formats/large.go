package main

import (
	"bufio"
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/connect/parquet"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/records"
)

var epoch = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// largeSchema returns the schema of a table of ten columns: five hold numbers, two hold times and
// three hold levels.
func largeSchema() (records.Schema, error) {
	return records.NewSchema(
		records.Numeric("amount", 0, 1).WithMissing(), records.Integer("day", 0, 1<<20),
		records.Numeric("rate", -1, 1), records.Categorical("town", "a", "b", "c", "d").WithMissing(),
		records.Flag("well", "no", "yes"), records.Label("class", "low", "high"),
		records.Integer("account", 1<<53, 1<<62), records.Numeric("price", 0, 1e5),
		records.Datetime("seen", epoch, epoch.AddDate(10, 0, 0), time.Second),
		records.Duration("stay", 0, 30*24*time.Hour, time.Millisecond).WithMissing(),
	)
}

// part is the number of rows that are written or streamed at a time.
const part = 100_000

// writeLarge writes a table of generated rows.
func writeLarge(path string, rows int) error {
	s, err := largeSchema()
	if err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	out, begin := bufio.NewWriter(file), time.Now()
	if err := parquet.WriteFrames(out, s, madeUp(s, rows)); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	report(fmt.Sprintf("written, %d MB", info.Size()>>20), rows, begin)
	return nil
}

func madeUp(s records.Schema, rows int) iter.Seq2[records.Data, error] {
	return func(yield func(records.Data, error) bool) {
		rng := rand.New(rand.NewPCG(1, 1))
		for ; rows > 0; rows -= part {
			n := min(rows, part)
			values := make([]records.Values, 10)
			values[6].Whole, values[7].Numbers = make([]int64, n), make([]float64, n)
			values[8].Times, values[9].Numbers = make([]time.Time, n), make([]float64, n)
			for j := range 3 {
				values[j].Numbers = make([]float64, n)
				values[3+j].Codes, values[3+j].Dictionary = make([]int32, n), s.Columns()[3+j].Levels()
			}
			for i := range n {
				values[0].Numbers[i], values[1].Numbers[i] = rng.Float64(), float64(rng.IntN(1<<20))
				values[2].Numbers[i] = float64(rng.IntN(201))/100 - 1
				values[3].Codes[i] = int32(rng.IntN(5)) // the last code is a missing value
				values[4].Codes[i], values[5].Codes[i] = int32(rng.IntN(2)), int32(rng.IntN(2))
				values[6].Whole[i] = 1<<53 + rng.Int64N(1<<40)
				values[7].Numbers[i] = float64(rng.IntN(1e7)) / 100
				values[8].Times[i] = epoch.Add(time.Duration(rng.IntN(3e8)) * time.Second)
				values[9].Numbers[i] = float64(rng.IntN(2.5e9)) / 1000
			}
			f, err := records.FromColumns(s, values...)
			if !yield(f, err) || err != nil {
				return
			}
		}
	}
}

// fitLarge reads a table in parts until it has at least the given number of rows, or the whole
// table. It fits MERF on these rows and draws some synthetic rows.
func fitLarge(path string, most int) error {
	s, err := largeSchema()
	if err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	begin, rows := time.Now(), 0
	budget := accountant.Budget{Epsilon: 1, Delta: 1e-9}
	plan, err := merf.Config{Schema: s, Budget: budget,
		Generator: merf.GeneratorConfig{Steps: 300}}.Plan()
	if err != nil {
		return err
	}
	l := ledger.New(budget)
	trusted := records.Limits{UnpackedBytes: 1 << 40, Values: 1 << 40}
	gen, err := plan.FitStream(context.Background(), l,
		func(yield func(records.Data, error) bool) {
			for f, err := range parquet.Stream(file, info.Size(), s, part, trusted) {
				if err == nil {
					rows += f.Len()
				}
				if !yield(f, err) || rows >= most {
					return
				}
			}
		})
	if err != nil {
		return err
	}
	report("read and fitted", rows, begin)
	drawn, err := gen.Sample(context.Background(), 1000)
	if err != nil {
		return err
	}
	fmt.Println(drawn.Len(), "synthetic rows")
	fmt.Println(gen.Guarantee())
	return nil
}

// scanLarge reads a table in pieces. The package comment lists the values of way.
func scanLarge(path, way string) error {
	s, err := largeSchema()
	if err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	trusted := records.Limits{UnpackedBytes: 1 << 40, Values: 1 << 40}
	var read iter.Seq2[*records.Frame, error]
	switch way {
	case "stream":
		read = parquet.Stream(file, info.Size(), s, part, trusted)
	case "one group", "groups":
		workers := 2
		if way == "one group" {
			workers = 1
		}
		read = parquet.Groups(file, info.Size(), s, workers, trusted)
	case "two columns":
		if s, err = records.NewSchema(s.Columns()[1], s.Columns()[3]); err != nil {
			return err
		}
		read = parquet.Groups(file, info.Size(), s, 2, trusted)
	default:
		return fmt.Errorf("-scan %q: want stream, one group, groups or two columns", way)
	}
	rows, sum, begin := 0, 0.0, time.Now()
	for f, err := range read {
		if err != nil {
			return err
		}
		rows, sum = rows+f.Len(), sum+f.Number(f.Len()-1, 0)
	}
	report(fmt.Sprintf("%s (checksum %v)", way, sum), rows, begin)
	return nil
}

// report prints the speed, the processor time and the peak memory use.
func report(what string, rows int, begin time.Time) {
	seconds := time.Since(begin).Seconds()
	peak := "unknown"
	text, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		if _, size, found := strings.Cut(line, "VmHWM:"); found {
			peak = strings.TrimSpace(size)
		}
	}
	var use syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &use)
	worked := time.Duration(use.Utime.Nano() + use.Stime.Nano()).Seconds()
	fmt.Printf("%s: %d rows in %.1f s, %.1f s of processor time, %.2f million rows a second, "+
		"peak memory %s\n", what, rows, seconds, worked, float64(rows)/seconds/1e6, peak)
}
