package records_test

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/seed7ba64551/privgen/internal/demo"
	"github.com/seed7ba64551/privgen/records"
)

// All rows of a person become one record, so a guarantee for records protects persons.
func ExampleVisits() {
	rows := "who,where\nann,3\nbob,1\nann,4\nann,3\n"
	people, err := records.Visits{Header: true, User: "who",
		Item: "where"}.Read(strings.NewReader(rows), records.Sets(10, 5))
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range people.Len() {
		fmt.Println(people.Items(i))
	}
	fmt.Println("one", records.UnitOf(people), "a record")
	// Output:
	// [3 4]
	// [1]
	// one user a record
}

// Sets larger than memory are written block by block and read from the file; OpenSets maps such a
// file.
func ExampleWriteSetStream() {
	source := demo.SetSource{Records: 10000, Universe: 300, MeanItems: 5, MaxItems: 50,
		Skew: 1, Seed: 1}
	var file bytes.Buffer
	parts := records.Parts(source.Stream(1000))
	if err := records.WriteSetStream(&file, source.Schema(), parts); err != nil {
		fmt.Println(err)
		return
	}
	sets, err := records.ReadSets(bytes.NewReader(file.Bytes()), int64(file.Len()))
	fmt.Println(sets.Len(), "records,", sets.Schema(), err)
	// Output: 10000 records, sets of at most 50 of 300 items <nil>
}
