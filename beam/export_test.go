package beam

import (
	"context"
	"encoding/json"
	"io"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/synth"
)

// KeyOf exports key for tests.
func KeyOf(id string) (mechanism.Key, error) { return key(id) }

// Instead replaces Sum by f until the returned function is called.
func Instead(f func(s sdk.Scope, set Settings, pass,
	shards sdk.PCollection) sdk.PCollection) func() {
	sumShards = f
	return func() { sumShards = Sum }
}

// Sealed calls f with the sealed sums that this process reads, until the returned function is
// called.
func Sealed(f func(sealed []byte)) func() {
	sawSealed = f
	return func() { sawSealed = func([]byte) {} }
}

// WriteFile exports writeFile for tests.
func WriteFile(ctx context.Context, file string, write func(io.Writer) error) error {
	return writeFile(ctx, file, write)
}

// PartOf returns the part of a row, out of the given number of parts, if the unit is a row.
func PartOf(r Row, parts int) int { return groupOf(r.ID, parts) }

// Hold makes a key known to this process.
func Hold(k mechanism.Key) { hold(k) }

// SealPass returns a pass in the form that is sent to workers.
func SealPass(k mechanism.Key, p synth.Pass) ([]byte, error) {
	s, err := seal(k, p)
	if err != nil {
		return nil, err
	}
	return json.Marshal(s)
}

// OpenPass returns a pass as a worker decodes it.
func OpenPass(keyID string, text []byte) (synth.Pass, error) {
	var s sealedPass
	if err := json.Unmarshal(text, &s); err != nil {
		return s.Pass, err
	}
	return s.open(keyID)
}
