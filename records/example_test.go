package records_test

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

// The bounds are declared, and whatever is outside them is clamped as it is read.
func ExampleFromRows() {
	heights := records.Interval(2, 0, 250) // two lengths in centimetres
	table, err := records.FromRows(heights, [][]float32{{181, 76}, {2000, -1}})
	if err != nil {
		fmt.Println(err)
		return
	}
	var batch device.Batch
	table.Gather([]int32{1, 0}, &batch)
	fmt.Println(batch.Dense.Row(0), batch.Dense.Row(1))
	// Output: [250 0] [181 76]
}

// The owner of the data may have malformed records refused instead.
func ExampleCheck() {
	table, err := records.FromFlat(records.Binary(3), []float32{0, 1, 0, 1, 7, 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(records.Check(table))
	// Output: records: row 1, column 1: outside the bounds
}

func ExampleReadTransactions() {
	stops := records.Sets(342, 40) // 342 stations, of which a passenger counts 40
	visits, err := records.ReadTransactions(strings.NewReader("17 3 17\n\n5\n"), stops)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range visits.Len() {
		fmt.Println(visits.Items(i))
	}
	// Output:
	// [3 17]
	// []
	// [5]
}

func ExampleReadIDX() {
	var images, labels bytes.Buffer
	schema := records.Image(1, 2).WithLabels("dark", "light")
	table, err := records.FromBytes(schema, []byte{0, 10, 255, 200}, 0, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := records.WriteIDX(&images, &labels, table); err != nil {
		fmt.Println(err)
		return
	}
	back, err := records.ReadIDX(&images, &labels, schema)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(back.Len(), back.Schema(), schema.ClassName(back.Label(1)))
	// Output: 2 1×2 grey images, 2 classes light
}

func ExampleBinarize() {
	grey, err := records.FromFlat(records.Image(1, 4), []float32{0, 0.2, 0.6, 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(records.Binarize(grey, 0.5).Row(nil, 0))
	// Output: [0 0 1 1]
}
