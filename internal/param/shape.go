package param

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// shape is the Go type of a value, of which only the keys matter. The zero shape allows every key.
type shape struct{ t reflect.Type }

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// shapeOf returns the shape of the value to which into points.
func shapeOf(into any) shape { return shapeOfType(reflect.TypeOf(into)) }

// shapeOfType follows pointers. A type that reads itself has the zero shape.
func shapeOfType(t reflect.Type) shape {
	for t != nil {
		if t.Implements(unmarshaler) || reflect.PointerTo(t).Implements(unmarshaler) {
			return shape{}
		}
		if t.Kind() != reflect.Pointer {
			break
		}
		t = t.Elem()
	}
	return shape{t}
}

// element returns the shape of the elements of a list.
func (s shape) element() shape {
	if s.t == nil || s.t.Kind() != reflect.Slice && s.t.Kind() != reflect.Array {
		return shape{}
	}
	return shapeOfType(s.t.Elem())
}

// field returns the shape of the value of a key, and whether the key is allowed.
func (s shape) field(name string) (of shape, known bool) {
	switch {
	case s.t == nil:
		return shape{}, true
	case s.t.Kind() == reflect.Map:
		return shapeOfType(s.t.Elem()), true
	case s.t.Kind() == reflect.Struct:
		t, known := fieldsOf(s.t)[name]
		return shapeOfType(t), known
	}
	return shape{}, true // the types differ, which encoding/json finds
}

var cache sync.Map // from a reflect.Type to its fields

// fieldsOf returns the types of a struct's fields by their names in JSON. Fields of embedded
// structs count as the struct's own, which win.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	if m, ok := cache.Load(t); ok {
		return m.(map[string]reflect.Type)
	}
	fields := map[string]reflect.Type{}
	var embedded []reflect.Type
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		name, _, _ := strings.Cut(tag, ",")
		switch inner := f.Type; {
		case tag == "-":
		case f.Anonymous && name == "" && inner.Kind() == reflect.Struct:
			embedded = append(embedded, inner)
		case f.Anonymous && name == "" && inner.Kind() == reflect.Pointer:
			embedded = append(embedded, inner.Elem())
		case !f.IsExported():
		case name == "":
			fields[f.Name] = f.Type
		default:
			fields[name] = f.Type
		}
	}
	for _, e := range embedded {
		for name, of := range fieldsOf(e) {
			if _, own := fields[name]; !own {
				fields[name] = of
			}
		}
	}
	cache.Store(t, fields)
	return fields
}
