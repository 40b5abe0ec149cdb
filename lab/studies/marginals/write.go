package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/seed7ba64551/privgen/examples/program"
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
	err := program.Save(filepath.Join(c.write, t.name+".json"), func(w io.Writer) error {
		return records.WriteSchema(w, t.rows.Schema())
	})
	if err != nil {
		return err
	}
	if err := saveRows(filepath.Join(c.write, t.name+"-train.csv"), t.rows); err != nil {
		return err
	}
	return saveRows(filepath.Join(c.write, t.name+"-held.csv"), t.held)
}

// writeSynthetic writes the rows of one run. It does nothing without -write.
func (c config) writeSynthetic(key resultKey, rows records.Data) error {
	frame, ok := rows.(*records.Frame)
	if c.write == "" || !ok {
		return nil
	}
	name := fmt.Sprintf("%s-%s-%g-%d.csv", key.table, key.system, key.epsilon, key.seed)
	return saveRows(filepath.Join(c.write, name), frame)
}

func saveRows(path string, rows *records.Frame) error {
	return program.Save(path, func(w io.Writer) error {
		return records.CSV{Header: true}.WriteFrame(w, rows)
	})
}
