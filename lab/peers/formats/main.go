// Command formats writes files in every format of the library, and reads files back. The Python
// program check.py compares the values with other programs.
//
//	go run . -write FOLDER     writes a table, images and a network in every format
//	go run . -read FILE        prints the records of a Parquet or Arrow file as lines of JSON;
//	                           with -kinds of the table with all kinds of columns
//	go run . -pictures PATH    prints the images of a folder or of a CIFAR file
//	go run . -weights FILE     prints the parameters of a safetensors or .npz file
//	go run . -networks FOLDER  writes networks as ONNX files, with their inputs and outputs
//	go run . -large FILE -rows N        writes a large Parquet file
//	go run . -large FILE -scan WAY      reads it: "stream", "one group", "groups", "two columns"
//	go run . -large FILE -fit -rows N   reads N rows of it and fits MERF on them, in pieces
package main

import (
	"errors"
	"flag"
	"fmt"
	"iter"
	"log"
	"math"
	"path/filepath"
	"strings"

	"github.com/seed7ba64551/privgen/connect/arrow"
	"github.com/seed7ba64551/privgen/connect/parquet"
	"github.com/seed7ba64551/privgen/records"
)

func main() {
	log.SetFlags(0)
	folder, file := flag.String("write", "", "folder"), flag.String("read", "", "Parquet file")
	kinds := flag.Bool("kinds", false, "read the table of all kinds of columns")
	pictures := flag.String("pictures", "", "folder or CIFAR file")
	net := flag.String("weights", "", "safetensors or .npz file")
	nets := flag.String("networks", "", "folder")
	large := flag.String("large", "", "Parquet file")
	rows := flag.Int("rows", 10_000_000, "number of rows to write or to fit")
	scan := flag.String("scan", "", "how to read the large file")
	fit := flag.Bool("fit", false, "fit MERF on the large file")
	flag.Parse()
	schema, err := records.NewSchema(
		records.Numeric("x", -math.MaxFloat64/2, math.MaxFloat64/2).WithMissing(),
		records.Integer("n", -1<<53, 1<<53).WithMissing(),
		records.Categorical("town", "Köln", "a,\"b\"", "<&>").WithMissing(),
		records.Flag("well", "no", "yes"),
	)
	if err != nil {
		log.Fatal(err)
	}
	if *kinds {
		if schema, err = kindsSchema(); err != nil {
			log.Fatal(err)
		}
	}
	switch {
	case *scan != "":
		err = scanLarge(*large, *scan)
	case *fit:
		err = fitLarge(*large, *rows)
	case *large != "":
		err = writeLarge(*large, *rows)
	case *nets != "":
		err = writeNetworks(*nets)
	case *pictures != "":
		err = showPictures(*pictures)
	case *net != "":
		err = showWeights(*net)
	case *file != "":
		err = show(*file, schema)
	default:
		err = errors.Join(write(*folder, schema), writeKinds(*folder), writeWeights(*folder),
			writePictures(*folder))
	}
	if err != nil {
		log.Fatal(err)
	}
}

func write(folder string, s records.Schema) error {
	b, err := records.NewFrameBuilder(s)
	if err != nil {
		return err
	}
	for i, x := range []any{0, -1.5, nil, 1e300, 5e-324, 0.1, math.MaxFloat64 / 2} {
		n := any(i * 1e15)
		if i%3 == 1 {
			n = nil
		}
		town := any([]string{"Köln", "a,\"b\"", "<&>"}[i%3])
		if i == 5 {
			town = nil
		}
		if err := b.Append(x, n, town, i%2 == 0); err != nil {
			return err
		}
	}
	f := b.Frame()
	if err := writeFiles(folder, "table", f); err != nil {
		return err
	}
	return parquet.WriteDataset(filepath.Join(folder, "dataset"), parquet.Dataset{
		Name: "Made: \"up\"", ShardRows: 3, Tags: []string{"synthetic"}, Text: "Seven records."}, s,
		halves(f))
}

// halves returns a table in two parts.
func halves(f *records.Frame) iter.Seq2[records.Data, error] {
	return func(yield func(records.Data, error) bool) {
		_ = yield(f.Slice(0, f.Len()/2), nil) && yield(f.Slice(f.Len()/2, f.Len()), nil)
	}
}

func show(file string, s records.Schema) error {
	open := parquet.OpenFrame
	if strings.HasPrefix(filepath.Ext(file), ".arrow") {
		open = arrow.OpenFrame
	}
	f, err := open(file, s)
	if err != nil {
		return err
	}
	for i := range f.Len() {
		fmt.Println(string(f.AppendJSON(nil, i)))
	}
	return nil
}
