package evaluate_test

import (
	"fmt"

	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/evaluate"
)

func ExampleQueries() {
	schema := records.Sets(3, 3)
	real, err := records.FromItems(schema, [][]uint32{{0, 1}, {1}, {2}, {0, 1, 2}})
	if err != nil {
		fmt.Println(err)
		return
	}
	synthetic, err := records.FromItems(schema, [][]uint32{{0, 1}, {1, 2}, {2}, {0}})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := evaluate.Queries{Count: 100, Classes: 1}.Compare(real, synthetic)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Queries, "queries of at most", result.Classes[0].MaxLength, "items")
	// Output: 100 queries of at most 3 items
}
