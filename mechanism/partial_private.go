package mechanism

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
)

// ErrPrivate is returned by methods that would write private sums without noise.
var ErrPrivate = errors.New("mechanism: sums without noise are private and cannot be written")

// ErrSchema is returned for data of another schema than the plan's.
var ErrSchema = errors.New("the data's schema is not the plan's")

// Format writes "[private]" for every verb.
func (*Partial) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue returns "[private]".
func (*Partial) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText makes package encoding/json fail. Errors: ErrPrivate, always.
func (*Partial) MarshalText() ([]byte, error) { return nil, ErrPrivate }

// MarshalBinary makes package encoding/gob fail. Errors: ErrPrivate, always.
func (*Partial) MarshalBinary() ([]byte, error) { return nil, ErrPrivate }
