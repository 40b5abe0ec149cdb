// Marginals measures AIM, MST and MERF from their defaults on tables: docs/studies/marginals.md.
package main

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/demo"
	"github.com/seed7ba64551/privgen/evaluate/classify"
	"github.com/seed7ba64551/privgen/evaluate/tabular"
	"github.com/seed7ba64551/privgen/internal/examples/program"
	"github.com/seed7ba64551/privgen/records"
)

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// shapes are made-up tables.
var shapes = map[string]demo.TableSource{
	"adult-like": {Records: 20_000, Numbers: 6, Choices: 8, Levels: 16, Flags: 1, Classes: 2,
		Minority: 0.25, Seed: 1},
	"numbers": {Records: 20_000, Numbers: 25, Choices: 3, Levels: 6, Classes: 2, Minority: 0.1,
		Seed: 2},
	"five": {Records: 20_000, Numbers: 3, Choices: 12, Levels: 8, Flags: 4, Classes: 5, Seed: 3},
	"rare": {Records: 20_000, Numbers: 4, Choices: 8, Levels: 8, Flags: 2, Classes: 6,
		Minority: 0.01, Seed: 7},
	"wide": {Records: 30_000, Numbers: 60, Classes: 2, Seed: 8},
}

func main() { program.Main("marginals", run) }

func run(ctx context.Context, args []string) error {
	flags := program.NewFlags("marginals")
	shape := flags.String("shape", "adult-like", "a made-up table, in place of files")
	schema := flags.String("schema", "", "schema of files")
	train := flags.String("train", "", "comma-separated values without a header")
	test := flags.String("test", "", "others to test on; a fifth of the training rows if empty")
	system := flags.String("system", "aim", "aim, mst, merf, or real for the rows themselves")
	epsilon := flags.Float64("epsilon", 1, "of every run")
	runs := flags.Int("runs", 1, "runs, of seeds 0, 1 and so on")
	if err := flags.Parse(args); err != nil {
		return err
	}
	rows, held := made(*shape)
	if *train != "" {
		rows, held = read(*schema, *train, *test)
	}
	s, b, n := rows.Schema(), accountant.Budget{Epsilon: *epsilon, Delta: 1e-5}, rows.Len()
	for seed := range uint64(*runs) {
		var p privgen.Plan
		switch *system {
		case "real":
			judge(rows, held, rows)
			return nil
		case "merf":
			p = must(privgen.MERF(s, b).Nominal(n).Seed(seed).Plan())
		case "mst":
			p = must(privgen.MST(s, b).Nominal(n).Seed(seed).Plan())
		default:
			p = must(privgen.AIM(s, b).Nominal(n).Seed(seed).Plan())
		}
		gen := must(p.Fit(ctx, rows))
		judge(rows, held, must(gen.Sample(ctx, n, privgen.Seed(seed))))
	}
	return nil
}

// made makes training rows and 8,000 others of the same distribution.
func made(shape string) (rows, held *records.Frame) {
	source := shapes[shape]
	rows = must(source.Make())
	source.Draw, source.Records = 1, 8000
	return rows, must(source.Make())
}

// read reads training rows and rows to test on.
func read(schema, train, test string) (rows, held *records.Frame) {
	s, csv := must(records.OpenSchema(schema)), records.CSV{Comment: '|'}
	all := must(csv.OpenFrame(train, s))
	if test != "" {
		return all, must(csv.OpenFrame(test, s))
	}
	var kept, out []int32
	rng := rand.New(rand.NewPCG(1, 0x73706c6974))
	for i := range int32(all.Len()) {
		if rng.Float64() < 0.2 {
			out = append(out, i)
		} else {
			kept = append(kept, i)
		}
	}
	return all.Take(kept), all.Take(out)
}

// judge prints variations of tables of one to three columns, scores of pairs, and the area under
// the ROC of boosting.
func judge(rows, held, synthetic records.Data) {
	real, other := must(tabular.Read(rows, nil)), must(tabular.Read(synthetic, nil))
	fmt.Print("variation")
	for way, most := range []int{100, 400, 300} {
		sum, groups := 0.0, must(other.Groups(way+1, most, 1))
		for _, v := range must(tabular.Variation(real, other, groups, 20)) {
			sum += v
		}
		fmt.Printf(" %.4f", sum/float64(len(groups)))
	}
	q := must(tabular.Compare(real, other, 200, 1))
	c := must(must(classify.Read(synthetic)).Fit(classify.GradientBoosting{}))
	fmt.Printf("  shapes %.4f  trends %.4f  ROC %.4f\n", q.ColumnShapes, q.ColumnPairTrends,
		must(c.Test(held)).Scores.ROC)
}
