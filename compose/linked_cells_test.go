package compose

import (
	"fmt"
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

// TestRootsTogetherHaveFewCells: rows are drawn with the columns of the rows above them. A file of
// 42 kB with 100 columns of the root and 4,096 rows of a root row took 1.2 GB for 100 root rows.
func TestRootsTogetherHaveFewCells(t *testing.T) {
	for _, c := range []struct{ columns, most, least, largest int }{
		{100, 4096, 4, 5},         // two million cells of 100 known columns, a number and their own
		{1000, 4096, 1, 1},        // one root row has more
		{2, 20, 1 << 14, 1 << 14}, // small ones are drawn as before
	} {
		var columns []records.Column
		for i := range c.columns {
			columns = append(columns, records.Flag(fmt.Sprint("f", i), "n", "y"))
		}
		of := func(columns ...records.Column) records.Schema {
			s, err := records.NewSchema(columns...)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		tables := records.Tables{Name: "a", Key: "key", Schema: of(columns...),
			Children: []records.Tables{{Name: "b", Parents: []string{"key"}, Most: c.most,
				Schema: of(records.Flag("own", "n", "y"))}}}
		if err := tables.Validate(); err != nil {
			t.Fatal(err)
		}
		if n := rootsTogether(tables); n < c.least || n > c.largest {
			t.Errorf("%d columns, up to %d rows of a row: %d root rows together, want %d to %d", c.columns,
				c.most, n, c.least, c.largest)
		}
	}
}
