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

func redact(f fmt.State) { _, _ = io.WriteString(f, redacted) }

// Format writes "[private]" for every verb.
func (t Table) Format(f fmt.State, _ rune) { redact(f) }

// LogValue returns "[private]".
func (t Table) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText writes "[private]".
func (t Table) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// Format writes "[private]" for every verb.
func (f Frame) Format(state fmt.State, _ rune) { redact(state) }

// LogValue returns "[private]".
func (f Frame) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText writes "[private]".
func (f Frame) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// Format writes "[private]" for every verb.
func (z Nonzeros) Format(f fmt.State, _ rune) { redact(f) }

// LogValue returns "[private]".
func (z Nonzeros) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText writes "[private]".
func (z Nonzeros) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// GobEncode implements gob.GobEncoder: no record is written. Errors: none.
func (z Nonzeros) GobEncode() ([]byte, error) { return []byte(redacted), nil }

// Format writes "[private]" for every verb.
func (t SetTable) Format(f fmt.State, _ rune) { redact(f) }

// LogValue returns "[private]".
func (t SetTable) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText writes "[private]".
func (t SetTable) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// Format writes "[private]" for every verb.
func (m MappedSets) Format(f fmt.State, _ rune) { redact(f) }

// LogValue returns "[private]".
func (m MappedSets) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText writes "[private]".
func (m MappedSets) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// Format writes "[private]" for every verb.
func (t PartedTable) Format(f fmt.State, _ rune) { redact(f) }

// LogValue returns "[private]".
func (t PartedTable) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText writes "[private]".
func (t PartedTable) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// Format writes "[private]" for every verb.
func (b FrameBuilder) Format(f fmt.State, _ rune) { redact(f) }

// LogValue returns "[private]".
func (b FrameBuilder) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText writes "[private]".
func (b FrameBuilder) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// Format writes "[private]" for every verb.
func (b SetBuilder) Format(f fmt.State, _ rune) { redact(f) }

// LogValue returns "[private]".
func (b SetBuilder) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText writes "[private]".
func (b SetBuilder) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// Format writes "[private]" for every verb.
func (w SetWriter) Format(f fmt.State, _ rune) { redact(f) }

// LogValue returns "[private]".
func (w SetWriter) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText writes "[private]".
func (w SetWriter) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// Format writes "[private]" for every verb.
func (e Enforcer) Format(f fmt.State, _ rune) { redact(f) }

// LogValue returns "[private]".
func (e Enforcer) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText writes "[private]".
func (e Enforcer) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// Format writes "[private]" for every verb.
func (s stated) Format(f fmt.State, _ rune) { redact(f) }

// LogValue returns "[private]".
func (s stated) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText writes "[private]".
func (s stated) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// Format writes "[private]" for every verb.
func (c *clamped) Format(f fmt.State, _ rune) { redact(f) }

// LogValue returns "[private]".
func (c *clamped) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText writes "[private]".
func (c *clamped) MarshalText() ([]byte, error) { return []byte(redacted), nil }
