package mechanism

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/seed7ba64551/privgen/internal/param"
)

// keySize is the length of a key in bytes.
const keySize = 32

// A Key seals sums without noise for transport between processes that may all see the records,
// such as the workers of one pipeline. It prints as [private]. The zero value is not usable.
type Key struct {
	*hiddenKey
}

// hiddenKey keeps a key behind two pointers, which package fmt does not follow from an unexported
// field of another struct.
type hiddenKey struct {
	*keyBytes
}

type keyBytes struct{ secret [keySize]byte }

// NewKey draws a key from the operating system.
func NewKey() Key {
	var k keyBytes
	_, _ = rand.Read(k.secret[:]) // never fails: it ends the program instead
	return Key{&hiddenKey{&k}}
}

// ReadKey returns the key with the given bytes, which Secret returned.
//
// Errors: *param.Error for another number of bytes; the error does not contain the bytes.
func ReadKey(secret []byte) (Key, error) {
	if len(secret) != keySize {
		return Key{}, param.New("mechanism.ReadKey.secret", fmt.Sprintf("%d bytes", len(secret)),
			fmt.Sprintf("%d bytes", keySize))
	}
	var k keyBytes
	copy(k.secret[:], secret)
	return Key{&hiddenKey{&k}}, nil
}

func (k Key) made() bool { return k.hiddenKey != nil }

// Secret returns the key as plain bytes, for a store of secrets. With these bytes anyone can read
// everything sealed under the key.
func (k Key) Secret() []byte {
	if !k.made() {
		return nil
	}
	return append([]byte(nil), k.secret[:]...)
}

// ID returns a public name of the key. The name distinguishes keys and does not reveal them. It is
// "" for the zero value.
func (k Key) ID() string {
	if !k.made() {
		return ""
	}
	id, err := hkdf.Key(sha256.New, k.secret[:], nil, "privgen key name", 8)
	if err != nil {
		return ""
	}
	return hex.EncodeToString(id)
}

// Format writes "[private]" for every verb.
func (Key) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue returns "[private]".
func (Key) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText writes "[private]".
func (Key) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// ErrSealed is returned for bytes sealed under another key or with another label. It is also
// returned for sealed bytes that were changed or cut short.
var ErrSealed = errors.New("mechanism: these bytes were not sealed under this key with this label")

// saltSize is the number of bytes of salt. Each call of seal draws a salt and a nonce of 96 bits,
// and derives a new key from the salt. So far more sums may be sealed than the 2³² that one key of
// GCM allows.
const saltSize = 32

// sealSums encrypts private sums and authenticates them together with the label about. The label
// describes the sums and is not part of the result. It uses AES-256 in GCM, with a new key for each
// call.
//
// Guarantee: none. The result holds sums without noise. It may be sent and stored where people
// without the key can see it. Only processes that may see the records may open it. Its length
// depends only on the number of coordinates.
// Errors: *param.Error for the zero key or a sum without coordinates.
func (k Key) sealSums(about []byte, sums ...*FixedSum) ([]byte, error) {
	plain, err := k.plain(sums)
	if err != nil {
		return nil, err
	}
	for _, s := range sums {
		for _, v := range s.sum {
			plain = binary.LittleEndian.AppendUint64(plain, uint64(v))
		}
	}
	defer clear(plain)
	return k.seal(sealedSums, about, plain)
}

// SealBytes encrypts a message between processes that may see the records, and authenticates it
// together with the label about. The message may be, for example, the rows of a step.
//
// Guarantee: none; see Partial.Seal. The length of the result reveals the length of the message.
// Errors: *param.Error for the zero key.
func (k Key) SealBytes(about, message []byte) ([]byte, error) {
	if _, err := k.plain(nil); err != nil {
		return nil, err
	}
	return k.seal(sealedBytes, about, message)
}

func (k Key) seal(use string, about, plain []byte) ([]byte, error) {
	out := make([]byte, saltSize, saltSize+len(plain)+64)
	_, _ = rand.Read(out) // never fails
	gcm, err := k.cipher(out, use)
	if err != nil {
		return nil, err
	}
	return gcm.Seal(out, nil, plain, about), nil
}

// OpenBytes returns the message that SealBytes sealed.
//
// Errors: ErrSealed; *param.Error for the zero key.
func (k Key) OpenBytes(about, sealed []byte) ([]byte, error) {
	if _, err := k.plain(nil); err != nil {
		return nil, err
	}
	return k.open(sealedBytes, nil, about, sealed)
}

// open decrypts into room if room is large enough.
func (k Key) open(use string, room, about, sealed []byte) ([]byte, error) {
	if len(sealed) < saltSize {
		return nil, ErrSealed
	}
	gcm, err := k.cipher(sealed[:saltSize], use)
	if err != nil {
		return nil, err
	}
	plain, err := gcm.Open(room, nil, sealed[saltSize:], about)
	if err != nil {
		return nil, ErrSealed
	}
	return plain, nil
}

// These are the uses for which keys are derived from a Key.
const sealedSums, sealedBytes = "privgen sealed sums", "privgen sealed bytes"

// plain returns an empty slice with room for the coordinates of sums.
func (k Key) plain(sums []*FixedSum) ([]byte, error) {
	if !k.made() {
		return nil, param.New("mechanism.Key", redacted, "a key made by NewKey or ReadKey")
	}
	n := 0
	for _, s := range sums {
		if !s.made() {
			return nil, param.New("mechanism.Partial.Seal.sums", redacted, "sums made by NewFixedSum")
		}
		n += 8 * len(s.sum)
	}
	return make([]byte, 0, n), nil
}

// cipher returns GCM with random nonces, under the key that is derived from k, the salt and the
// use.
func (k Key) cipher(salt []byte, use string) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, k.secret[:], salt, use, keySize)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// openSums sets sums to the sealed values. The sums must have the dimensions of the sums that were
// sealed. openSums does not check that the grids are the same: make the grids part of about.
//
// Errors: ErrSealed, which leaves the sums unchanged; the errors of sealSums.
func (k Key) openSums(about, sealed []byte, sums ...*FixedSum) error {
	room, err := k.plain(sums)
	if err != nil {
		return err
	}
	plain, err := k.open(sealedSums, room, about, sealed)
	if err != nil {
		return err
	}
	defer clear(plain)
	if len(plain) != cap(room) {
		return ErrSealed
	}
	rest := plain
	for _, s := range sums {
		for i := range s.sum {
			s.sum[i] = int64(binary.LittleEndian.Uint64(rest))
			rest = rest[8:]
		}
	}
	return nil
}

// alike returns a zero sum of the same dimension on the same grid.
func (s *FixedSum) alike() *FixedSum {
	if !s.made() {
		return new(FixedSum)
	}
	return NewFixedSum(len(s.sum), s.grid)
}
