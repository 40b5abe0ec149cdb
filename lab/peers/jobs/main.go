// Command jobs runs whole private jobs with privgen: it trains a logistic regression, or clusters
// points. Program jobs.py runs the same jobs with diffprivlib and Opacus, on the files that this
// command writes. README.md has the commands.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/examples/program"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/demo"
)

func main() { program.Main("jobs", run) }

// job is the command line.
type job struct {
	schema, train, out string
	write              bool
	seed               uint64
	budget             accountant.Budget
	logistic           logistic
	clusters           clusters
}

func run(ctx context.Context, args []string) error {
	var j job
	f := program.NewFlags("jobs")
	name := f.String("job", "logistic", "logistic or clusters")
	f.StringVar(&j.schema, "schema", "", "schema of -train")
	f.StringVar(&j.train, "train", "", "CSV file of real rows, a fifth of which is held out; by default rows are generated")
	f.StringVar(&j.out, "data", "work", "folder of the arrays that both programs read")
	f.BoolVar(&j.write, "write", false, "write the arrays, and run no job")
	f.Uint64Var(&j.seed, "seed", 0, "public seed of initial values")
	f.Float64Var(&j.logistic.rate, "learning-rate", 8, "learning rate of the logistic regression")
	f.Float64Var(&j.logistic.clip, "clip", 1, "clip norm of the regression")
	f.Float64Var(&j.logistic.sampled, "sampled", 0.1, "sampling probability of the regression")
	f.IntVar(&j.logistic.steps, "steps", 100, "steps of the regression")
	f.IntVar(&j.clusters.k, "k", 10, "number of clusters")
	f.IntVar(&j.clusters.iterations, "iterations", 10, "iterations of k-means")
	program.BudgetFlags(f, &j.budget, 1, 1e-5)
	if err := f.Parse(args); err != nil {
		return err
	}
	if j.write {
		return j.data()
	}
	switch *name {
	case "logistic":
		return j.report(*name, func() (float64, error) { return j.logistic.run(ctx, j) })
	case "clusters":
		return j.report(*name, func() (float64, error) { return j.clusters.run(ctx, j) })
	}
	return fmt.Errorf("-job %q: want logistic or clusters", *name)
}

// outcome is the line that a job prints. jobs.py prints the same fields.
type outcome struct {
	Job     string  `json:"job"`
	Library string  `json:"library"`
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
	Seed    uint64  `json:"seed"`
	Seconds float64 `json:"seconds"`   // elapsed
	CPU     float64 `json:"processor"` // seconds
	Quality float64 `json:"quality"`
}

func (j job) report(name string, do func() (float64, error)) error {
	began, used := time.Now(), program.ProcessorTime()
	quality, err := do()
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(outcome{name, "privgen", j.budget.Epsilon,
		j.budget.Delta, j.seed, time.Since(began).Seconds(),
		(program.ProcessorTime() - used).Seconds(), quality})
}

// data writes the arrays of all jobs.
func (j job) data() error {
	if err := os.MkdirAll(j.out, 0o755); err != nil {
		return err
	}
	train, test, err := j.rows()
	if err != nil {
		return err
	}
	err = j.save("train.npz", func(w io.Writer) error { return records.WriteNPZ(w, train.Encoded()) })
	if err != nil {
		return err
	}
	err = j.save("test.npz", func(w io.Writer) error { return records.WriteNPZ(w, test.Encoded()) })
	if err != nil {
		return err
	}
	fmt.Printf("norm of a row of the table: at most %.4f\n", train.Schema().MaxNorm())
	points, err := points(50_000, 8, j.clusters.k)
	if err != nil {
		return err
	}
	return j.save("points.npz", func(w io.Writer) error { return records.WriteNPZ(w, points) })
}

func (j job) save(name string, write func(io.Writer) error) error {
	return program.Save(filepath.Join(j.out, name), write)
}

// rows returns training rows and held-out rows of a table.
func (j job) rows() (train, test *records.Frame, err error) {
	if j.train == "" {
		source := demo.TableSource{Records: 26_000, Numbers: 6, Choices: 8, Levels: 16, Flags: 1,
			Classes: 2, Minority: 0.25, Seed: 1}
		if train, err = source.Make(); err != nil {
			return nil, nil, err
		}
		source.Draw, source.Records = 1, 6500
		test, err = source.Make()
		return train, test, err
	}
	s, err := records.OpenSchema(j.schema)
	if err != nil {
		return nil, nil, err
	}
	all, err := records.CSV{Comment: '|', Limits: program.Trusted()}.OpenFrame(j.train, s)
	if err != nil {
		return nil, nil, err
	}
	train, test = program.HoldOut(all)
	return train, test, nil
}
