package records_test

import (
	"fmt"
	"strings"

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
