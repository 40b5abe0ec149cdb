package marginal

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/records"
)

// sumsOf returns the exact released numbers of rows of codes.
func (h Halves) sumsOf(t *testing.T, rows ...[]uint16) []float64 {
	t.Helper()
	c := h.Counter()
	codes := make([][]uint16, len(h.Attributes))
	shares := make([]int64, len(rows))
	for i, row := range rows {
		shares[i] = int64(1 / records.ShareStep)
		for j, code := range row {
			codes[j] = append(codes[j], code)
		}
	}
	c.cells(codes, shares, c.counts)
	c.flush()
	sum := c.Sums()[0]
	var out []float64
	for _, steps := range sum.Exact() {
		out = append(out, float64(steps)*sum.Grid())
	}
	return out
}

// columnsFor returns columns with the given numbers of codes, divided into cells or not.
func columnsFor() (list [][]Attribute) {
	for codes := 1; codes <= 12; codes++ {
		for _, missing := range []bool{false, true} {
			a := Attribute{Block: network.Block{Width: 1}, Codes: codes, Missing: missing}
			list = append(list, []Attribute{a})
			if cells := a.Ordered() - 2; cells >= 1 {
				a.Cells = cells
				list = append(list, []Attribute{a}, []Attribute{a, {Block: network.Block{Width: 1}, Codes: 5}})
			}
		}
	}
	return list
}

// TestHalvesSensitivity compares the bound with the largest change over all records and all pairs
// of records. The bound must hold, and must be reached within a factor of 1.3.
func TestHalvesSensitivity(t *testing.T) {
	for _, list := range columnsFor() {
		var rows [][]uint16
		for first := range list[0].Codes {
			row := []uint16{uint16(first)}
			if len(list) == 1 {
				rows = append(rows, row)
				continue
			}
			for second := range list[1].Codes {
				rows = append(rows, append(row[:1:1], uint16(second)))
			}
		}
		for _, relation := range []accountant.Relation{accountant.AddOrRemoveOne,
			accountant.ReplaceOne} {
			h := Halves{list, relation}
			worst := 0.0
			for i := range rows {
				x := h.sumsOf(t, rows[i])
				if relation == accountant.AddOrRemoveOne {
					worst = max(worst, squares(x, make([]float64, len(x))))
					continue
				}
				for k := range i {
					worst = max(worst, squares(x, h.sumsOf(t, rows[k])))
				}
			}
			bound := h.squaredSensitivity()
			if name := fmt.Sprintf("%v, %+v", relation, list); worst > bound {
				t.Errorf("%s: a squared change of %v, above the bound of %v", name, worst, bound)
			} else if list[0].Codes > 1 && worst < bound/1.3/1.3 {
				t.Errorf("%s: the bound %v is far above the largest squared change %v", name, bound, worst)
			}
		}
	}
}

func squares(x, y []float64) (sum float64) {
	for i := range x {
		sum += (x[i] - y[i]) * (x[i] - y[i])
	}
	return sum
}

// TestHalvesWithoutNoiseAreExact reads the fractions of random records back from exact differences.
func TestHalvesWithoutNoiseAreExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, list := range columnsFor() {
		h := Halves{list, accountant.AddOrRemoveOne}
		rows, want := make([][]uint16, 500), make([]float64, list[0].Codes)
		for i := range rows {
			for _, a := range list {
				rows[i] = append(rows[i], uint16(rng.IntN(a.Codes)*rng.IntN(2)))
			}
			want[rows[i][0]] += 1.0 / 500
		}
		sums := h.sumsOf(t, rows...)
		if sums[0] != 500 {
			t.Fatalf("%+v: %v records", list, sums[0])
		}
		l := layoutOf(list[0])
		for code, p := range l.fractions(sums[1:][:max(list[0].Codes-1, 0)], 500, 1e-9) {
			if math.Abs(p-want[code]) > 1e-9 {
				t.Fatalf("%+v: code %d has the fraction %v, want %v", list, code, p, want[code])
			}
		}
	}
}

// TestHalvesAreLessNoisyThanCounts compares the errors of distribution functions with those of a
// release of the codes themselves with the same effect. Means are over 30 draws with a fixed seed,
// so the test has no false alarms.
func TestHalvesAreLessNoisyThanCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	a := Attribute{Block: network.Block{Width: 1}, Codes: 128, Cells: 126}
	list := make([]Attribute, 20)
	for i := range list {
		list[i] = a
	}
	const total, noise = 20_000.0, 5
	h := Halves{list, accountant.AddOrRemoveOne}
	s := Survey{list, accountant.AddOrRemoveOne}
	l, std := layoutOf(a), h.Std(noise)
	single, _ := s.Std(noise)
	for name, density := range map[string]func(code int) float64{
		"even":   func(int) float64 { return 1 },
		"normal": func(code int) float64 { return math.Exp(-math.Pow(float64(code-64)/16, 2) / 2) },
		"spikes": func(code int) float64 { return 0.01 + float64((code%29)/28) },
	} {
		want, sum := make([]float64, a.Codes), 0.0
		for code := 1; code < a.Codes-1; code++ {
			want[code] = density(code)
			sum += want[code]
		}
		exact := make([]float64, a.Codes-1)
		for code := range want {
			want[code] *= total / sum
			at := l.position[code]
			for i, n := range l.intervals() {
				if n.first <= at && at < n.mid {
					exact[i] += want[code]
				} else if n.mid <= at && at < n.end {
					exact[i] -= want[code]
				}
			}
		}
		ours, theirs := 0.0, 0.0
		for range 30 {
			noisy := make([]float64, len(exact))
			for i, d := range exact {
				noisy[i] = d + std*rng.NormFloat64()
			}
			counts := make([]float64, a.Codes)
			for code, c := range want {
				counts[code] = c + single*rng.NormFloat64()
			}
			ours += furthest(l.fractions(noisy, total, std), want, total)
			theirs += furthest(Simplex(counts, total), want, total)
		}
		if ours > 0.7*theirs {
			t.Errorf("%s: distribution functions differ by %.4f, and by %.4f with single counts", name,
				ours/30, theirs/30)
		}
	}
}

// furthest returns the largest difference between two distribution functions.
func furthest(parts, counts []float64, total float64) (most float64) {
	x, y := 0.0, 0.0
	for code, p := range parts {
		x, y = x+p, y+counts[code]/total
		most = max(most, math.Abs(x-y))
	}
	return most
}
