package device_test

import (
	"flag"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/device/devicetest"
)

var long = flag.Bool("long", false, "check a backend whose memory is not the host's, too")

func TestConformance(t *testing.T) {
	for _, b := range device.Levels(2) {
		t.Run(b.Name(), func(t *testing.T) { devicetest.Run(t, b) })
	}
}

func TestConformanceApart(t *testing.T) {
	if !*long {
		t.Skip("see -long")
	}
	devicetest.Run(t, devicetest.SeparateMemory(device.CPUWith(2)))
}

// FuzzProduct searches for shapes for which products are wrong.
func FuzzProduct(f *testing.F) {
	for _, s := range [][3]int{{1, 1, 1}, {6, 16, 9}, {14, 32, 3}, {15, 33, 400}, {0, 3, 3},
		{7, 2, 40}, {61, 9, 0}} {
		f.Add(uint8(s[0]), uint8(s[1]), uint16(s[2]), uint8(s[0]), uint64(1))
	}
	backends := device.Levels(2)
	f.Fuzz(func(t *testing.T, m, n uint8, k uint16, form uint8, seed uint64) {
		for _, b := range backends {
			devicetest.Product(t, b, int(m), int(n), int(k%1024), form, seed)
		}
	})
}
