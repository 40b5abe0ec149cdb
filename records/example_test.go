package records_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

// The bounds are declared, and values outside them are clamped when they are read.
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

// The owner of the data can find malformed records beforehand.
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
	stops := records.Sets(342, 40) // 342 stations; at most 40 of them count for each passenger
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

// A table has columns of different kinds. Its rows are encoded as they are read:
// numbers between their public bounds, levels one-hot.
func ExampleNewSchema() {
	schema, err := records.NewSchema(
		records.Integer("age", 17, 90),
		records.Categorical("work", "private", "self", "other").WithOther("other"),
		records.Label("income", "<=50K", ">50K"))
	if err != nil {
		fmt.Println(err)
		return
	}
	people, err := records.FromValues(schema, []any{17, "private", "<=50K"},
		[]any{120, "none of it", ">50K"})
	if err != nil {
		fmt.Println(err)
		return
	}
	var batch device.Batch
	people.Range(0, people.Len(), &batch)
	fmt.Println(schema)
	fmt.Println(batch.Dense.Row(0), batch.Labels[0])
	fmt.Println(batch.Dense.Row(1), batch.Labels[1])
	// Output:
	// tables of 3 columns (1 integer, 1 categorical), 2 classes
	// [0 1 0 0] 0
	// [1 0 0 1] 1
}

// Columns are found by name in any order, with or without blanks and quotes, and a level may have
// several names in a file.
func ExampleCSV_ReadFrame() {
	schema, err := records.NewSchema(
		records.Numeric("hours", 0, 100).WithMissing(),
		records.Label("income", "<=50K", ">50K").WithAlias("<=50K", "<=50K.").WithAlias(">50K", ">50K."))
	if err != nil {
		fmt.Println(err)
		return
	}
	file := "income, country, hours\n>50K., \"Peru\", 40\n<=50K., ?, ?\n"
	table, err := records.CSV{Header: true}.ReadFrame(strings.NewReader(file), schema)
	if err != nil {
		fmt.Println(err)
		return
	}
	var out bytes.Buffer
	if err := (records.CSV{Header: true, Missing: []string{"?"}}).WriteFrame(&out, table); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(out.String())
	// Output:
	// hours,income
	// 40,>50K
	// ?,<=50K
}

// Any numbers that a network computes become valid rows of the table.
func ExampleDecodeFlat() {
	schema, err := records.NewSchema(records.Integer("age", 20, 60),
		records.Categorical("work", "private", "self", "none"))
	if err != nil {
		fmt.Println(err)
		return
	}
	nan := float32(math.NaN())
	table, err := records.DecodeFlat(schema, []float32{0.26, 0.1, 0.7, 0.2, 7, nan, nan, 0.01})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range table.Len() {
		fmt.Println(table.Value(i, 0), table.Value(i, 1), records.Check(table))
	}
	// Output:
	// 30 self <nil>
	// 60 none <nil>
}

// A table of visits: identifiers are generated anew, moments have a precision of one second, and no
// generated patient leaves before arriving.
func ExampleSchema_WithConstraints() {
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	to := from.AddDate(1, 0, 0)
	schema, err := records.NewSchema(
		records.Identifier("visit", records.Pattern("V-####")),
		records.Datetime("arrived", from, to, time.Second).WithParts(records.WeekdayPart),
		records.Datetime("left", from, to, time.Second).WithMissing(),
		records.Duration("treated", 0, 12*time.Hour, time.Minute),
		records.Hashed("drug", 500, "aspirin"),
		records.Categorical("ward", "A", "B", "C"),
		records.Categorical("floor", "1", "2"))
	if err != nil {
		fmt.Println(err)
		return
	}
	schema = schema.WithConstraints(
		records.Ascending("arrived", "left"),
		records.Determines([]string{"ward", "floor"}, []string{"A", "1"}))
	for _, c := range schema.Columns() {
		fmt.Println(c)
	}
	fmt.Println(schema.Constraints())
	// Output:
	// visit: identifier pattern:V-####
	// arrived: datetime [2026-01-01T00:00:00Z, 2027-01-01T00:00:00Z] by 1s, weekday
	// left: datetime [2026-01-01T00:00:00Z, 2027-01-01T00:00:00Z] by 1s, may be missing
	// treated: duration [0s, 12h0m0s] by 1m0s
	// drug: hashed into 500 buckets
	// ward: categorical ["A" "B" "C"]
	// floor: categorical ["1" "2"]
	// [arrived <= left ward determines floor]
}

// A customer may have many orders: at most two of each customer are read, and a guarantee protects
// the customer.
func ExampleGroupBy() {
	orders, err := records.FromFlat(records.Interval(1, 0, 100), []float32{20, 30, 5, 80, 90})
	if err != nil {
		panic(err)
	}
	customers, err := records.GroupBy(orders, []string{"ann", "ann", "bob", "ann", "ann"}, 2)
	if err != nil {
		panic(err)
	}
	fmt.Println(customers.Schema())
	fmt.Println(customers.Len(), "of unit", customers.Unit(), "with", customers.Rows().Len(), "rows")
	// Output:
	// vectors of 1 in [0, 100], at most 2 per person
	// 2 of unit user with 3 rows
}
