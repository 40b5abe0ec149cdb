package mechanism

import (
	"fmt"
	"io"
	"log/slog"
)

const redacted = "[private]"

// Format writes "[private]" for every verb: the sum has no noise yet.
func (FixedSum) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue returns "[private]".
func (FixedSum) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText writes "[private]".
func (FixedSum) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// Format writes "[private]" for every verb: the counts have no noise yet.
func (NormHistogram) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue returns "[private]".
func (NormHistogram) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText writes "[private]".
func (NormHistogram) MarshalText() ([]byte, error) { return []byte(redacted), nil }
