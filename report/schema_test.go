package report_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/report"
)

var updateSchema = flag.Bool("update-schema", false, "write schema.json")

// object is a JSON object.
type object = map[string]any

// schemaOf returns the JSON Schema of a Go type.
func schemaOf(t reflect.Type, defs object) object {
	switch t {
	case reflect.TypeFor[report.Number]():
		return object{"anyOf": []any{object{"type": "number"}, object{"type": "null"},
			object{"enum": []any{"+Inf", "-Inf"}}}}
	case reflect.TypeFor[ledger.Guarantee]():
		return object{"type": "object", "description": "as package accountant writes it",
			"required": []any{"epsilon", "delta", "relation", "unit", "entries", "not_covered"}}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem(), defs)
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int:
		return object{"type": "integer"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return object{"type": "string", "contentEncoding": "base64", "contentMediaType": "image/png"}
		}
		return object{"type": "array", "items": schemaOf(t.Elem(), defs)}
	case reflect.Struct:
		name := t.Name()
		if t.PkgPath() != reflect.TypeFor[report.Report]().PkgPath() {
			name = "Fidelity" + name
		}
		if _, known := defs[name]; !known {
			defs[name] = true // for types that hold themselves
			defs[name] = structSchema(t, defs)
		}
		return object{"$ref": "#/$defs/" + name}
	}
	panic(fmt.Sprintf("a type without a schema: %v", t))
}

func structSchema(t reflect.Type, defs object) object {
	properties, required := object{}, []any{}
	var add func(reflect.Type)
	add = func(t reflect.Type) {
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Anonymous {
				add(f.Type)
				continue
			}
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			properties[name] = schemaOf(f.Type, defs)
			if options != "omitempty" {
				required = append(required, name)
			}
		}
	}
	add(t)
	return object{"type": "object", "properties": properties, "required": required,
		"additionalProperties": false}
}

func schemaText(t *testing.T) []byte {
	t.Helper()
	defs := object{}
	root := schemaOf(reflect.TypeFor[report.Report](), defs)
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "A report of package report, version 1"
	root["$defs"] = defs
	text, err := json.MarshalIndent(root, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}

// TestSchemaIsThatOfTheTypes compares the committed schema with the schema of the types. After an
// intended change of the types: go test ./report -run TestSchemaIsThatOfTheTypes -update-schema
func TestSchemaIsThatOfTheTypes(t *testing.T) {
	want := schemaText(t)
	if *updateSchema {
		if err := os.WriteFile("schema.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(report.JSONSchema()) != string(want) {
		t.Error("schema.json is not the schema of the types: run with -update-schema to write it")
	}
}

// validate checks a value against a schema and returns the mistakes. It knows only the keywords of
// JSON Schema that schema.json uses.
func validate(value any, schema, defs object, path string) []string {
	if ref, ok := schema["$ref"].(string); ok {
		return validate(value, defs[strings.TrimPrefix(ref, "#/$defs/")].(object), defs, path)
	}
	if list, ok := schema["anyOf"].([]any); ok {
		for _, s := range list {
			if len(validate(value, s.(object), defs, path)) == 0 {
				return nil
			}
		}
		return []string{path + ": fits none of the alternatives"}
	}
	if list, ok := schema["enum"].([]any); ok && !slices.Contains(list, value) {
		return []string{fmt.Sprintf("%s: %v is not one of %v", path, value, list)}
	}
	switch kind, _ := schema["type"].(string); kind {
	case "object":
		return validateObject(value, schema, defs, path)
	case "array":
		list, ok := value.([]any)
		if !ok {
			return []string{path + ": no array"}
		}
		var wrong []string
		for i, v := range list {
			wrong = append(wrong, validate(v, schema["items"].(object), defs,
				fmt.Sprintf("%s[%d]", path, i))...)
		}
		return wrong
	case "integer":
		if v, ok := value.(float64); !ok || v != float64(int(v)) {
			return []string{path + ": not a whole number"}
		}
	case "", "string", "boolean", "number", "null":
		is := map[string]bool{"": true, "null": value == nil}
		_, is["string"] = value.(string)
		_, is["boolean"] = value.(bool)
		_, is["number"] = value.(float64)
		if !is[kind] {
			return []string{fmt.Sprintf("%s: %v is not of type %s", path, value, kind)}
		}
	}
	return nil
}

func validateObject(value any, schema, defs object, path string) (wrong []string) {
	fields, ok := value.(object)
	if !ok {
		return []string{path + ": no object"}
	}
	for _, name := range schema["required"].([]any) {
		if _, there := fields[name.(string)]; !there {
			wrong = append(wrong, path+"."+name.(string)+" is missing")
		}
	}
	properties, _ := schema["properties"].(object)
	for name, v := range fields {
		s, known := properties[name].(object)
		if known {
			wrong = append(wrong, validate(v, s, defs, path+"."+name)...)
		} else if schema["additionalProperties"] == false {
			wrong = append(wrong, path+"."+name+" is not in the schema")
		}
	}
	return wrong
}

// checkSchema fails the test unless a report's JSON form fits the committed schema.
func checkSchema(t *testing.T, r *report.Report) object {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var schema, value object
	if err := json.Unmarshal(report.JSONSchema(), &schema); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	for _, w := range validate(value, schema, schema["$defs"].(object), "report") {
		t.Error(w)
	}
	return value
}

// TestValidationFails checks that validate finds mistakes.
func TestValidationFails(t *testing.T) {
	var schema object
	if err := json.Unmarshal(report.JSONSchema(), &schema); err != nil {
		t.Fatal(err)
	}
	good := `{"version": 1, "title": "", "system": "", "schema": "", "public": true,
		"guarantee": {"words": [], "best_guess": null}, "bill": [], "sizes": {"synthetic": 5}}`
	for text, want := range map[string]int{
		good: 0,
		strings.Replace(good, `"version": 1`, `"version": "1"`, 1):              1,
		strings.Replace(good, `"version": 1`, `"version": 1.5`, 1):              1,
		strings.Replace(good, `"version": 1, `, ``, 1):                          1,
		strings.Replace(good, `"public": true`, `"public": 0`, 1):               1,
		strings.Replace(good, `"bill": []`, `"bill": {}`, 1):                    1,
		strings.Replace(good, `"bill": []`, `"bill": [3]`, 1):                   1,
		strings.Replace(good, `"best_guess": null`, `"best_guess": "5"`, 1):     1,
		strings.Replace(good, `"best_guess": null`, `"best_guess": "+Inf"`, 1):  0,
		strings.Replace(good, `"system": ""`, `"system": "", "surprise": 1`, 1): 1,
		`[]`: 1,
	} {
		var value any
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		if got := validate(value, schema, schema["$defs"].(object), "report"); len(got) != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}
