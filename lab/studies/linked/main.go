// Command linked compares systems for tables that belong together on real tables.
//
//	go -C lab run ./studies/linked -set msnbc -in msnbc990928.seq.gz -epsilon 1 -runs 3
//
// It draws as many rows of the root as there are, and prints, for each system, the mean and the
// spread of total variation distances between tables of counts of the real and of the drawn rows,
// averaged over the tables of a kind; see evaluate.TableScores.
//
// The system "again" draws root rows with all that belongs to them from the real ones, with
// replacement: what sampling alone costs.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/examples/program"
	"github.com/seed7ba64551/privgen/records"
)

func main() { program.Main("linked", study) }

func study(ctx context.Context, args []string) error {
	f := program.NewFlags("linked")
	name := f.String("set", "shop", "data set: msnbc, panel, eval, cdnow, shop or device")
	in := f.String("in", "", "its file; not used for shop and device")
	runs := f.Int("runs", 3, "number of fits")
	systems := f.String("systems", "linked,independent",
		"systems to compare: linked, sorted, independent, flat, chain, again, or read:FOLDER for rows that "+
			"another program drew, with RUN for the number of the run")
	write := f.String("write", "", "write the real rows and their description to this folder, and end")
	var b accountant.Budget
	program.BudgetFlags(f, &b, 1, 1e-6)
	if err := f.Parse(args); err != nil {
		return err
	}
	own, ok := sets[*name]
	if !ok {
		return fmt.Errorf("no set %q", *name)
	}
	real, err := own.read(*in, own.tables)
	if err != nil {
		return err
	}
	if *write != "" {
		return export(*write, real)
	}
	j, err := newJoins(real)
	if err != nil {
		return err
	}
	for i := range own.tables.All() {
		rows, _ := real.Table(i)
		fmt.Printf("table %d: %d rows\n", i, rows.Len())
	}
	fmt.Printf("%-12s", "system")
	for _, m := range measureNames {
		fmt.Printf(" %14s", m)
	}
	fmt.Println()
	for _, system := range strings.Split(*systems, ",") {
		var all [][]float64
		start := time.Now()
		for run := range *runs {
			scores, err := scored(ctx, system, j, b, uint64(run))
			if err != nil {
				return fmt.Errorf("%s: %w", system, err)
			}
			all = append(all, scores)
		}
		fmt.Printf("%-12s", system)
		for k := range measureNames {
			mean, spread := meanOf(all, k)
			fmt.Printf("  %.4f±%.4f", mean, spread)
		}
		fmt.Printf("  %.0f s\n", time.Since(start).Seconds())
	}
	return nil
}

func meanOf(all [][]float64, k int) (mean, spread float64) {
	for _, one := range all {
		mean += one[k] / float64(len(all))
	}
	for _, one := range all {
		spread += (one[k] - mean) * (one[k] - mean) / float64(max(len(all)-1, 1))
	}
	return mean, math.Sqrt(spread)
}

// export writes rows as CSV files, and their description as tables.json.
func export(folder string, l *records.Linked) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	text, err := json.Marshal(l.Tables())
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "tables.json"), text, 0o600); err != nil {
		return err
	}
	return records.CSV{}.WriteTables(func(name string) (io.WriteCloser, error) {
		return os.Create(filepath.Join(folder, name))
	}, func(yield func(*records.Linked, error) bool) { yield(l, nil) })
}
