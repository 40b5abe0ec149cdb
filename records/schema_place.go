package records

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/seed7ba64551/privgen/internal/param"
)

// located adds the line, the column and the path of the field to an error about a schema's JSON. It
// returns other errors unchanged; they name the column of the schema.
func located(text []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	var key *param.KeyError
	switch {
	case errors.As(err, &key):
		what := "unknown"
		if key.Duplicate {
			what = "duplicate"
		}
		return fmt.Errorf("records: schema: %s: %s field %s", lineOf(text, key.At), what,
			printable(key.Path))
	case errors.As(err, &syntax):
		at := syntax.Offset - 1
		if strings.HasPrefix(syntax.Error(), "unexpected end") {
			at = syntax.Offset
		}
		return malformed("%s: the schema is not valid JSON: %v", lineOf(text, at), err)
	case errors.As(err, &kind):
		path, at := param.Locate(text, kind.Offset-1)
		field := ""
		if path != "" {
			field = ", field " + printable(path)
		}
		return fmt.Errorf("records: schema: %s%s: got %s, want %s: %w", lineOf(text, at), field,
			kind.Value, wantedJSON(kind.Type), err)
	}
	return err
}

// lineOf returns the line and the column of a byte of a text. Both are counted from 1, and columns
// are counted in bytes.
func lineOf(text []byte, at int64) string {
	before := text[:min(max(at, 0), int64(len(text)))]
	return fmt.Sprintf("line %d, column %d", bytes.Count(before, []byte("\n"))+1,
		len(before)-bytes.LastIndexByte(before, '\n'))
}

// printable returns a path, in quotation marks if it has characters that are not printed as they
// are, or ends with an empty key.
func printable(path string) string {
	if quoted := strconv.Quote(path); path == "" || strings.HasSuffix(path, ".") ||
		len(quoted) != len(path)+2 {
		return quoted
	}
	return path
}

// wantedJSON describes the JSON values of a Go type.
func wantedJSON(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a text"
	case reflect.Int:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	}
	return "an object"
}
