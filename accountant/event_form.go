package accountant

import (
	"encoding/json"
	"reflect"
	"slices"

	"github.com/seed7ba64551/privgen/internal/param"
)

// An eventForm is the type of an event's fields in JSON, which are the fields of the event. An
// event inside is an eventJSON when it is written, and a json.RawMessage when it is read.
type eventForm struct{ written, read reflect.Type }

var eventForms = func() map[reflect.Type]eventForm {
	forms := map[reflect.Type]eventForm{}
	for _, e := range eventTypes {
		t := reflect.TypeOf(e)
		forms[t] = eventForm{formOf[eventJSON](t), formOf[json.RawMessage](t)}
	}
	return forms
}()

var eventType, eventsType = reflect.TypeFor[Event](), reflect.TypeFor[[]Event]()

func formOf[E any](event reflect.Type) reflect.Type {
	var fields []reflect.StructField
	for i := range event.NumField() {
		f := event.Field(i)
		switch f.Type {
		case eventType:
			f.Type = reflect.TypeFor[E]()
		case eventsType:
			f.Type = reflect.TypeFor[[]E]()
		}
		fields = append(fields, reflect.StructField{Name: f.Name, Type: f.Type, Tag: f.Tag})
	}
	return reflect.StructOf(fields)
}

// fieldsOf returns a value whose fields in JSON are the event's; its kind is not among them.
func fieldsOf(e Event) any {
	from := reflect.ValueOf(e)
	to := reflect.New(eventForms[from.Type()].written).Elem()
	for i := range from.NumField() {
		switch f := from.Field(i); f.Type() {
		case eventType:
			to.Field(i).Set(reflect.ValueOf(eventJSON{f.Interface().(Event)}))
		case eventsType:
			to.Field(i).Set(reflect.ValueOf(wrapAll(f.Interface().([]Event))))
		default:
			to.Field(i).Set(f)
		}
	}
	return to.Interface()
}

// readEvent reads an event of a type from the fields that body holds. Events inside are at the
// given depth.
func readEvent(t reflect.Type, body []byte, depth int) (Event, error) {
	from, to := reflect.New(eventForms[t].read), reflect.New(t).Elem()
	if err := param.Decode(body, from.Interface()); err != nil {
		return nil, err
	}
	for i := range t.NumField() {
		f := from.Elem().Field(i)
		switch t.Field(i).Type {
		case eventType:
			e, err := decodeEvent(f.Bytes(), depth)
			if err != nil {
				return nil, err
			}
			f = reflect.ValueOf(e)
		case eventsType:
			list, err := decodeAll(f.Interface().([]json.RawMessage), depth)
			if err != nil {
				return nil, err
			}
			f = reflect.ValueOf(list)
		}
		to.Field(i).Set(f)
	}
	return to.Interface().(Event), nil
}

// clone returns a copy that shares no memory with the event. It has inside(p) for every event p
// inside.
func clone(e Event, inside func(p Event) (Event, error)) (Event, error) {
	from := reflect.ValueOf(e)
	to := reflect.New(from.Type()).Elem()
	to.Set(from)
	for i := range from.NumField() {
		switch f := from.Field(i).Interface().(type) {
		case Event:
			p, err := inside(f)
			if err != nil {
				return nil, err
			}
			to.Field(i).Set(reflect.ValueOf(p))
		case []Event:
			list, err := cloneAll(f, inside)
			if err != nil {
				return nil, err
			}
			to.Field(i).Set(reflect.ValueOf(list))
		case []float64:
			to.Field(i).Set(reflect.ValueOf(slices.Clone(f)))
		}
	}
	return to.Interface().(Event), nil
}
