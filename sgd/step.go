package sgd

import (
	"fmt"
	"io"
	"log/slog"
)

// Step reports on a step of training. It contains only public and released numbers, except Loss.
type Step struct {
	Number, Of int
	// Epsilon is the ε of every event taken from the ledger so far, by this run and
	// others, at the budget's δ. The published ε is the ledger's Epsilon, which counts
	// everything reserved.
	Epsilon float64
	// ClipNorm is the clip norm of the step, given or released.
	ClipNorm float64
	// Loss is the batch's mean loss; it is set only with WithPrivateLoss.
	Loss Private
}

// Private is a number computed from private records that no guarantee covers. It
// prints itself as "[private]" in every format, log and JSON document; Reveal returns
// the number, for those who may see the records anyway.
type Private struct {
	// Package fmt cannot call Format on an unexported field and prints what it holds instead,
	// following one pointer under some verbs. It follows no second one.
	hidden **float64
}

func privately(x float64) Private {
	p := &x
	return Private{&p}
}

// Reveal returns the number, and whether there is one. Showing it to people who may not
// see the records breaks the guarantee.
func (p Private) Reveal() (float64, bool) {
	if p.hidden == nil {
		return 0, false
	}
	return **p.hidden, true
}

// Format writes "[private]" for every verb: a trainer and its network hold records of the last
// step.
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
