package device

import (
	"fmt"
	"io"
	"log/slog"
)

// A Batch holds records, so package fmt, logs and JSON show it as "[private]".
//
// Package fmt does not call the methods of values in unexported fields of other structs. From such
// a field it would print the matrix, labels and row numbers of a Batch like any other slices. Such
// fields should hold a *Batch, which package fmt prints as an address under %v, %+v and %#v.
// Methods are not called under %p either, which is for pointers: a Batch prints its numbers there.
const redacted = "[private]"

// Format writes "[private]" for every verb.
func (b Batch) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue returns "[private]".
func (b Batch) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText returns "[private]".
//
// Errors: none.
func (b Batch) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// GobEncode implements gob.GobEncoder: no record is written. Errors: none.
func (b Batch) GobEncode() ([]byte, error) { return []byte(redacted), nil }
