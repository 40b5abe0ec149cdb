package beam

import (
	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/seed7ba64551/privgen/mechanism"
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
