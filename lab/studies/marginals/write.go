package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed7ba64551/privgen/lab/internal/rivals"
	"github.com/seed7ba64551/privgen/lab/internal/runs"
	"github.com/seed7ba64551/privgen/records"
)

// writeReal writes the schema, the training rows and the held-out rows for other judges, such as
// lab/peers/judge. It does nothing without -write.
func (c config) writeReal(t table) error {
	if c.write == "" {
		return nil
	}
	if err := os.MkdirAll(c.write, 0o755); err != nil {
		return err
	}
	if err := rivals.SaveSchema(filepath.Join(c.write, t.name+".json"), t.rows.Schema()); err != nil {
		return err
	}
	if err := rivals.SaveRows(filepath.Join(c.write, t.name+"-train.csv"), t.rows); err != nil {
		return err
	}
	return rivals.SaveRows(filepath.Join(c.write, t.name+"-held.csv"), t.held)
}

// writeSynthetic writes the rows of one run. It does nothing without -write.
func (c config) writeSynthetic(key runs.Key, rows records.Data) error {
	frame, ok := rows.(*records.Frame)
	if c.write == "" || !ok {
		return nil
	}
	name := fmt.Sprintf("%s-%s-%g-%d.csv", key.Table, key.System, key.Epsilon, key.Seed)
	return rivals.SaveRows(filepath.Join(c.write, name), frame)
}
