package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"

	"github.com/seed7ba64551/privgen/examples/program"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate"
)

func (c config) path(name string) string { return filepath.Join(c.out, name) }

// report compares synthetic with real records. The report is not private and says so.
func (c config) report(synthetic records.Data, train, test *records.Frame) error {
	if c.quick || test == nil {
		return nil
	}
	suite := evaluate.Suite{Most: c.most, Seed: c.seed}
	r, err := evaluate.Review{Most: c.most, Seed: c.seed, Suite: suite}.Report(synthetic, train, test)
	if err != nil {
		return err
	}
	fmt.Println()
	fmt.Println(r)
	return program.Save(c.path("report.json"), func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "\t")
		return e.Encode(r)
	})
}
