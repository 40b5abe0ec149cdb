package tutorials_test

import (
	"context"
	"fmt"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/examples/digits"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate"
	"github.com/seed7ba64551/privgen/report/evaluate/classify"
)

func Example_digits() {
	ctx := context.Background()
	real, err := digits.Draw(1500, 1) // 28×28 grey images with labels
	check(err)
	train, test := real.Slice(0, 1200), real.Slice(1200, 1500)

	budget := accountant.Budget{Epsilon: 10, Delta: 1e-5}
	plan, err := privgen.MERF(train.Schema(), budget).
		Embed(merf.Config{Features: 500}).
		Train(merf.GeneratorConfig{Steps: 20}).Plan()
	check(err)
	gen, err := plan.Fit(ctx, train)
	check(err)

	sevens, err := gen.Sample(ctx, 5, privgen.OfClass(7), privgen.Seed(1))
	check(err)
	fmt.Println(sevens.Len(), "synthetic sevens:", sevens.(*records.Table).Labels())

	synthetic, err := gen.Sample(ctx, 1000, privgen.Means())
	check(err)
	score, err := evaluate.CompareTraining(classify.NeuralNetwork{Epochs: 1}, synthetic, train, test)
	check(err)
	fmt.Println(score.String()[:len("[not private]")]) // the result says that no ε covers it
	// Output:
	// 5 synthetic sevens: [7 7 7 7 7]
	// [not private]
}
