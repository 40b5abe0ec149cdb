package records

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// WriteSchema writes a schema as indented JSON, which people can read, review
// and edit: names, kinds, bounds and levels.
//
// Errors: *[param.Error] for a schema that is not valid, and those of the writer.
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
	text, err := json.MarshalIndent(s, "", "\t")
	return append(text, '\n'), err
}

// ReadSchema reads a schema that WriteSchema, or a person, wrote.
//
// Errors: [ErrFormat] for what is no JSON, and what is wrong
// with the schema.
func ReadSchema(r io.Reader) (Schema, error) {
	var s Schema
	text, err := io.ReadAll(r)
	if err != nil {
		return s, fmt.Errorf("records: reading: %w", err)
	}
	if !json.Valid(text) {
		return s, malformed("the schema is no JSON")
	}
	err = json.Unmarshal(text, &s)
	return s, err
}

// OpenSchema is [ReadSchema] on a file.
func OpenSchema(path string) (Schema, error) { return withFile(path, ReadSchema) }

// SaveSchema is [WriteSchema] to a file.
func SaveSchema(path string, s Schema) error {
	text, err := schemaText(s)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, text, 0o666); err != nil {
		return fmt.Errorf("records: %w", err)
	}
	return nil
}
