package accountant

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/seed7ba64551/privgen/internal/param"
)

// maxEventDepth bounds nesting, so that a hostile file cannot exhaust the stack.
const maxEventDepth = 32

// MarshalEvent writes an event as JSON that names its kind. [UnmarshalEvent] reads it back to an
// equal value.
//
// Errors: *param.Error for nil, an invalid event, and one that is no value of this package's types
// or nested too deep to be read.
func MarshalEvent(e Event) ([]byte, error) {
	if e == nil {
		return nil, param.New("accountant.MarshalEvent", nil, "an event")
	}
	if _, err := copied(e, 0); err != nil { // it has no fields to write
		return nil, err
	}
	if err := e.check(); err != nil {
		return nil, err
	}
	return json.Marshal(eventJSON{e})
}

// UnmarshalEvent reads an event that MarshalEvent wrote, and validates it. A missing field is an
// error. For example, a missing sampling probability would otherwise be read as 0, and a
// probability of 0 costs nothing.
//
// Errors: *param.Error for missing fields, parameters out of range and events nested too deep; an
// error that names an unknown kind or field; the error of encoding/json for other text.
func UnmarshalEvent(data []byte) (Event, error) {
	if err := checkNesting(data); err != nil {
		return nil, err
	}
	e, err := decodeEvent(data, 0)
	if err != nil {
		return nil, err
	}
	if err := e.check(); err != nil {
		return nil, err
	}
	whole, err := MarshalEvent(e)
	if err != nil {
		return nil, err
	}
	return e, param.Complete("accountant.Event", data, whole)
}

// checkNesting bounds the time of reading: the text of an event is read again at every depth.
func checkNesting[T string | []byte](text T) error {
	if _, depth := param.Size(text); depth*len(text) > 10<<20 {
		return param.New("accountant.Event", depth*len(text), "at most 10 MB in length times depth")
	}
	return nil
}

// EqualEvents reports whether two events have the same canonical text.
func EqualEvents(a, b Event) bool {
	ka, errA := eventKey(a)
	kb, errB := eventKey(b)
	return errA == nil && errB == nil && ka == kb
}

// eventKey returns the canonical text of an event; equal texts are equal events.
func eventKey(e Event) (string, error) {
	b, err := MarshalEvent(e)
	return string(b), err
}

// eventJSON adds the kind in front of an event's own fields.
type eventJSON struct{ Event }

func (w eventJSON) MarshalJSON() ([]byte, error) {
	body, err := json.Marshal(fieldsOf(w.Event))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, `{"kind":%q`, w.kind())
	if len(body) > 2 {
		out.WriteByte(',')
		out.Write(body[1 : len(body)-1])
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

func wrapAll(events []Event) []eventJSON {
	out := make([]eventJSON, len(events))
	for i, e := range events {
		out[i] = eventJSON{e}
	}
	return out
}

func decodeAll(raw []json.RawMessage, depth int) ([]Event, error) {
	var out []Event
	for _, r := range raw {
		e, err := decodeEvent(r, depth)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

func decodeEvent(data []byte, depth int) (Event, error) {
	if depth > maxEventDepth {
		return nil, tooDeep(depth)
	}
	var fields map[string]json.RawMessage
	var kind string
	err := param.Decode(data, &fields)
	if text, given := fields["kind"]; err == nil && given {
		err = param.Decode(text, &kind)
	}
	if err != nil {
		return nil, fmt.Errorf("accountant: event: %w", err)
	}
	delete(fields, "kind")
	e, err := decodeKind(kind, fields, depth+1)
	if err != nil {
		return nil, fmt.Errorf("accountant: event %.40q: %w", kind, err)
	}
	return e, nil
}

func decodeKind(kind string, fields map[string]json.RawMessage, depth int) (Event, error) {
	body, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	kinds := make([]string, len(eventTypes))
	for i, e := range eventTypes {
		if kinds[i] = e.kind(); kinds[i] == kind {
			return readEvent(reflect.TypeOf(e), body, depth)
		}
	}
	return nil, param.New("accountant.Event.kind", kind, "one of "+strings.Join(kinds, ", "))
}
