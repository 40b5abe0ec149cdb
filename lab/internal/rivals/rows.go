package rivals

import (
	"io"
	"math/rand/v2"
	"slices"

	"github.com/seed7ba64551/privgen/examples/program"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/tabular"
)

// Some returns n rows drawn at random with a public seed. It returns all rows if n is 0 or larger
// than the number of rows.
func Some(all *records.Frame, n int) *records.Frame {
	if n == 0 || n >= all.Len() {
		return all
	}
	rng := rand.New(rand.NewPCG(2, 0x73706c6974))
	var rows []int32
	for _, i := range rng.Perm(all.Len())[:n] {
		rows = append(rows, int32(i))
	}
	return all.Take(rows)
}

// SaveSchema writes a schema for another program.
func SaveSchema(path string, s records.Schema) error {
	return program.Save(path, func(w io.Writer) error { return records.WriteSchema(w, s) })
}

// SaveRows writes rows for another program.
func SaveRows(path string, rows *records.Frame) error {
	return program.Save(path, func(w io.Writer) error {
		return records.CSV{Header: true}.WriteFrame(w, rows)
	})
}

// Rows reads rows that SaveRows or another program wrote.
func Rows(path string, s records.Schema) (*records.Frame, error) {
	return records.CSV{Header: true, Limits: program.Trusted()}.OpenFrame(path, s)
}

// Names returns the names of the columns of a file with one column, counted from 1, that is not in
// the schema and gets the name "". It returns nil if skip is 0: no column is.
func Names(s records.Schema, skip int) (list []string) {
	if skip == 0 {
		return nil
	}
	for _, column := range s.Columns() {
		list = append(list, column.Name())
	}
	return slices.Insert(list, min(skip-1, len(list)), "")
}

// Variation returns the mean total variation distance of groups of columns, at most so many groups.
func Variation(real, drawn *tabular.Table, way, most, bins int) (mean float64, err error) {
	groups, err := drawn.Groups(way, most, 1)
	if err != nil {
		return 0, err
	}
	variations, err := tabular.Variation(real, drawn, groups, bins)
	for _, v := range variations {
		mean += v / float64(len(variations))
	}
	return mean, err
}
