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
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/mix"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/rff"
	"github.com/seed7ba64551/privgen/sgd"
)

// Plan makes all decisions and reads no records, so the price can be approved before any record is
// read.
func ExampleDPGM_plan() {
	plan, err := privgen.DPGM(records.BinaryImage(28, 28), accountant.Budget{Epsilon: 4, Delta: 1e-5}).
		Features(rff.RBF{Dim: 200, Bandwidth: 8}).
		Cluster(kmeans.Config{K: 10, Iterations: 8, Share: 0.15}).
		Model(models.PaperVAE()).
		Train(sgd.Config{ClipNorm: 1, SamplingProbability: 0.05, Steps: 500, Optimizer: sgd.Adam(1e-3)}).
		Plan()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("within the budget:", plan.Total().Upper <= 4)
	for _, s := range plan.Stages() {
		fmt.Println(s.Purpose, s.Count)
	}
	// Output:
	// within the budget: true
	// k-means 8
	// training 500
}

// From records to synthetic records in one chain.
func ExampleDPGM() {
	ctx := context.Background()
	shopping, err := records.FromItems(records.Sets(50, 5),
		[][]uint32{{1, 2}, {2, 3, 7}, {1}, {40, 41}, {40, 42}, {7}})
	if err != nil {
		fmt.Println(err)
		return
	}
	gen, err := privgen.DPGM(shopping.Schema(), accountant.Budget{Epsilon: 1, Delta: 1e-6}).
		Cluster(kmeans.Config{K: 1}).
		Model(models.VAE{Hidden: []int{8}, Latent: 2}).
		Train(sgd.Config{ClipNorm: 1, SamplingProbability: 0.1, Steps: 20, Optimizer: sgd.Adam(1e-2)}).
		Fit(ctx, shopping)
	if err != nil {
		fmt.Println(err)
		return
	}
	baskets, err := gen.Sample(ctx, 1000)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(baskets.Len(), "synthetic baskets,", gen.Guarantee().Relation)
	// Output: 1000 synthetic baskets, add_or_remove_one
}

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
	// ranks
	// true
}

// A generative adversarial network on labelled records, under a budget.
func ExampleGAN() {
	schema := records.Interval(2, 0, 1).WithLabels("no", "yes")
	data, err := records.FromRows(schema, [][]float32{{0.1, 0.2}, {0.8, 0.9}, {0.2, 0.1}}, 0, 1, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	gen, err := privgen.GAN(schema, accountant.Budget{Epsilon: 1, Delta: 1e-5}).
		Critic(models.MLP{Hidden: []int{128, 64}, Activation: models.LeakyReLU}).
		Generator(models.MLP{Hidden: []int{64, 128}, BatchNorm: true}, 8).
		Train(gan.Config{CriticSteps: 10, Average: 0.99,
			Train: sgd.Config{ClipNorm: 1, SamplingProbability: 0.05, Steps: 50,
				Optimizer: sgd.AdamWith(1e-3, 0.5, 0.9, 1e-8)}}).
		Fit(context.Background(), data)
	if err != nil {
		fmt.Println(err)
		return
	}
	rows, err := gen.Sample(context.Background(), 5, privgen.OfClass(1))
	fmt.Println(rows.Len(), err, gen.Guarantee().Epsilon <= 1)
	// Output: 5 <nil> true
}

func ExampleMERF() {
	schema, err := records.NewSchema(
		records.Numeric("age", 17, 90), // public bounds, never read from the data
		records.Categorical("work", "private", "self", "state", "none"),
		records.Label("income", "<=50K", ">50K"))
	if err != nil {
		panic(err)
	}
	table, err := records.FromValues(schema, []any{39, "state", "<=50K"}, []any{50, "self", ">50K"})
	if err != nil {
		panic(err)
	}
	gen, err := privgen.MERF(schema, accountant.Budget{Epsilon: 1, Delta: 1e-5}).
		Embed(merf.Config{Features: 200}).
		Generator(models.MLP{Hidden: []int{50}, BatchNorm: true}).
		Train(merf.GeneratorConfig{Steps: 20}).
		Fit(context.Background(), table)
	if err != nil {
		panic(err)
	}
	rows, err := gen.Sample(context.Background(), 1000, privgen.OfClass(1))
	if err != nil {
		panic(err)
	}
	fmt.Println(rows.Len(), "records, ε ≤", gen.Guarantee().Epsilon <= 1)
	// Output: 1000 records, ε ≤ true
}

// Half of the records come from AIM, which keeps chosen pairs of columns, and half from a network.
func ExampleCompose() {
	data, err := wardTable()
	if err != nil {
		fmt.Println(err)
		return
	}
	schema, budget := data.Schema(), accountant.Budget{Epsilon: 2, Delta: 1e-5}
	gen, err := privgen.Compose(schema, budget, compose.Pool{Of: []privgen.Design{
		privgen.AIM(schema, budget).Nominal(200),
		privgen.MERF(schema, budget).Nominal(200).Train(merf.GeneratorConfig{Steps: 20}),
	}}).Fit(context.Background(), data)
	if err != nil {
		fmt.Println(err)
		return
	}
	rows, err := gen.Sample(context.Background(), 500)
	if err != nil {
		fmt.Println(err)
		return
	}
	of, err := compose.Part(gen, 1) // the network alone
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(rows.Len(), "records, in part of", of.System(), "with ε ≤ 2:",
		gen.Guarantee().Epsilon <= 2)
	// Output: 500 records, in part of merf with ε ≤ 2: true
}

// MERF is fitted to ranks of ages. Synthetic ranks become ages by released counts.
func ExampleCompose_ranks() {
	data, err := wardTable()
	if err != nil {
		fmt.Println(err)
		return
	}
	schema, budget := data.Schema(), accountant.Budget{Epsilon: 2, Delta: 1e-5}
	gen, err := privgen.Compose(schema, budget, compose.Ranks{
		Of: privgen.MERF(schema, budget).Nominal(200).Train(merf.GeneratorConfig{Steps: 20}),
	}).Fit(context.Background(), data)
	if err != nil {
		fmt.Println(err)
		return
	}
	rows, err := gen.Sample(context.Background(), 500)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(rows.Len(), "records, ε ≤ 2:", gen.Guarantee().Epsilon <= 2)
	// Output: 500 records, ε ≤ 2: true
}
