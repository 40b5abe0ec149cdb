//go:build !cuda || !cgo

package cuda

import (
	"fmt"

	"github.com/seed7ba64551/privgen/device"
)

func open(settings) (device.Backend, error) {
	return nil, fmt.Errorf("cuda: this build does not include CUDA; build with cgo and -tags cuda: %w",
		device.ErrUnavailable)
}
