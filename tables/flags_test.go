package tables_test

import (
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
	"github.com/seed7ba64551/privgen/tables"
)

// TestParityOfFlags fits AIM to rows of seven flags whose label is the parity of four of them,
// which no table of three columns shows. The drawn rows must have that parity, too; rows with a
// random label have it half of the time. The seed is fixed.
func TestParityOfFlags(t *testing.T) {
	var columns []records.Column
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		columns = append(columns, records.Flag(name, "0", "1"))
	}
	s := must(records.NewSchema(append(columns, records.Label("parity", "even", "odd"))...))(t)
	rng := rand.New(rand.NewPCG(1, 2))
	rows := make([][]any, 4000)
	for i := range rows {
		bits := rng.IntN(128)
		for k := range 7 {
			rows[i] = append(rows[i], []string{"0", "1"}[bits>>k&1])
		}
		odd := (bits ^ bits>>1 ^ bits>>2 ^ bits>>3) & 1
		rows[i] = append(rows[i], []string{"even", "odd"}[odd])
	}
	data := must(records.FromValues(s, rows...))(t)
	b := accountant.Budget{Epsilon: 3, Delta: 1e-5}
	p := must(tables.AIM{Common: tables.Common{Schema: s, Budget: b, Seed: 1}, Rounds: 6}.Plan())(t)
	g := must(p.Fit(privacytest.Seeded(t, t.Context(), 1), data))(t)
	out := must(g.Sample(t.Context(), 1000, synth.Seed(9)))(t)
	var batch device.Batch
	out.Range(0, out.Len(), &batch)
	obeys := 0
	for i, label := range batch.Labels {
		sum := 0
		for _, v := range batch.Dense.Row(i)[:4] {
			sum += int(v + 0.5)
		}
		if sum%2 == int(label) {
			obeys++
		}
	}
	if obeys < 900 {
		t.Errorf("%d of 1000 rows have the parity", obeys)
	}
}
