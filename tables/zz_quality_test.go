package tables_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/tables"
)

func cpu() float64 {
	var r syscall.Rusage
	syscall.Getrusage(0, &r)
	return float64(r.Utime.Sec) + float64(r.Utime.Usec)/1e6
}

func TestQuality(t *testing.T) {
	columns, _ := strconv.Atoi(os.Getenv("COLUMNS"))
	runs, _ := strconv.Atoi(os.Getenv("RUNS"))
	n := 10000
	eps := 1.0
	if s := os.Getenv("EPS"); s != "" {
		eps, _ = strconv.ParseFloat(s, 64)
	}
	for run := range runs {
		rows := wideData(t, n, columns, uint64(run+1))
		test := wideData(t, n, columns, uint64(run+1000))
		plan, err := tables.AIM{Common: tables.Common{Schema: rows.Schema(), Nominal: n, Seed: uint64(run),
			Budget: accountant.Budget{Epsilon: eps, Delta: 1e-9}}}.Plan()
		if err != nil {
			t.Fatal(err)
		}
		if run == 0 {
			fmt.Printf("%v\n", plan)
		}
		start := cpu()
		gen, err := plan.Fit(privacytest.Seeded(t, t.Context(), uint64(7+run)), rows)
		if err != nil {
			t.Fatal(err)
		}
		spent := cpu() - start
		out, err := gen.Sample(t.Context(), n, synth.Seed(uint64(run)))
		if err != nil {
			t.Fatal(err)
		}
		all, corr := meanTV(test, out.(*records.Frame))
		fmt.Printf("run %d cpu %.2f tv %.5f related %.5f\n", run, spent, all, corr)
	}
}

func wideData(t *testing.T, n, columns int, seed uint64) *records.Frame {
	list := make([]records.Column, columns)
	binary := os.Getenv("BINARY") != ""
	for j := range list {
		name := fmt.Sprintf("c%d", j)
		if list[j] = records.Numeric(name, 0, 100); binary {
			list[j] = records.Categorical(name, "a", "b")
		} else if j%2 == 1 {
			list[j] = records.Categorical(name, "a", "b", "c", "d", "e")
		}
	}
	s, err := records.NewSchema(list...)
	if err != nil {
		t.Fatal(err)
	}
	rng, rows := rand.New(rand.NewPCG(5, seed)), make([][]any, n)
	load := rand.New(rand.NewPCG(9, 9))
	w := make([]float64, columns)
	for j := range w {
		w[j] = load.Float64()
	}
	for i := range rows {
		var hidden [6]float64
		for k := range hidden {
			hidden[k] = rng.NormFloat64()
		}
		last := 0.0
		for j := range columns {
			v := 0.8*w[j]*hidden[j%6] + 0.5*hidden[j/6%6] + 0.4*last + 0.5*rng.NormFloat64()
			last = v
			if binary {
				x := "a"
				if v > 0 {
					x = "b"
				}
				rows[i] = append(rows[i], x)
			} else if rows[i] = append(rows[i], min(max(50+15*v, 0), 100)); j%2 == 1 {
				rows[i][j] = string("abcde"[min(max(int(2.5+v), 0), 4)])
			}
		}
	}
	f, err := records.FromValues(s, rows...)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func codesOf(f *records.Frame, j int) ([]int, int) {
	c := f.Schema().Columns()[j]
	out := make([]int, f.Len())
	size := 8
	if len(c.Levels()) > 0 {
		size = len(c.Levels())
	}
	for i := range out {
		if len(c.Levels()) > 0 {
			out[i] = f.Level(i, j)
		} else {
			out[i] = min(max(int((f.Number(i, j)-10)/10), 0), 7)
		}
	}
	return out, size
}

func meanTV(a, b *records.Frame) (all, corr float64) {
	m := len(a.Schema().Columns())
	x, y, sz := make([][]int, m), make([][]int, m), make([]int, m)
	for j := range m {
		x[j], sz[j] = codesOf(a, j)
		y[j], _ = codesOf(b, j)
	}
	pairs := 0.0
	for i := range m {
		for j := range i {
			d := make([]float64, sz[i]*sz[j])
			for k := range x[i] {
				d[x[i][k]*sz[j]+x[j][k]] += 1 / float64(len(x[i]))
			}
			for k := range y[i] {
				d[y[i][k]*sz[j]+y[j][k]] -= 1 / float64(len(y[i]))
			}
			tv := 0.0
			for _, v := range d {
				tv += max(v, -v) / 2
			}
			all += tv
			if i-j == 1 || i%6 == j%6 {
				corr += tv
				pairs++
			}
		}
	}
	return all / float64(m*(m-1)/2), corr / pairs
}
