package partial

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// A Pass identifies a computation of sums. Equal passes give equal sums of equal records. The zero
// value identifies nothing.
type Pass struct {
	digest [sha256.Size]byte
	named  bool
}

// NewPass returns the pass that the given values identify. They must be all that its sums depend on
// except the records: schema, noise, feature map, and earlier releases. All of them must be public.
//
// Errors: the errors of encoding/json for values that it cannot write.
func NewPass(what ...any) (Pass, error) {
	text, err := json.Marshal(what)
	if err != nil {
		return Pass{}, fmt.Errorf("partial.NewPass: %w", err)
	}
	return Pass{sha256.Sum256(text), true}, nil
}

// LocalPass returns a pass that exists only in this process. It is for sums that depend on more
// than JSON can hold, for example on a user-defined feature map.
func LocalPass() Pass {
	p := Pass{named: true}
	_, _ = rand.Read(p.digest[:]) // never fails
	return p
}

// String returns the pass's digest in hexadecimal digits.
func (p Pass) String() string { return hex.EncodeToString(p.digest[:]) }
