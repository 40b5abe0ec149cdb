package records

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// located adds the line, the column and the path of the field to an error about a schema's JSON. It
// returns other errors unchanged; they name the column of the schema.
func located(text []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at := syntax.Offset - 1
		if strings.HasPrefix(syntax.Error(), "unexpected end") {
			at = syntax.Offset
		}
		return malformed("%s: the schema is not valid JSON: %v", lineOf(text, at), err)
	case errors.As(err, &kind):
		w := jsonWalk{end: kind.Offset - 1}
		w.walk(text)
		field := ""
		if w.path != "" {
			field = ", field " + printable(w.path)
		}
		return fmt.Errorf("records: schema: %s%s: got %s, want %s: %w", lineOf(text, w.at), field,
			kind.Value, wantedJSON(kind.Type), err)
	}
	name, unknown := strings.CutPrefix(fmt.Sprint(err), "records: schema: json: unknown field ")
	if name, bad := strconv.Unquote(name); unknown && bad == nil {
		w := jsonWalk{unknown: true, key: name}
		if w.walk(text); w.found {
			return fmt.Errorf("records: schema: %s: unknown field %s", lineOf(text, w.at), printable(w.path))
		}
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

// jsonWalk looks for a value in the JSON text of a schema, by the place where it ends or by its
// unknown key.
type jsonWalk struct {
	end     int64 // a place in the value; used unless unknown is set
	unknown bool  // look for the key, in an object whose type lacks it
	key     string

	found bool
	path  string // such as columns[2].lo
	at    int64  // where the value, or its key, begins
	dec   *json.Decoder
}

func (w *jsonWalk) walk(text []byte) {
	w.dec = json.NewDecoder(bytes.NewReader(text))
	w.value(text, "", reflect.TypeFor[schemaJSON]())
}

// value reads one value of a type, which is nil if it does not matter. After the end of the text it
// finds nothing more.
func (w *jsonWalk) value(text []byte, path string, t reflect.Type) {
	start := w.dec.InputOffset()
	token, err := w.dec.Token()
	if err != nil || w.found {
		return
	}
	if !w.unknown && w.dec.InputOffset() >= w.end {
		w.hit(text, path, start)
		return
	}
	switch token {
	case json.Delim('['):
		var of reflect.Type
		if t != nil && t.Kind() == reflect.Slice {
			of = t.Elem()
		}
		for i := 0; w.dec.More() && !w.found; i++ {
			w.value(text, fmt.Sprintf("%s[%d]", path, i), of)
		}
	case json.Delim('{'):
		for w.dec.More() && !w.found {
			w.member(text, path, t)
		}
	default:
		return
	}
	if !w.found {
		w.dec.Token() // the closing bracket
	}
}

func (w *jsonWalk) member(text []byte, path string, t reflect.Type) {
	start := w.dec.InputOffset()
	key, err := w.dec.Token()
	if err != nil {
		return
	}
	name := fmt.Sprint(key)
	inner := strings.TrimPrefix(path+"."+name, ".")
	of, unknown := fieldOf(t, name)
	if w.unknown && unknown && w.key == name {
		w.hit(text, inner, start)
		return
	}
	w.value(text, inner, of)
}

// fieldOf returns the type of the field of a struct with the given name in JSON, and whether the
// type is a struct that lacks this field. It returns nil if the type does not matter.
func fieldOf(t reflect.Type, name string) (of reflect.Type, unknown bool) {
	if t == nil || t.Kind() != reflect.Struct {
		return nil, false
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); strings.EqualFold(tag, name) {
			return f.Type, false
		}
	}
	return nil, true
}

// hit records a value that begins after the separators at start.
func (w *jsonWalk) hit(text []byte, path string, start int64) {
	for start < int64(len(text)) && strings.IndexByte(" \t\r\n,:", text[start]) >= 0 {
		start++
	}
	w.found, w.path, w.at = true, path, start
}
