package models

import (
	"fmt"
	"io"
)

// Under every verb of package fmt, a network prints its size and nothing else, because its scratch
// memory holds the records of the last batch.

func describe(f fmt.State, n interface{ Dim() int }, params int) {
	_, _ = fmt.Fprintf(io.Writer(f), "network of %d coordinates and %d parameters", n.Dim(), params)
}

// Format prints the size of the network, under every verb.
func (n *Classifier) Format(f fmt.State, _ rune) { describe(f, n, n.params.Len()) }

func (n *vae) Format(f fmt.State, _ rune)     { describe(f, n, n.params.Len()) }
func (n *rbm) Format(f fmt.State, _ rune)     { describe(f, n, n.params.Len()) }
func (n *critic) Format(f fmt.State, _ rune)  { describe(f, n, n.params.Len()) }
func (n *decoder) Format(f fmt.State, _ rune) { describe(f, n, n.params.Len()) }
