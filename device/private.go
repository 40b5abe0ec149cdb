package device

import (
	"fmt"
	"io"
	"log/slog"
)

// A batch holds records, so it prints as "[private]" under every verb, in a log and as JSON.
//
// Package fmt does not ask a value how to print where it stands in an unexported field of some
// other struct, and the matrix, labels and row numbers of a batch are plain slices, which print as
// such there. Hold a *Batch in such a field: it shows as an address under %v, %+v and %#v.
const redacted = "[private]"

// Format writes "[private]" for every verb.
func (b Batch) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue returns "[private]".
func (b Batch) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText writes "[private]".
func (b Batch) MarshalText() ([]byte, error) { return []byte(redacted), nil }
