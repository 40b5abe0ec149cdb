package main

import (
	"errors"
	"io"
	"math/rand/v2"
	"slices"

	"github.com/seed7ba64551/privgen/examples/program"
	"github.com/seed7ba64551/privgen/records"
)

// load returns the private records and the records held out for the report.
func (c config) load(s records.Schema) (train, test *records.Frame, err error) {
	if c.trainFile == "" {
		train, test = madeUp(s, 20000, 1), madeUp(s, 8000, 2)
	} else if train, test, err = c.read(s); err != nil {
		return nil, nil, err
	}
	if c.split {
		err = c.writeSplit(train, test)
	}
	return train, test, err
}

func (c config) read(s records.Schema) (train, test *records.Frame, err error) {
	csv := records.CSV{Header: c.header, Limits: program.Trusted()}
	if csv.Names, err = c.names(s); err != nil {
		return nil, nil, err
	}
	for _, r := range c.comment {
		csv.Comment = r
	}
	if train, err = csv.OpenFrame(c.trainFile, s); err != nil {
		return nil, nil, err
	}
	switch {
	case c.testFile != "":
		if test, err = csv.OpenFrame(c.testFile, s); err != nil {
			return nil, nil, err
		}
	case c.holdout > 0:
		train, test = holdOut(train, c.holdout)
	}
	return train, test, err
}

// names returns the names of the files' columns, with "" for a column that is not in the schema. It
// returns nil if no column is to be skipped.
func (c config) names(s records.Schema) ([]string, error) {
	skipped, err := integers(c.skip)
	if err != nil || skipped == nil {
		return nil, err
	}
	var names []string
	for _, column := range s.Columns() {
		for slices.Contains(skipped, len(names)+1) {
			names = append(names, "")
		}
		names = append(names, column.Name())
	}
	return names, nil
}

// holdOut splits the records at random: each row is held out with probability part. The seed is
// public.
func holdOut(all *records.Frame, part float64) (train, test *records.Frame) {
	rng := rand.New(rand.NewPCG(1, 0x73706c6974))
	var kept, held []int32
	for i := range all.Len() {
		if rng.Float64() < part {
			held = append(held, int32(i))
		} else {
			kept = append(kept, int32(i))
		}
	}
	return all.Take(kept), all.Take(held)
}

func (c config) writeSplit(train, test *records.Frame) error {
	err := writeCSV(c.path("train.csv"), train)
	if test == nil {
		return err
	}
	return errors.Join(err, writeCSV(c.path("test.csv"), test))
}

func writeCSV(path string, d records.Data) error {
	return program.Save(path, func(w io.Writer) error {
		return records.CSV{Header: true}.WriteFrame(w, d.(*records.Frame))
	})
}
