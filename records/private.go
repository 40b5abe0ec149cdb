package records

import (
	"fmt"
	"io"
	"log/slog"
)

// Every type of this package that holds records prints as "[private]": under every verb, in a log
// and as JSON, by itself and inside other values.
//
// Package fmt does not call a value's Format method if the value is in an unexported field of
// another struct. It walks through structs instead, and also through one pointer if the verb, such
// as %s, does not apply to pointers. So these types hold a pointer to a struct that holds another
// pointer, and fmt prints an address. [Nonzeros] and device.Batch have exported fields for programs
// to use. They print as "[private]" where fmt calls their methods, and not in an unexported field
// of a struct.
//
// Records are returned by Gather, Range, Row, Items and Value, and by the writers, as plain
// slices and texts.

const redacted = "[private]"

// private is embedded by the types that hold records. Its methods print "[private]".
type private struct{}

// Format writes "[private]" for every verb.
func (private) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue returns "[private]".
func (private) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText writes "[private]".
func (private) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// GobEncode implements gob.GobEncoder: no record is written. Errors: none.
func (z Nonzeros) GobEncode() ([]byte, error) { return []byte(redacted), nil }
