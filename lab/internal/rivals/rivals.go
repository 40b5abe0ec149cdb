// Package rivals has systems for tables by name: plans of this library, and commands of reference
// implementations.
package rivals

import (
	"context"
	"os"
	"os/exec"
	"strconv"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/records"
)

// A Planner plans a system for n rows. The seed is that of public randomness.
type Planner func(s records.Schema, b accountant.Budget, n int, seed uint64) (privgen.Plan, error)

// Plans holds the systems of this library.
var Plans = map[string]Planner{
	"aim": func(s records.Schema, b accountant.Budget, n int, seed uint64) (privgen.Plan, error) {
		return privgen.AIM(s, b).Nominal(n).Seed(seed).Plan()
	},
	"mst": func(s records.Schema, b accountant.Budget, n int, seed uint64) (privgen.Plan, error) {
		return privgen.MST(s, b).Nominal(n).Seed(seed).Plan()
	},
	"merf": func(s records.Schema, b accountant.Budget, n int, seed uint64) (privgen.Plan, error) {
		return privgen.MERF(s, b).Nominal(n).Seed(seed).Plan()
	},
	"merf-quantiles": func(s records.Schema, b accountant.Budget, n int,
		seed uint64) (privgen.Plan, error) {
		return ranks(s, b, n, seed).PlanFor(s, b)
	},
	"pool": func(s records.Schema, b accountant.Budget, n int, seed uint64) (privgen.Plan, error) {
		return compose.Pool{Of: []privgen.Design{privgen.AIM(s, b).Nominal(n).Seed(seed),
			ranks(s, b, n, seed)}}.PlanFor(s, b)
	},
}

func ranks(s records.Schema, b accountant.Budget, n int, seed uint64) compose.Ranks {
	return compose.Ranks{Of: privgen.MERF(s, b).Nominal(n).Seed(seed), Seed: seed}
}

// A Job is what a program that draws rows is told: files of the schema and of the real rows, the
// file for the drawn rows, and the budget. Files of rows have a header.
type Job struct {
	Schema, Train, Out string
	Epsilon            float64
	Seed               uint64
}

// Reference returns the command of a reference implementation by a Python that has its packages. It
// runs in lab.
func Reference(ctx context.Context, python, script, system string, j Job) *exec.Cmd {
	c := exec.CommandContext(ctx, python, "peers/judge/"+script, "--schema", j.Schema,
		"--train", j.Train, "--out", j.Out, "--system", system,
		"--epsilon", strconv.FormatFloat(j.Epsilon, 'g', -1, 64),
		"--seed", strconv.FormatUint(j.Seed, 10))
	c.Stderr = os.Stderr
	c.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1")
	return c
}
