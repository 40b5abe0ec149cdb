package models

import (
	"fmt"
	"io"
	"log/slog"
)

// Under every verb of package fmt, a network prints its size and nothing else, because its scratch
// memory holds the records of the last batch.
//
// Package fmt does not call the Format of a value in an unexported field of another struct. There,
// under some verbs, it follows one pointer. So a network is a struct that holds a pointer to its
// memory, and fmt prints an address. Types that a caller can dereference hold two pointers.

// size describes a network.
func size(dim, params int) string {
	return fmt.Sprintf("network of %d coordinates and %d parameters", dim, params)
}

func describe(f fmt.State, dim, params int) { _, _ = io.WriteString(f, size(dim, params)) }

// Format prints the size of the network, under every verb.
func (n *hiddenClassifier) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, n.text()) }

// LogValue returns the size of the network.
func (n *hiddenClassifier) LogValue() slog.Value { return slog.StringValue(n.text()) }

// MarshalText returns the size of the network.
//
// Errors: none.
func (n *hiddenClassifier) MarshalText() ([]byte, error) { return []byte(n.text()), nil }

func (n *hiddenClassifier) text() string {
	if n == nil {
		return size(0, 0)
	}
	return size(n.Dim(), n.params.Len())
}

func (n *vae) Format(f fmt.State, _ rune)     { describe(f, n.Dim(), n.params.Len()) }
func (n *rbm) Format(f fmt.State, _ rune)     { describe(f, n.Dim(), n.params.Len()) }
func (n *critic) Format(f fmt.State, _ rune)  { describe(f, n.Dim(), n.params.Len()) }
func (n *decoder) Format(f fmt.State, _ rune) { describe(f, n.Dim(), n.params.Len()) }
