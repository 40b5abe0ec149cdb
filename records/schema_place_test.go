package records_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/records"
)

// TestSchemaErrorsHaveAPlace checks that an error about the JSON of a schema file states the line,
// the column and the field.
func TestSchemaErrorsHaveAPlace(t *testing.T) {
	for _, c := range []struct {
		text, words string
		malformed   bool
	}{
		{"{\"kind\": \"table\", \"columns\": [\n\t{\"name\": \"age\" \"type\": 1}]}",
			"line 2, column 17: the schema is not valid JSON", true},
		{"{\"kind\": \"table\", \"columns\": [\n\t{\"name\": ", "line 2, column 11", true},
		{"", "line 1, column 1", true},
		{"{\"kind\":\n 7}", "line 2, column 2, field kind: got number, want a text", false},
		{"{\"kind\": \"table\", \"columns\": [\n {\"name\": \"a\"},\n {\"type\": \"x\",\n  \"buckets\": \"9\"}]}",
			"line 4, column 14, field columns[1].buckets: got string, want a whole number", false},
		{"{\"kind\": \"table\", \"columns\": {}}",
			"line 1, column 30, field columns: got object, want a list", false},
		{"{\"kind\": \"table\", \"columns\": [{\"levels\": [\"a\", 3]}]}",
			"line 1, column 48, field columns[0].levels[1]: got number, want a text", false},
		{"{\"kind\": \"table\", \"columns\": [{\"aliases\": {\"typ\": \"a\"}},\n\n{\"typ\": \"x\"}]}",
			"line 3, column 2: unknown field columns[1].typ", false},
		{"[]", "records: schema: line 1, column 1: got array, want an object", false},
		{"{\"kind\": \"table\", \"columns\": [{\"name\": \"a\", \"buckets\": 3}],\n \"buckets\": 3}",
			"line 2, column 2: unknown field buckets", false},
		{"{\"kind\": \"table\", \"columns\": [\n{\"columns\": 3}]}",
			"line 2, column 2: unknown field columns[0].columns", false},
		{"{\"kind\": \"table\",\n \"\": 1}", "line 2, column 2: unknown field \"\"", false},
		{"{\"kind\": \"table\",\n \"x\\n\\u001b\": 1}",
			`line 2, column 2: unknown field "x\n\x1b"`, false},
	} {
		_, err := records.ReadSchema(strings.NewReader(c.text))
		if err == nil || !strings.Contains(err.Error(), c.words) ||
			errors.Is(err, records.ErrFormat) != c.malformed {
			t.Errorf("%s\ngot error  %v\nwant %s", c.text, err, c.words)
		}
	}
}
