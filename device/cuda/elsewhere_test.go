//go:build !cuda || !cgo

package cuda_test

import (
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/device/cuda"
	"github.com/seed7ba64551/privgen/device/devicetest"
)

// elsewhere returns a backend with its own memory. Without a device, the CPU simulates one.
func elsewhere(testing.TB) device.Backend { return devicetest.SeparateMemory(device.CPU()) }

func TestOpenWithoutTheTag(t *testing.T) {
	b, err := cuda.Open(cuda.Device(1))
	if b != nil || !errors.Is(err, device.ErrUnavailable) {
		t.Errorf("%v, %v: want device.ErrUnavailable", b, err)
	}
}
