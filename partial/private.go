package partial

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
)

// ErrPrivate is the refusal to write private sums that no noise has been added to.
var ErrPrivate = errors.New("partial: sums without noise are private and cannot be written")

// ErrSchema is returned for data of another schema than the plan's.
var ErrSchema = errors.New("the data's schema is not the plan's")

const redacted = "[private]"

// Format prints [private] whatever the verb.
func (*Partial) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue is [private].
func (*Partial) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText returns ErrPrivate; package encoding/json asks for it.
func (*Partial) MarshalText() ([]byte, error) { return nil, ErrPrivate }

// MarshalBinary returns ErrPrivate; package encoding/gob asks for it.
func (*Partial) MarshalBinary() ([]byte, error) { return nil, ErrPrivate }
