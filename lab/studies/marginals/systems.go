package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/examples/program"
	"github.com/seed7ba64551/privgen/records"
)

// synthetic draws rows from a system. The number of rows is the number of real rows. For the
// reference it also returns the processor time that its program reports.
func (c config) synthetic(ctx context.Context, t table, key resultKey) (records.Data, float64,
	error) {
	s, b, n := t.rows.Schema(), accountant.Budget{Epsilon: key.epsilon, Delta: 1e-5}, t.rows.Len()
	var p privgen.Plan
	var err error
	ranks := compose.Ranks{Of: privgen.MERF(s, b).Nominal(n).Seed(key.seed), Seed: key.seed}
	switch key.system {
	case "real":
		return t.rows, 0, nil
	case "aim":
		p, err = privgen.AIM(s, b).Nominal(n).Seed(key.seed).Plan()
	case "mst":
		p, err = privgen.MST(s, b).Nominal(n).Seed(key.seed).Plan()
	case "merf":
		p, err = privgen.MERF(s, b).Nominal(n).Seed(key.seed).Plan()
	case "merf-quantiles":
		p, err = ranks.PlanFor(s, b)
	case "pool":
		p, err = compose.Pool{Of: []privgen.Design{privgen.AIM(s, b).Nominal(n).Seed(key.seed),
			ranks}}.PlanFor(s, b)
	case "reference-aim", "reference-mst", "reference-merf":
		return c.reference(ctx, t, key)
	default:
		err = fmt.Errorf("unknown system")
	}
	if err != nil {
		return nil, 0, err
	}
	gen, err := p.Fit(ctx, t.rows)
	if err != nil {
		return nil, 0, err
	}
	rows, err := gen.Sample(ctx, n, privgen.Seed(key.seed))
	return rows, 0, err
}

// referencePrograms has the program of each reference.
var referencePrograms = map[string]string{
	"aim":  "lab/peers/judge/reference.py",
	"mst":  "lab/peers/judge/reference.py",
	"merf": "lab/peers/judge/merf.py",
}

// reference runs the reference implementation on the same rows. The real rows are written to a
// temporary folder, which is removed.
func (c config) reference(ctx context.Context, t table, key resultKey) (records.Data, float64,
	error) {
	folder, err := os.MkdirTemp("", "marginals")
	if err != nil {
		return nil, 0, err
	}
	defer os.RemoveAll(folder)
	schema, train := filepath.Join(folder, "schema.json"), filepath.Join(folder, "train.csv")
	out, csv := filepath.Join(folder, "out.csv"), records.CSV{Header: true}
	err = program.Save(schema, func(w io.Writer) error {
		return records.WriteSchema(w, t.rows.Schema())
	})
	if err != nil {
		return nil, 0, err
	}
	err = program.Save(train, func(w io.Writer) error { return csv.WriteFrame(w, t.rows) })
	if err != nil {
		return nil, 0, err
	}
	system := strings.TrimPrefix(key.system, "reference-")
	file := referencePrograms[system]
	command := exec.CommandContext(ctx, c.python, file, "--schema", schema, "--train", train,
		"--out", out, "--system", system,
		"--epsilon", strconv.FormatFloat(key.epsilon, 'g', -1, 64),
		"--seed", strconv.FormatUint(key.seed, 10))
	command.Stderr = os.Stderr
	command.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1")
	if err := command.Run(); err != nil {
		return nil, 0, fmt.Errorf("%s %s: %w", c.python, file, err)
	}
	used := command.ProcessState.UserTime() + command.ProcessState.SystemTime()
	csv.Limits = program.Trusted()
	rows, err := csv.OpenFrame(out, t.rows.Schema())
	return rows, used.Seconds(), err
}
