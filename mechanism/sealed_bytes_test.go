package mechanism

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"
)

// TestSealedBytes: a message opens only under its key and label, and only with OpenBytes. Sealing
// the same message twice gives different bytes.
func TestSealedBytes(t *testing.T) {
	k, message := NewKey(), make([]byte, 8)
	one := must(k.SealBytes([]byte("about"), message))(t)
	two := must(k.SealBytes([]byte("about"), message))(t)
	if got, err := k.OpenBytes([]byte("about"), one); err != nil || !bytes.Equal(got, message) {
		t.Errorf("got %v, %v, want the message", got, err)
	}
	if bytes.Equal(one, two) {
		t.Error("sealing twice gives the same bytes")
	}
	if bytes.Equal(one[:saltSize], two[:saltSize]) { // once in 2^256 runs
		t.Error("two messages have the same salt")
	}
	changed := bytes.Clone(one)
	changed[len(changed)-1] ^= 1
	sums := must(k.sealSums([]byte("about"), NewFixedSum(1, 1)))(t)
	for name, c := range map[string]struct {
		key           Key
		about, sealed []byte
	}{"another key": {NewKey(), []byte("about"), one}, "about another": {k, []byte("other"), one},
		"changed": {k, []byte("about"), changed}, "cut short": {k, []byte("about"), one[:20]},
		"sums": {k, []byte("about"), sums}} {
		if _, err := c.key.OpenBytes(c.about, c.sealed); !errors.Is(err, ErrSealed) {
			t.Errorf("%s: got %v, want ErrSealed", name, err)
		}
	}
	if err := k.openSums([]byte("about"), one, NewFixedSum(1, 1)); !errors.Is(err, ErrSealed) {
		t.Errorf("a message as sums: got %v, want ErrSealed", err)
	}
	if _, err := (Key{}).SealBytes(nil, nil); err == nil {
		t.Error("the zero key seals a message")
	}
}

// TestKeysHaveNamesThatKeepThem: the public name of a key contains no two consecutive bytes of the
// key.
func TestKeysHaveNamesThatKeepThem(t *testing.T) {
	secret := make([]byte, keySize)
	for i := range secret {
		secret[i] = byte(1 + 7*i)
	}
	k := must(ReadKey(secret))(t)
	name, err := hex.DecodeString(k.ID())
	if err != nil || len(name) == 0 || len(name) > keySize/4 {
		t.Errorf("the name is %q: %v", k.ID(), err)
	}
	for i := range len(secret) - 1 {
		if bytes.Contains(name, secret[i:i+2]) {
			t.Errorf("the name %q contains a part of the key", k.ID())
		}
	}
}
