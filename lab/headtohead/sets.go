package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed7ba64551/privgen/examples/program"
	"github.com/seed7ba64551/privgen/lab/internal/rivals"
	"github.com/seed7ba64551/privgen/records"
)

// A set is a public data set: a folder of the data directory.
type set struct {
	name        string
	train, test string   // files; without test a fifth of the rows is held out, with a fixed seed
	schema      string   // in the folder, or below lab
	header      bool     // the first line of the files names the columns
	skip        int      // a column of the files that is not in the schema, counted from 1
	drop        []string // columns that regressors are not given, since they give the target away
}

// sets lists the data sets. Their schemas hold public facts only.
var sets = []set{
	{name: "adult", train: "adult.data.gz", test: "adult.test.gz",
		schema: "studies/merf-table/adult.json"},
	{name: "king-county", train: "train.csv.gz", test: "test.csv.gz", schema: "schema.json",
		header: true},
	{name: "bike-sharing", train: "train.csv.gz", test: "test.csv.gz", schema: "schema.json",
		header: true, drop: []string{"casual", "registered"}}, // whose sum is the target
	{name: "credit-default", train: "train.csv.gz", test: "test.csv.gz", schema: "schema.json",
		header: true},
	{name: "census-income-kdd", train: "census-income.test.gz", skip: 25,
		schema: "studies/merf-table/census.json"},
	{name: "kdd99-intrusion", train: "kddcup.data_10_percent.gz",
		schema: "studies/merf-table/kdd99.json"},
	{name: "creditcard-fraud", train: "creditcard_pool.csv.gz", header: true,
		schema: "studies/merf-table/credit.json"},
	{name: "cervical", train: "risk_factors_cervical_cancer.csv.gz", header: true,
		schema: "studies/merf-table/cervical.json"},
	{name: "isolet", train: "isolet5.csv.gz", schema: "studies/merf-table/isolet.json"},
	{name: "diamonds", train: "diamonds.csv", header: true, schema: "headtohead/diamonds.json"},
}

// find returns the entry of a list with a name.
func find[T any](list []T, name string, of func(T) string) (T, error) {
	i := slices.IndexFunc(list, func(x T) bool { return of(x) == name })
	if i < 0 {
		var all []string
		for _, x := range list {
			all = append(all, of(x))
		}
		var none T
		return none, fmt.Errorf("%q: want one of %s", name, strings.Join(all, ", "))
	}
	return list[i], nil
}

// The files of a set in the folder of a run, which every system and every judge reads.
const (
	schemaFile = "schema.json"
	trainFile  = "train.csv"
	testFile   = "test.csv"
)

// prepare writes the set's schema, its training rows and its test rows to a folder.
func (s set) prepare(data, to string, rows int) error {
	folder := filepath.Join(data, s.name)
	path := filepath.Join(folder, s.schema)
	if _, err := os.Stat(path); err != nil {
		path = filepath.FromSlash(s.schema)
	}
	schema, err := records.OpenSchema(path)
	if err != nil {
		return err
	}
	csv := records.CSV{Comment: '|', Header: s.header, Limits: program.Trusted(),
		Names: rivals.Names(schema, s.skip)}
	train, err := csv.OpenFrame(filepath.Join(folder, s.train), schema)
	if err != nil {
		return err
	}
	test := train
	if s.test == "" {
		train, test = program.HoldOut(train)
	} else if test, err = csv.OpenFrame(filepath.Join(folder, s.test), schema); err != nil {
		return err
	}
	return errors.Join(rivals.SaveSchema(filepath.Join(to, schemaFile), schema),
		rivals.SaveRows(filepath.Join(to, trainFile), rivals.Some(train, rows)),
		rivals.SaveRows(filepath.Join(to, testFile), test))
}
