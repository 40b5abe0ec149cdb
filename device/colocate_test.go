package device_test

import (
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/device/devicetest"
)

func TestColocate(t *testing.T) {
	here := device.CPU()
	there := devicetest.SeparateMemory(here)
	m := device.HostMatrix(2, 3, []float32{1, 2, 3, 4, 5, 6}).Slice(0, 2, 1, 3)
	if got := device.Colocate(here, m, here.New(1, 1)); &got.Data[0] != &m.Data[0] {
		t.Error("a host matrix is copied for a backend that can read it")
	}
	far := device.Colocate(there, m, there.New(1, 1))
	got := make([]float32, 4)
	there.Download(got, far)
	if far.Mem == nil || !slices.Equal(got, []float32{2, 3, 5, 6}) {
		t.Errorf("the device holds %v, want [2 3 5 6]", got)
	}
	if again := device.Colocate(there, far, there.New(1, 1)); again.Mem != far.Mem {
		t.Error("a matrix that is already on the device is copied")
	}
	if empty := device.Colocate(there, device.HostMatrix(0, 3, nil), far); empty.Rows != 0 ||
		empty.Cols != 3 {
		t.Errorf("%v for an empty matrix, want 0×3", empty)
	}
}
