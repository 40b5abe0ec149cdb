package sgd

import (
	"reflect"
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

// TestHeldRecordsCompare: what pointers to records hold can be compared, and nil pointers hold
// nothing.
func TestHeldRecordsCompare(t *testing.T) {
	for _, d := range []records.Data{(*records.Table)(nil), (*records.Frame)(nil),
		(*records.SetTable)(nil), (*records.Persons)(nil), (*records.Linked)(nil)} {
		if held(d) != nil {
			t.Errorf("a nil %T holds %v", d, held(d))
		}
		full := reflect.New(reflect.TypeOf(d).Elem()).Interface().(records.Data)
		if held(full) == nil || held(full) != held(full) {
			t.Errorf("an empty %T holds %v", d, held(full))
		}
	}
}
