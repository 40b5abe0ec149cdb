package risk

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

// TestDistanceByHand checks the loop by strides for many numbers of coordinates. It must return the
// plain sum. If the sum exceeds the limit, the result must exceed the limit, too.
func TestDistanceByHand(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for dim := 1; dim < 70; dim++ {
		flat := make([]float32, 6*dim)
		for i := range flat {
			flat[i] = rng.Float32()
		}
		d, err := records.FromFlat(records.Interval(dim, 0, 1), flat)
		if err != nil {
			t.Fatal(err)
		}
		p := read(d, 10, 0)
		least := math.Inf(1)
		for j := 1; j < 6; j++ {
			want := 0.0
			for k := range dim {
				want += math.Abs(float64(flat[k])-float64(flat[j*dim+k])) / float64(dim)
			}
			least = min(least, want)
			if got := p.distance(0, &p, j, math.Inf(1)); math.Abs(got-want) > 1e-6 {
				t.Errorf("%d coordinates: %v, want %v", dim, got, want)
			}
			if got := p.distance(0, &p, j, want/2); got < want/2 {
				t.Errorf("%d coordinates: %v under a limit that %v exceeds", dim, got, want)
			}
		}
		q := points{n: 5, width: dim, flat: p.flat[dim:], column: p.column}
		one := points{n: 1, width: dim, flat: p.flat[:dim], column: p.column}
		if got := one.closest(q)[0]; math.Abs(got-least) > 1e-6 {
			t.Errorf("%d coordinates: the closest lies at %v, want %v", dim, got, least)
		}
	}
}

// TestVectorsComputeDistances compares distances, densities and the closest records with those
// computed from the values. A level takes a byte or, if there are more than 256, two.
func TestVectorsComputeDistances(t *testing.T) {
	for _, levels := range []int{5, 300} {
		var names []string
		for l := range levels {
			names = append(names, fmt.Sprint(l))
		}
		columns := []records.Column{records.Numeric("a", -1, 3), records.Numeric("b", 0, 9).WithMissing()}
		for j := range 9 {
			columns = append(columns, records.Categorical(fmt.Sprint("c", j), names...))
		}
		s, err := records.NewSchema(columns...)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(uint64(levels), 1))
		var rows [][]any
		for range 60 {
			row := []any{4*rng.Float64() - 1, 9 * rng.Float64()}
			for range 9 {
				row = append(row, names[(levels-3+rng.IntN(5))%levels])
			}
			rows = append(rows, row)
		}
		f, err := records.FromValues(s, rows...)
		if err != nil {
			t.Fatal(err)
		}
		p, q := read(f.Slice(0, 20), 20, 1), read(f.Slice(20, 60), 40, 2)
		const width = 0.1
		density, closest := p.density(q, width), p.closest(q)
		for i := range p.n {
			sum, least := 0.0, math.Inf(1)
			for j := range q.n {
				d := 0.0
				for k, v := range rows[i] {
					switch x, number := v.(float64); {
					case number:
						d += math.Abs(x-rows[20+j][k].(float64)) / []float64{4, 9}[k] / 11
					case v != rows[20+j][k]:
						d += 1.0 / 11
					}
				}
				if got := p.distance(i, &q, j, math.Inf(1)); math.Abs(got-d) > 1e-6 {
					t.Fatalf("%d levels: distance %v, want %v", levels, got, d)
				}
				sum, least = sum+math.Exp(-d/width)/float64(q.n), min(least, d)
			}
			if math.Abs(density[i]-math.Log(sum)) > 1e-5 || math.Abs(closest[i]-least) > 1e-6 {
				t.Fatalf("%d levels: density %v and distance %v, want %v and %v", levels, density[i],
					closest[i], math.Log(sum), least)
			}
		}
	}
}
