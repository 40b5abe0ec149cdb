package records

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// WriteSchema writes a schema as indented JSON for people to review and edit: names,
// kinds, bounds and levels.
//
// Errors: *[param.Error] for a schema that is not valid; errors of the writer.
func WriteSchema(w io.Writer, s Schema) error {
	text, err := schemaText(s)
	if err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return fmt.Errorf("records: writing: %w", err)
	}
	return nil
}

func schemaText(s Schema) ([]byte, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "\t")
	err := e.Encode(s)
	return text.Bytes(), err
}

// ReadSchema reads a schema in the format of WriteSchema.
//
// Errors: [ErrFormat] for a text that is not JSON; *[LimitError]; and the mistakes in the schema.
// Errors about JSON state the line and the column. Errors about a field also state its path.
func ReadSchema(r io.Reader, limits ...Limits) (Schema, error) {
	l := lastOf(limits)
	if err := l.Validate(); err != nil {
		return Schema{}, err
	}
	text, err := io.ReadAll(io.LimitReader(r, int64(l.documentBytes())+1))
	if err != nil {
		return Schema{}, fmt.Errorf("records: reading: %w", err)
	}
	if len(text) > l.documentBytes() {
		return Schema{}, &LimitError{"DocumentBytes", "the schema is too long"}
	}
	if err := l.checkJSON(text); err != nil {
		return Schema{}, err
	}
	s, err := parseSchema(text)
	if err != nil {
		return Schema{}, located(text, err)
	}
	return s, nil
}

// OpenSchema is [ReadSchema] on a file.
//
// Errors: see [ReadSchema]; also errors of the file system.
func OpenSchema(path string, limits ...Limits) (Schema, error) {
	return withFile(path, func(r io.Reader) (Schema, error) { return ReadSchema(r, limits...) })
}

// checkJSON returns an error if a JSON text is nested too deeply or has too many objects. A column
// of a schema takes one object, and another object for its aliases. It reads the text once and
// stores nothing.
func (l Limits) checkJSON(text []byte) error {
	depth, objects, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > l.depth() {
				return &LimitError{"Depth", "the schema is nested too deeply"}
			}
			if c == '{' {
				objects++
			}
			if int64(objects) > 2*int64(l.fields(0))+1 {
				return &LimitError{"Fields", "the schema has too many columns"}
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil
}
