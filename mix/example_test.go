package mix_test

import (
	"context"
	"fmt"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/records"
)

// A plan states the privacy cost of a release before any record is read. The type of the sampling
// determines the neighbouring relation.
func Example() {
	s := records.Image(2, 2).WithLabels("dark", "bright")
	plan, err := mix.Config{
		Schema:   s,
		Budget:   accountant.Budget{Epsilon: 4, Delta: 1e-5},
		Sampling: mix.Poisson{Nominal: 1000, Degree: 8},
		Mixtures: 500,
		ClipNorm: 1,
	}.Plan()
	if err != nil {
		fmt.Println(err)
		return
	}
	flat, labels := make([]float32, 4*1000), make([]int32, 1000)
	for i := range labels {
		labels[i] = int32(i % 2)
		for j := range 4 {
			flat[4*i+j] = 0.5 * float32(labels[i])
		}
	}
	data, err := records.FromFlat(s, flat, labels...)
	if err != nil {
		fmt.Println(err)
		return
	}
	gen, err := plan.Fit(context.Background(), data)
	if err != nil {
		fmt.Println(err)
		return
	}
	m := gen.Model().(*mix.Model)
	fmt.Println(m.Rows().Len(), "rows of", m.Rows().Dim(), "features and", m.Rows().Classes(),
		"soft labels")
	fmt.Println("within the budget:", gen.Guarantee().Epsilon <= 4, "for", gen.Guarantee().Relation)
	// Output:
	// 500 rows of 4 features and 2 soft labels
	// within the budget: true for add_or_remove_one
}
