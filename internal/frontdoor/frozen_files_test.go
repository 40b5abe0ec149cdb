package frontdoor_test

import (
	"errors"
	"flag"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/tables"
)

// freeze is for a system that gets its first frozen file. A file that exists is never written
// again, because later versions must open the files of earlier versions.
var freeze = flag.String("freeze", "", "the generator whose frozen file is written")

// A frozenFile describes a generator's file in testdata/frozen, which an earlier version wrote.
type frozenFile struct {
	plan func(records.Schema, accountant.Budget) (privgen.Plan, error)
	// statistics are those of 4 million rows that were drawn when the file was written; see the
	// function of this name.
	statistics [5]float64
}

// frozenFiles lists the generators. In divided-cells, counts within cells tell how often x is
// exactly 0.5.
var frozenFiles = map[string]frozenFile{
	"divided-cells": {
		plan: func(s records.Schema, b accountant.Budget) (privgen.Plan, error) {
			return tables.AIM{Common: tables.Common{Schema: s, Budget: b, Bins: 4, Fine: 10,
				WithinPart: 0.05}, Rounds: 2, ClassPart: 0.4}.Plan()
		},
		statistics: [5]float64{0.50223, 0.19965, 0.21590, 0.13115, 0.50648}},
}

// frozenRows returns the made-up rows of which the frozen files are generators. Half of the rows
// have x = 0.5, a fifth is of class rare, and n is missing more often there.
func frozenRows(t *testing.T) records.Data {
	s := must(records.NewSchema(records.Numeric("x", 0, 1).WithStep(0.001),
		records.Integer("n", 0, 6).WithMissing(), records.Categorical("c", "a", "b", "d"),
		records.Label("class", "common", "rare")))(t)
	rng := rand.New(rand.NewPCG(11, 12))
	var rows [][]any
	for range 4000 {
		row := []any{0.5, rng.IntN(7), "b", "common"}
		if rng.Float64() < 0.5 {
			row[0] = rng.Float64()
		}
		if rng.Float64() < 0.2 {
			row[2], row[3] = "d", "rare"
		}
		if rng.Float64() < 0.1 || row[3] == "rare" && rng.Float64() < 0.6 {
			row[1] = nil
		}
		rows = append(rows, row)
	}
	return must(records.FromValues(s, rows...))(t)
}

// TestFrozenFiles checks that files of earlier versions can be opened, that their ε is the one that
// was saved, and that their rows have the same distribution as when they were written.
func TestFrozenFiles(t *testing.T) {
	for name, want := range frozenFiles {
		t.Run(name, func(t *testing.T) { want.check(t, name) })
	}
}

func (want frozenFile) check(t *testing.T, name string) {
	path := filepath.Join("testdata", "frozen", name+".gen")
	if *freeze == name {
		want.write(t, path)
	}
	g := must(privgen.LoadFile(path))(t)
	if got := g.Guarantee().Epsilon; !(got > 19.99 && got <= 20) { // the files have budgets of 20
		t.Errorf("ε = %v, want 20", got)
	}
	const n = 40_000
	got := statistics(t, g, n)
	// Six standard deviations of a fraction, or of the mean of numbers in [0, 1]. If the rows of a
	// seed change, fewer than one test in 10⁷ fails by chance.
	tolerance := 6 * 0.5 / math.Sqrt(n)
	for i, x := range want.statistics {
		if !(math.Abs(got[i]-x) <= tolerance) {
			t.Errorf("statistic %d is %.4f, want %.4f within %.4f", i, got[i], x, tolerance)
		}
	}
}

// statistics draws rows. It returns the fraction of rows with x = 0.5, of class rare, with n
// missing, and of class rare with n missing, and the mean of x.
func statistics(t *testing.T, g *privgen.Generator, rows int) (out [5]float64) {
	t.Helper()
	d := must(g.Sample(t.Context(), rows, privgen.Seed(1)))(t)
	if err := records.Check(d); err != nil {
		t.Fatal(err)
	}
	f, ok := records.AsFrame(d)
	if !ok {
		t.Fatal("the records are not rows of a table")
	}
	for i, label := range f.Labels() {
		each := 1 / float64(f.Len())
		missing := math.IsNaN(f.Number(i, 1))
		for k, is := range []bool{f.Number(i, 0) == 0.5, label == 1, missing, missing && label == 1} {
			if is {
				out[k] += each
			}
		}
		out[4] += each * f.Number(i, 0)
	}
	return out
}

// write writes a frozen file that does not exist, and logs the numbers of its entry.
func (want frozenFile) write(t *testing.T, path string) {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("%s is never replaced: %v", path, err)
	}
	data := frozenRows(t)
	p := must(want.plan(data.Schema(), accountant.Budget{Epsilon: 20, Delta: 1e-5}))(t)
	g := must(p.Fit(t.Context(), data))(t)
	if err := g.SaveFile(path); err != nil {
		t.Fatal(err)
	}
	t.Log(g.Guarantee().Epsilon, statistics(t, g, 4_000_000))
}
