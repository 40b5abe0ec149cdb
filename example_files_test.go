package privgen_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/records"
)

// wardTable makes a small labelled table.
func wardTable() (*records.Frame, error) {
	schema, err := records.NewSchema(records.Integer("age", 0, 100),
		records.Categorical("ward", "north", "south"), records.Label("outcome", "home", "stay"))
	if err != nil {
		return nil, err
	}
	rows := make([][]any, 200)
	for i := range rows {
		rows[i] = []any{20 + i%60, []string{"north", "south"}[i%2], []string{"home", "stay"}[i%3/2]}
	}
	return records.FromValues(schema, rows...)
}

// smallPlan returns a MERF plan that trains in a moment.
func smallPlan(data records.Data) (*merf.Plan, error) {
	return privgen.MERF(data.Schema(), accountant.Budget{Epsilon: 1, Delta: 1e-5}).
		Train(merf.GeneratorConfig{Steps: 10}).Plan()
}

// This example releases 100 noisy mixtures, each of 4 records on average, and draws 500 records:
// mixtures repeat.
func ExampleMix() {
	data, err := records.FromFlat(records.Interval(3, 0, 1), make([]float32, 3*200))
	if err != nil {
		fmt.Println(err)
		return
	}
	gen, err := privgen.Mix(data.Schema(), accountant.Budget{Epsilon: 2, Delta: 1e-5}).
		Mixtures(mix.Config{Sampling: mix.Poisson{Nominal: 200, Degree: 4}, Mixtures: 100, ClipNorm: 1}).
		Fit(context.Background(), data)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(gen.Model().(*mix.Model).Rows().Len(), "mixtures released")
	rows, err := gen.Sample(context.Background(), 500)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(rows.Len(), "records drawn from them")
	// Output:
	// 100 mixtures released
	// 500 records drawn from them
}

// A generator is saved in a file that any process can read.
func ExampleLoadFile() {
	data, err := wardTable()
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := smallPlan(data)
	if err != nil {
		fmt.Println(err)
		return
	}
	gen, err := plan.Fit(context.Background(), data)
	if err != nil {
		fmt.Println(err)
		return
	}
	folder, err := os.MkdirTemp("", "generators")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "patients.privgen")
	if err := gen.SaveFile(path); err != nil {
		fmt.Println(err)
		return
	}
	loaded, err := privgen.LoadFile(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(loaded.System(), loaded.Guarantee().Epsilon == gen.Guarantee().Epsilon)

	_, err = privgen.Load(bytes.NewReader([]byte("something else")))
	fmt.Println(errors.Is(err, privgen.ErrFormat))
	// Output:
	// merf true
	// true
}

// Draws can be restricted to one class and repeated by a seed.
func ExampleOfClass() {
	data, err := wardTable()
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := smallPlan(data)
	if err != nil {
		fmt.Println(err)
		return
	}
	gen, err := plan.Fit(context.Background(), data)
	if err != nil {
		fmt.Println(err)
		return
	}
	stay, err := gen.Sample(context.Background(), 3, privgen.OfClass(1), privgen.Seed(7))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, class := range stay.(*records.Frame).Labels() {
		fmt.Println(stay.Schema().ClassName(int(class)))
	}
	_, err = gen.Sample(context.Background(), 3, privgen.OfClass(2))
	fmt.Println(err != nil)
	// Output:
	// stay
	// stay
	// stay
	// true
}

// A plan is JSON: it can be reviewed, approved and carried out elsewhere.
func ExampleReadPlan() {
	data, err := wardTable()
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := smallPlan(data)
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := json.Marshal(plan)
	if err != nil {
		fmt.Println(err)
		return
	}
	approved, err := privgen.ReadPlan(text) // prices the plan again
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(approved.System(), approved.Budget())
	fmt.Println(approved.Total() == plan.Total())
	// Output:
	// merf (ε=1, δ=1e-05) under add_or_remove_one
	// true
}

// Recommend ranks the systems for a kind of data before any budget is spent.
func ExampleRecommend() {
	data, err := wardTable()
	if err != nil {
		fmt.Println(err)
		return
	}
	budget := accountant.Budget{Epsilon: 1, Delta: 1e-6}
	list, err := privgen.Recommend(data.Schema(), budget, 50_000)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range list {
		fmt.Println(r.Plan.System())
	}
	_, err = privgen.Recommend(data.Schema(), budget, 20)
	fmt.Println(errors.Is(err, privgen.ErrNoise))
	// Output:
	// aim
	// quantiles
	// gan
	// true
}
