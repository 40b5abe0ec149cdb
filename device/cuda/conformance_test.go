//go:build cuda && cgo

package cuda_test

import (
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/device/cuda"
	"github.com/seed7ba64551/privgen/device/devicetest"
)

// open returns a device, by default the first one. A test binary with the tag does not start
// without a device, so no test needs to be skipped.
func open(t testing.TB, opts ...cuda.Option) device.Backend {
	t.Helper()
	b, err := cuda.Open(opts...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func elsewhere(t testing.TB) device.Backend { return open(t) }

func TestConformance(t *testing.T) {
	b := open(t)
	t.Log(b.Name())
	devicetest.Run(t, b)
}
