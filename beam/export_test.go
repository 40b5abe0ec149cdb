package beam

import (
	"encoding/json"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/synth"
)

// KeyOf is key, for tests.
func KeyOf(id string) (mechanism.Key, error) { return key(id) }

// Instead has f add shards up in place of Sum, until what it returns is called.
func Instead(f func(s sdk.Scope, set Settings, pass,
	shards sdk.PCollection) sdk.PCollection) func() {
	sumShards = f
	return func() { sumShards = Sum }
}

// Sealed has f see the sums that this process reads, until what it returns is called.
func Sealed(f func(sealed []byte)) func() {
	sawSealed = f
	return func() { sawSealed = func([]byte) {} }
}

// PartOf is the part of a row, of so many, where a row is the unit.
func PartOf(r Row, parts int) int { return groupOf(r.ID, parts) }

// Hold makes a key known to this process.
func Hold(k mechanism.Key) { hold(k) }

// SealPass is a pass as it travels.
func SealPass(k mechanism.Key, p synth.Pass) ([]byte, error) {
	s, err := seal(k, p)
	if err != nil {
		return nil, err
	}
	return json.Marshal(s)
}

// OpenPass is a pass as a worker reads it.
func OpenPass(keyID string, text []byte) (synth.Pass, error) {
	var s sealedPass
	if err := json.Unmarshal(text, &s); err != nil {
		return s.Pass, err
	}
	return s.open(keyID)
}
