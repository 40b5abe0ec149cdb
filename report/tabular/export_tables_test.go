package tabular_test

import (
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/demo"
)

var export = flag.Bool("export", false, "write the tables that SDMetrics scores")

// made returns pairs of a real and a synthetic table for SDMetrics to score.
func made(t testing.TB) map[string][2]*records.Frame {
	t.Helper()
	pair := func(source demo.TableSource, fake demo.TableSource) [2]*records.Frame {
		a, err := source.Make()
		if err != nil {
			t.Fatal(err)
		}
		b, err := fake.Make()
		if err != nil {
			t.Fatal(err)
		}
		return [2]*records.Frame{a, b}
	}
	small := demo.TableSource{Records: 400, Numbers: 4, Choices: 3, Levels: 6, Flags: 2, Classes: 3,
		Seed: 1, Draw: 1}
	again, other := small, small
	again.Draw, again.Records = 2, 350
	other.Seed, other.Records = 5, 500
	numbers := demo.TableSource{Records: 300, Numbers: 7, Seed: 3, Draw: 1}
	numbersToo := numbers
	numbersToo.Seed, numbersToo.Draw = 4, 2
	return map[string][2]*records.Frame{
		"same":    pair(small, again),
		"other":   pair(small, other),
		"numbers": pair(numbers, numbersToo),
		"missing": {odd(t, 1, 0.15), odd(t, 2, 0.3)},
		"strong":  {odd(t, 3, 0), odd(t, 4, 0.01)},
	}
}

// odd returns a table with missing values, numbers on the edges of bins, a constant column, and
// columns that depend on each other. Only some tables have one of the levels.
func odd(t testing.TB, seed uint64, missing float64) *records.Frame {
	t.Helper()
	s, err := records.NewSchema(
		records.Integer("age", 0, 100).WithMissing(),
		records.Numeric("twice", -1, 201).WithMissing(),
		records.Numeric("amount", 0, 1e6).Logarithmic(),
		records.Integer("always", 0, 9),
		records.Categorical("colour", "red", "green", "blue", "rare").WithMissing(),
		records.Ordinal("size", "small", "middle", "large"),
		records.Flag("old", "no", "yes"),
		records.Label("class", "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := records.NewFrameBuilder(s)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, 9))
	or := func(v any) any {
		if rng.Float64() < missing {
			return nil
		}
		return v
	}
	for range 450 {
		age := rng.IntN(101)
		colours := []string{"red", "green", "blue"}
		if seed%2 == 0 {
			colours = append(colours, "rare")
		}
		old, class := age > 50, "a"
		if rng.Float64() < 0.2+0.6*float64(age)/100 {
			class = "b"
		}
		size := []string{"small", "middle", "large"}[min(age/34, 2)]
		if rng.Float64() < 0.2 {
			size = "middle"
		}
		if err := b.Append(or(age), or(2*float64(age)+rng.NormFloat64()/3),
			rng.ExpFloat64()*float64(100+age), 4, or(colours[rng.IntN(len(colours))]), size, old,
			class); err != nil {
			t.Fatal(err)
		}
	}
	return b.Frame()
}

// TestExportTables writes the tables that testdata/generate scores. It does so only with -export,
// since other processors round the numbers of package demo differently.
func TestExportTables(t *testing.T) {
	if !*export {
		t.Skip("the tables are written with -export")
	}
	for name, pair := range made(t) {
		for i, kind := range kinds {
			f, err := os.Create(filepath.Join("testdata", name+"_"+kind+".csv"))
			if err != nil {
				t.Fatal(err)
			}
			if err := (records.CSV{Header: true}).WriteFrame(f, pair[i]); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}
		f, err := os.Create(filepath.Join("testdata", name+".schema.json"))
		if err != nil {
			t.Fatal(err)
		}
		if err := records.WriteSchema(f, pair[0].Schema()); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

var kinds = [2]string{"real", "synthetic"}

// tables reads the five pairs of tables.
func tables(t testing.TB) map[string][2]*records.Frame {
	t.Helper()
	out := map[string][2]*records.Frame{}
	for _, name := range []string{"same", "other", "numbers", "missing", "strong"} {
		s, err := records.OpenSchema(filepath.Join("testdata", name+".schema.json"))
		if err != nil {
			t.Fatal(err)
		}
		var pair [2]*records.Frame
		for i, kind := range kinds {
			pair[i], err = records.CSV{Header: true}.OpenFrame(
				filepath.Join("testdata", name+"_"+kind+".csv"), s)
			if err != nil {
				t.Fatal(err)
			}
		}
		out[name] = pair
	}
	return out
}
