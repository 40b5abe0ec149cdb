package sgd

import (
	"fmt"
	"io"
	"log/slog"
)

// Step reports on a step of training. It contains only public and released numbers, except Loss.
type Step struct {
	Number, Of int
	// Epsilon is the ε of all events taken from the ledger so far, by this run and by others, at the
	// budget's δ. The published ε is the ledger's Epsilon, which counts everything reserved.
	Epsilon float64
	// ClipNorm is the clip norm of the step: a given number or a released one.
	ClipNorm float64
	// Loss is the batch's mean loss; it is set only with WithPrivateLoss.
	Loss Private
}

// Private is a number computed from private records. No guarantee covers it. It prints as
// "[private]" in every format, log and JSON document. Reveal returns the number, for people who may
// see the records anyway.
type Private struct {
	// Package fmt cannot call Format on an unexported field, so it prints the field's contents. Under
	// some verbs it follows one pointer, but never a second one.
	hidden **float64
}

func privately(x float64) Private {
	p := &x
	return Private{&p}
}

// Reveal returns the number, and reports whether there is a number. Showing it to people who may
// not see the records breaks the guarantee.
func (p Private) Reveal() (float64, bool) {
	if p.hidden == nil {
		return 0, false
	}
	return **p.hidden, true
}

// Format writes "[private]" for every verb, since a trainer and its network hold records of the
// last step.
func (t *Trainer) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue returns "[private]".
func (t *Trainer) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText writes "[private]".
func (t *Trainer) MarshalText() ([]byte, error) { return []byte(redacted), nil }

const redacted = "[private]"

// String returns "[private]".
func (p Private) String() string { return redacted }

// Format writes "[private]" for every verb.
func (p Private) Format(f fmt.State, _ rune) { fmt.Fprint(f, redacted) }

// MarshalText writes "[private]".
func (p Private) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue returns "[private]".
func (p Private) LogValue() slog.Value { return slog.StringValue(redacted) }
