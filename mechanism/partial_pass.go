package mechanism

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// A PassID identifies a computation of sums. Equal passes give equal sums of equal records. The
// zero value identifies nothing.
type PassID struct {
	digest [sha256.Size]byte
	named  bool
}

// NewPassID returns the pass that the given values identify. They must be all that its sums depend
// on except the records: schema, noise, feature map, and earlier releases. All of them must be
// public.
//
// Errors: the errors of encoding/json for values that it cannot write.
func NewPassID(what ...any) (PassID, error) {
	text, err := json.Marshal(what)
	if err != nil {
		return PassID{}, fmt.Errorf("mechanism.NewPassID: %w", err)
	}
	return PassID{sha256.Sum256(text), true}, nil
}

// LocalPassID returns a pass that exists only in this process. It is for sums that depend on more
// than JSON can hold, for example on a user-defined feature map.
func LocalPassID() PassID {
	p := PassID{named: true}
	_, _ = rand.Read(p.digest[:]) // never fails
	return p
}

// String returns the pass's digest in hexadecimal digits.
func (p PassID) String() string { return hex.EncodeToString(p.digest[:]) }
