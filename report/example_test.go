package report_test

import (
	"context"
	"fmt"
	"os"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report"
	"github.com/seed7ba64551/privgen/report/demo"
	"github.com/seed7ba64551/privgen/report/fidelity"
)

// draws makes three tables of one distribution.
func draws() (real, heldOut, synthetic *records.Frame) {
	source := demo.TableSource{Records: 500, Numbers: 2, Choices: 2, Levels: 4, Classes: 2, Seed: 1}
	var list [3]*records.Frame
	for i := range list {
		source.Draw = uint64(i)
		f, err := source.Make()
		if err != nil {
			panic(err)
		}
		list[i] = f
	}
	return list[0], list[1], list[2]
}

func ExampleCompute() {
	real, heldOut, synthetic := draws()
	r, err := report.Compute(context.Background(),
		report.Input{Title: "Census, synthetic", Real: real, HeldOut: heldOut, Synthetic: synthetic},
		report.Settings{Train: 200, Near: 100})
	if err != nil {
		panic(err)
	}
	file, err := os.CreateTemp("", "report-*.html")
	if err != nil {
		panic(err)
	}
	defer os.Remove(file.Name())
	defer file.Close()
	if err := r.WriteHTML(file); err != nil {
		panic(err)
	}
	fmt.Println(r.Title, r.Public, len(r.Columns))
	// Output: Census, synthetic false 5
}

func ExampleReleased() {
	real, _, synthetic := draws()
	budget := accountant.Budget{Epsilon: 1, Delta: 1e-5}
	plan, err := fidelity.Config{Schema: real.Schema(), Budget: budget,
		Methods: []string{"logistic regression"}}.Plan()
	if err != nil {
		panic(err)
	}
	out, err := fidelity.Release(context.Background(), plan, real, records.DeclarePublic(synthetic),
		ledger.New(budget))
	if err != nil {
		panic(err)
	}
	r, err := report.Released(context.Background(),
		report.Input{Synthetic: synthetic, Guarantee: &out.Guarantee, Fidelity: out}, report.Settings{})
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Public, len(r.Fidelity.Columns), len(r.Fidelity.Classifiers))
	// Output: true 5 1
}
