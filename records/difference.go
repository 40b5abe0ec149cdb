package records

import (
	"fmt"
	"slices"
)

// Difference describes, as part of an error, how a given schema differs from the wanted schema. It
// names the first column that differs, or the two kinds of records. It returns "" for schemas that
// are [Schema.Equal].
func Difference(given, want Schema) string {
	if given.Equal(want) {
		return ""
	}
	if given.kind != MixedTable || want.kind != MixedTable {
		if given.String() == want.String() && !slices.Equal(given.classes, want.classes) {
			return fmt.Sprintf("the records have the classes %.200q: want %.200q", given.classes,
				want.classes)
		}
		return fmt.Sprintf("the records are %v: want %v", given, want)
	}
	a, b := given.Columns(), want.Columns()
	for i := range min(len(a), len(b)) {
		if !a[i].same(b[i]) {
			return fmt.Sprintf("column %d of the records is %.300v: want %.300v", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("the records are %v: want %v", given, want)
}
