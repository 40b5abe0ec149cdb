package param

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// A KeyError is returned for a key that is not allowed.
type KeyError struct {
	Key       string // as the text spells it, unquoted
	Path      string // with the keys and indices that lead to it, such as columns[2].lo
	At        int64  // the byte at which the key begins
	Duplicate bool   // the object has the key already; otherwise the key is unknown
}

// Error names the key.
func (e *KeyError) Error() string {
	if e.Duplicate {
		return fmt.Sprintf("json: duplicate field %q", e.Key)
	}
	return fmt.Sprintf("json: unknown field %q", e.Key)
}

var errUTF8 = errors.New("json: the text is not valid UTF-8")

// inner are the limits of Decode. They protect the stack, and bound a document that is part of a
// larger one, whose reader has set narrower limits.
var inner = Limits{Depth: 256, Values: 1 << 24}

// Decode is [Limits.Decode] with wide limits.
func Decode(text []byte, into any) error { return inner.Decode(text, into) }

// Decode reads one JSON value, in one way only: a key that is unknown, that appears twice in one
// object, or that differs from the field's name in its case is an error. Package encoding/json
// accepts all three, and the last value counts, so another reader of the file, such as a person,
// may see another value. A type that implements json.Unmarshaler must call Decode itself:
// within such a value only duplicate keys are found here.
//
// Errors: ErrTooMuch, *KeyError; the errors of encoding/json, and an error for text that is not
// UTF-8. After an error, into is unchanged or partly set.
func (l Limits) Decode(text []byte, into any) error {
	if err := l.valid(text, into); err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// Any reads one JSON value of any form. Its numbers keep every digit, as values of type
// json.Number.
//
// Errors: see [Limits.Decode].
func Any(text []byte) (v any, err error) {
	if err := inner.valid(text, &v); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return v, d.Decode(&v)
}

// valid checks everything but the types of values.
func (l Limits) valid(text []byte, into any) error {
	if err := l.Check(text); err != nil {
		return err
	}
	if !utf8.Valid(text) {
		return errUTF8
	}
	if !json.Valid(text) {
		return json.Unmarshal(text, new(json.RawMessage)) // the error with its place
	}
	w := walk{text: text}
	err := w.value(shapeOf(into))
	if key := (*KeyError)(nil); errors.As(err, &key) {
		key.Path = strings.TrimPrefix(key.Path, ".")
	}
	return err
}

// Locate returns the path of the value of a valid document that contains the byte before end, which
// is not in a key, and where the value begins. If there is none, the path is empty.
func Locate(text []byte, end int64) (path string, at int64) {
	w := walk{text: text, end: int(end)}
	if key := (*KeyError)(nil); errors.As(w.value(shape{}), &key) {
		return strings.TrimPrefix(key.Path, "."), key.At
	}
	return "", 0
}

// walk reads the keys of a valid document.
type walk struct {
	text []byte
	at   int
	end  int // if not 0, the first value that reaches this byte is returned as an error
}

// next skips blanks and returns the character after them.
func (w *walk) next() byte {
	for strings.IndexByte(" \t\r\n", w.text[w.at]) >= 0 {
		w.at++
	}
	return w.text[w.at]
}

func (w *walk) value(s shape) error {
	first, start := w.next(), w.at
	switch {
	case first == '"':
		w.quoted()
	case first == '{' || first == '[':
		w.at++
	default:
		for w.at < len(w.text) && strings.IndexByte(" \t\r\n,]}", w.text[w.at]) < 0 {
			w.at++
		}
	}
	switch {
	case w.end > 0 && w.at >= w.end:
		return &KeyError{At: int64(start)}
	case first == '{':
		return w.object(s)
	case first == '[':
		return w.list(s.element())
	}
	return nil
}

// quoted reads a string and returns it with its quotation marks.
func (w *walk) quoted() []byte {
	start := w.at
	for w.at++; w.text[w.at] != '"'; w.at++ {
		if w.text[w.at] == '\\' {
			w.at++
		}
	}
	w.at++
	return w.text[start:w.at]
}

func (w *walk) list(element shape) error {
	for i := 0; w.next() != ']'; i++ {
		if w.text[w.at] == ',' {
			w.at++
		}
		if err := w.value(element); err != nil {
			return within(fmt.Sprintf("[%d]", i), err)
		}
	}
	w.at++
	return nil
}

func (w *walk) object(s shape) error {
	seen := map[string]bool{}
	for w.next() != '}' {
		if w.text[w.at] == ',' {
			w.at++
			w.next()
		}
		start := int64(w.at)
		name, err := unquoted(w.quoted())
		if err != nil {
			return err
		}
		of, known := s.field(name)
		if !known || seen[name] {
			return &KeyError{Key: name, Path: "." + name, At: start, Duplicate: known}
		}
		seen[name] = true
		w.next()
		w.at++ // the colon
		if err := w.value(of); err != nil {
			return within("."+name, err)
		}
	}
	w.at++
	return nil
}

func unquoted(key []byte) (name string, err error) {
	if bytes.IndexByte(key, '\\') < 0 {
		return string(key[1 : len(key)-1]), nil
	}
	err = json.Unmarshal(key, &name)
	return name, err
}

// within puts a part of the path in front of the path of an error.
func within(part string, err error) error {
	if key := (*KeyError)(nil); errors.As(err, &key) {
		key.Path = part + key.Path
	}
	return err
}
