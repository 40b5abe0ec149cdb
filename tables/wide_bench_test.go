package tables_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/tables"
)

// BenchmarkAIMWide fits AIM with its defaults to 10,000 rows of 30, 100 and 300 columns, half of
// them numbers and half levels, which depend on four hidden factors.
func BenchmarkAIMWide(b *testing.B) {
	for _, columns := range []int{30, 100, 300} {
		b.Run(fmt.Sprint(columns), func(b *testing.B) {
			rows := wideRows(b, 10_000, columns)
			plan, err := tables.AIM{Common: tables.Common{Schema: rows.Schema(), Nominal: 10_000, Seed: 1,
				Budget: accountant.Budget{Epsilon: 1, Delta: 1e-9}}}.Plan()
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := plan.Fit(privacytest.Seeded(b, b.Context(), 7), rows); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func wideRows(b *testing.B, n, columns int) *records.Frame {
	list := make([]records.Column, columns)
	for j := range list {
		name := fmt.Sprintf("c%d", j)
		if list[j] = records.Numeric(name, 0, 100); j%2 == 1 {
			list[j] = records.Categorical(name, "a", "b", "c", "d", "e")
		}
	}
	s, err := records.NewSchema(list...)
	if err != nil {
		b.Fatal(err)
	}
	rng, rows := rand.New(rand.NewPCG(5, 6)), make([][]any, n)
	for i := range rows {
		var hidden [4]float64
		for k := range hidden {
			hidden[k] = rng.NormFloat64()
		}
		for j := range columns {
			v := 0.8*hidden[j%4] + 0.4*hidden[j/4%4] + 0.5*rng.NormFloat64()
			if rows[i] = append(rows[i], 50+15*v); j%2 == 1 {
				rows[i][j] = string("abcde"[min(max(int(2.5+v), 0), 4)])
			}
		}
	}
	f, err := records.FromValues(s, rows...)
	if err != nil {
		b.Fatal(err)
	}
	return f
}
