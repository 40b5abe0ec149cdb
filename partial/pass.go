package partial

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// A Pass names what is added up. Equal passes make equal sums of equal records. The zero value
// names nothing.
type Pass struct {
	digest [sha256.Size]byte
	named  bool
}

// NewPass names the pass of everything that its sums depend on, the records apart: schema, noise,
// feature map, and what was released before. All of it is public.
//
// Errors: what JSON cannot hold.
func NewPass(what ...any) (Pass, error) {
	text, err := json.Marshal(what)
	if err != nil {
		return Pass{}, fmt.Errorf("partial: naming a pass: %w", err)
	}
	return Pass{sha256.Sum256(text), true}, nil
}

// LocalPass names a pass of this process that no other process can name, for sums that depend on
// something JSON cannot hold, such as a user-defined feature map.
func LocalPass() Pass {
	p := Pass{named: true}
	_, _ = rand.Read(p.digest[:]) // never fails
	return p
}

// String returns the name in hexadecimal digits.
func (p Pass) String() string { return hex.EncodeToString(p.digest[:]) }
