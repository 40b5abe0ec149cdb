package tables

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// TestWideColumnsTakeMemoryByRow checks that a column of 60,000 buckets is counted and drawn
// without a dense vector for each row. Such vectors would take 983 MB for each batch.
func TestWideColumnsTakeMemoryByRow(t *testing.T) {
	schema := must(records.NewSchema(records.Hashed("h", 60_000), records.Flag("f", "no", "yes")))(t)
	const n = 8192
	codes, flags := make([]int32, n), make([]int32, n)
	for i := range codes {
		codes[i], flags[i] = int32(i%7), int32(i%2)
	}
	data := must(records.FromColumns(schema, records.Values{Codes: codes,
		Dictionary: []string{"a", "b", "c", "d", "e", "f", "g"}},
		records.Values{Codes: flags, Dictionary: []string{"no", "yes"}}))(t)
	plan := must(AIM{Common: Common{Schema: schema, Nominal: n,
		Budget: accountant.Budget{Epsilon: 100, Delta: 1e-6}}}.Plan())(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	generator := must(plan.Fit(t.Context(), data))(t)
	drawn := must(generator.Sample(t.Context(), n))(t)
	runtime.ReadMemStats(&after)
	took := after.TotalAlloc - before.TotalAlloc
	t.Logf("%d MB allocated in total", took>>20)
	if took > 100<<20 {
		t.Errorf("%d MB allocated, want at most 100", took>>20)
	}
	f, _ := records.AsFrame(drawn)
	same := 0
	want := map[string]bool{}
	for i := range 14 {
		want[data.Value(i, 0)] = true
	}
	for i := range f.Len() {
		if want[f.Value(i, 0)] {
			same++
		}
	}
	if same < n*9/10 {
		t.Errorf("%d of %d drawn values are among the frequent values, want at least 90 %%", same, n)
	}
}

// TestWideTablesAreFittedNear fits 70 columns in which each depends on the one before. Few records
// make the method local, and a column of drawn rows must still depend on the one before, and on the
// one before that, as often as after fits of the whole model (.847 and .776, and .5 by chance).
func TestWideTablesAreFittedNear(t *testing.T) {
	t.Parallel()
	const n, columns = 4000, 70
	rng := rand.New(rand.NewPCG(3, 4))
	list, values := make([]records.Column, columns), make([]records.Values, columns)
	codes := make([][]int32, columns)
	for j := range list {
		list[j] = records.Flag(fmt.Sprint("c", j), "no", "yes")
		codes[j] = make([]int32, n)
		for i := range codes[j] {
			if codes[j][i] = int32(rng.IntN(2)); j > 0 && rng.IntN(20) > 0 {
				codes[j][i] = codes[j-1][i]
			}
		}
		values[j] = records.Values{Codes: codes[j], Dictionary: []string{"no", "yes"}}
	}
	schema := must(records.NewSchema(list...))(t)
	data := must(records.FromColumns(schema, values...))(t)
	c := AIM{Common: Common{Schema: schema, Nominal: n, Seed: 1,
		Budget: accountant.Budget{Epsilon: 1, Delta: 1e-6}}}
	if m, err := c.method(); err != nil || !m.local {
		t.Fatalf("local is %v (%v)", m.local, err)
	}
	plan := must(c.Plan())(t)
	generator := must(plan.Fit(privacytest.Seeded(t, t.Context(), 5), data))(t)
	drawn := must(generator.Sample(t.Context(), n, synth.Seed(2)))(t)
	f, _ := records.AsFrame(drawn)
	for apart, want := range map[int]float64{1: 0.8, 2: 0.72} {
		same := 0
		for j := apart; j < columns; j++ {
			for i := range n {
				if f.Level(i, j) == f.Level(i, j-apart) {
					same++
				}
			}
		}
		share := float64(same) / float64(n*(columns-apart))
		t.Logf("%d apart: %.3f of values are the same", apart, share)
		if share < want {
			t.Errorf("%d apart: %.3f of values are the same, want %.2f", apart, share, want)
		}
	}
}

// TestFitsNearUnderReplay replays fits of 66 columns and a class, which are fitted near
// measurements, with much and with little room for tables, on neighbours that differ in one row. It
// also interrupts each fit at five reports; a fit that goes on must release a generator within the
// plan's cells, which can be read back. Without -long each relation has one of both rooms, and fits
// have a third of the rounds and three interruptions.
func TestFitsNearUnderReplay(t *testing.T) {
	t.Parallel() // it waits for the disk
	var list []records.Column
	for j := range 66 {
		list = append(list, records.Flag(fmt.Sprint("c", j), "no", "yes"))
	}
	schema := must(records.NewSchema(append(list, records.Label("y", "a", "b", "c"))...))(t)
	rng := rand.New(rand.NewPCG(7, 8))
	var rows [][]any
	for range 60 {
		row, kind := make([]any, 67), rng.IntN(3)
		for j := range row {
			row[j] = kind > rng.IntN(3)
		}
		row[66] = string(rune('a' + kind))
		rows = append(rows, row)
	}
	of := func(rows [][]any) records.Data {
		return must(records.FromValues(schema, rows...))(t)
	}
	rounds, stops := 8, 3
	if *Long {
		rounds, stops = 24, 5
	}
	for _, r := range []accountant.Relation{accountant.AddOrRemoveOne, accountant.ReplaceOne} {
		for i, cells := range []int{0, 200} {
			if i == int(r) && !*Long {
				continue
			}
			b := accountant.Budget{Epsilon: 40, Delta: 1e-5, Relation: r}
			c := AIM{Common: Common{Schema: schema, Budget: b, Nominal: 30, Cells: cells},
				Rounds: rounds, ClassPart: noClassPart}
			m, err := c.method()
			if err != nil || !m.local {
				t.Fatalf("local is %v (%v)", m.local, err)
			}
			p := must(c.Plan())(t)
			neighbour := rows[1:]
			if r == accountant.ReplaceOne {
				odd := slices.Clone(rows[5])
				for j := range 66 {
					odd[j] = j%2 == 0
				}
				neighbour = append([][]any{odd}, rows[1:]...)
			}
			visible := func(ctx context.Context, l *ledger.Ledger, d records.Data) (any, error) {
				g, err := p.FitOn(ctx, l, d)
				if err != nil {
					return nil, err
				}
				f, err := g.Sample(ctx, 20, synth.Seed(9))
				return fmt.Sprint(f, g.Model().(*model).model.Factors), err
			}
			privacytest.Replay[records.Data]{Run: visible, Budget: b, Data: of(rows), Seeds: 1,
				Neighbour: of(neighbour)}.Check(t)
			goOn(t, p, of(rows), m.Cells, stops)
		}
	}
}

// goOn interrupts a fit at several reports, and then lets it end. Its noise is fixed, since a fit
// whose measurements hardly change the model has few rounds.
func goOn(t *testing.T, p synth.PassProgram, data records.Data, cells, most int) {
	t.Helper()
	l, seen := ledger.New(p.Budget()), 0
	keep := synth.CheckpointEvery(filepath.Join(t.TempDir(), "kept"), 1)
	for stops := 0; ; {
		ctx, cancel := context.WithCancel(privacytest.Seeded(t, t.Context(), uint64(stops)))
		seen = 0
		g, err := p.FitOn(ctx, l, data, keep, synth.OnProgress(func(synth.Progress) {
			if seen++; seen == 2 && stops < most {
				stops++
				cancel()
			}
		}))
		cancel()
		if errors.Is(err, context.Canceled) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if n := ModelCells(g.Model()); stops < most || n > cells {
			t.Errorf("%d stops, and a model of %d cells, want %d and at most %d", stops, n, most, cells)
		}
		file, err := g.Model().(*model).Encode()
		if err == nil {
			_, err = readModel(file, synth.Loading{})
		}
		if err != nil {
			t.Error(err)
		}
		return
	}
}
