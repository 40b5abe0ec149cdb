package sgd

import (
	"fmt"
	"io"
	"log/slog"
)

// Step reports on a step of training. It contains only public and released numbers.
type Step struct {
	Number, Of int
	// Epsilon is the ε of all events taken from the ledger so far, by this run and by others, at the
	// budget's δ. The published ε is the ledger's Epsilon, which counts everything reserved.
	Epsilon float64
	// ClipNorm is the clip norm of the step: a given number or a released one.
	ClipNorm float64
}

// Format writes "[private]" for every verb, since a trainer and its network hold records of the
// last step.
func (t *Trainer) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue returns "[private]".
func (t *Trainer) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText writes "[private]".
func (t *Trainer) MarshalText() ([]byte, error) { return []byte(redacted), nil }

const redacted = "[private]"
