package records_test

import (
	"bytes"
	"iter"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

// TestWrittenFramesNameTheDifference checks that the error about a part of another schema names the
// column that differs, also if the schemas differ only in bounds, which their texts omit.
func TestWrittenFramesNameTheDifference(t *testing.T) {
	given := must(records.NewSchema(records.Integer("age", 17, 90)))(t)
	want := must(records.NewSchema(records.Integer("age", 17, 99)))(t)
	part := must(records.CSV{Header: true}.ReadFrame(strings.NewReader("age\n40\n"), given))(t)
	parts := iter.Seq2[records.Data, error](func(yield func(records.Data, error) bool) {
		yield(part, nil)
	})
	err := records.CSV{}.WriteFrames(&bytes.Buffer{}, want, parts)
	const text = "age: integer [17, 90]: want age: integer [17, 99]"
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("error %v, want the column and both bounds", err)
	}
}
