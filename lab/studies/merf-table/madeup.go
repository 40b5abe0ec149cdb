package main

import (
	"math"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen/records"
)

// The generated table has properties of real tables: skewed amounts with many zeros, levels of very
// different frequency, dependent columns and missing values. Its class has a share of one quarter
// and depends on several columns together.

var (
	jobs = []string{"clerk", "craft", "manager", "nurse", "sales", "teacher", "driver",
		"farmer", "none"}
	families  = []string{"single", "married", "divorced", "widowed"}
	regions   = []string{"north", "south", "east", "west", "coast", "hills", "islands", "abroad"}
	schooling = []string{"primary", "lower", "upper", "college", "bachelor", "master", "doctor"}
)

func madeUpSchema() (records.Schema, error) {
	return records.NewSchema(
		records.Integer("age", 17, 90),
		records.Ordinal("schooling", schooling...),
		records.Categorical("job", jobs...).WithMissing(),
		records.Categorical("family", families...),
		records.Categorical("region", regions...),
		records.Flag("union", "no", "yes"),
		records.Integer("hours", 0, 99),
		records.Numeric("savings", 0, 100000).Logarithmic(),
		records.Numeric("distance", 0, 120).WithMissing(),
		records.Label("income", "low", "high"))
}

// madeUp draws records of the generated table.
func madeUp(s records.Schema, n int, seed uint64) *records.Frame {
	rng := rand.New(rand.NewPCG(seed, 0x7461626c65))
	b, err := records.NewFrameBuilder(s)
	if err != nil {
		panic(err) // cannot happen: the schema is part of the program
	}
	for range n {
		if err := b.Append(person(rng)...); err != nil {
			panic(err)
		}
	}
	return b.Frame()
}

func person(rng *rand.Rand) []any {
	age := math.Min(17+rng.ExpFloat64()*12+rng.Float64()*20, 90)
	school := pick(rng, 1, 3, 8, 6, 5, 2, 0.5)
	job := jobOf(rng, school)
	family := pick(rng, 3, 1.5+math.Max(age-22, 0)/6, 1+age/60, math.Max(age-50, 0.1)/20)
	hours := math.Max(0,
		38+6*rng.NormFloat64()+float64(4*b2i(job == 2))-float64(18*b2i(rng.IntN(6) == 0)))
	savings := 0.0
	if rng.Float64() < 0.05+0.03*float64(school)+age/400 {
		savings = math.Exp(7 + 1.2*rng.NormFloat64() + 0.15*float64(school))
	}
	score := -6.1 + 0.55*float64(school) + 1.6*float64(b2i(family == 1)) + 0.9*float64(b2i(job == 2)) +
		0.045*math.Min(age, 60) -
		1.5*float64(b2i(age < 25)) + 0.03*(hours-38) + 1.2*float64(b2i(savings > 3000)) +
		0.5*float64(b2i(job == 4 && family == 1))
	row := []any{math.Round(age), schooling[school], jobs[job], families[family],
		regions[pick(rng, 8, 7, 5, 5, 4, 2, 1, 0.3)],
		[]string{"no", "yes"}[b2i(rng.Float64() < 0.1+0.2*float64(b2i(job == 1 || job == 5)))],
		math.Round(hours), savings,
		rng.ExpFloat64() * 15, []string{"low", "high"}[b2i(rng.Float64() < 1/(1+math.Exp(-1.4*score)))]}
	if rng.IntN(20) == 0 {
		row[2] = nil
	}
	if job == len(jobs)-1 || rng.IntN(30) == 0 {
		row[8] = nil
	}
	return row
}

// jobOf draws a job that depends on the education.
func jobOf(rng *rand.Rand, school int) int {
	s := float64(school)
	return pick(rng, 4, 6-0.8*s, 1+s, 2, 4, 0.2+0.1*s*s, 4-0.6*s, 1.5-0.2*s, 1.2)
}

// pick draws an index with probability proportional to its weight.
func pick(rng *rand.Rand, weights ...float64) int {
	total := 0.0
	for _, w := range weights {
		total += math.Max(w, 0.01)
	}
	u := rng.Float64() * total
	for i, w := range weights {
		if u -= math.Max(w, 0.01); u < 0 {
			return i
		}
	}
	return len(weights) - 1
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
