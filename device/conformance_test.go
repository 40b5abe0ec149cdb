package device_test

import (
	"flag"
	"math"
	"slices"
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

// TestUnitsAreTakenOnce: the units that the host takes from a device are no longer there, and a
// record of weight 0 has added none, whatever it holds.
func TestUnitsAreTakenOnce(t *testing.T) {
	for _, be := range []device.Backend{device.CPU(), devicetest.SeparateMemory(device.CPU())} {
		f, ok := device.FixedSums(be)
		if !ok {
			t.Fatalf("%s has no sums in fixed point", be.Name())
		}
		matrix := func(rows, cols int, v ...float32) device.Matrix {
			m := be.New(rows, cols)
			be.Upload(m, v)
			return m
		}
		shapes := []device.Shape{{Rows: 1, Cols: 2}, {Rows: 2, Cols: 1}}
		sum, host := device.NewFixed(be, shapes...), device.NewFixed(device.CPU(), shapes...)
		sum.Unit, sum.Chain, sum.Limit, host.Unit = 0x1p-10, 4, 1, 0x1p-10
		one, nan := device.Odd(1), float32(math.NaN())
		f.AddFixedRows([]float32{one, 0}, matrix(2, 2, 0.25, 0.5, 0.75, 1), sum.Block(0))
		f.AddFixedBlocks([]float32{0, one}, 1, matrix(2, 2, nan, 1, 0.5, 0.125), matrix(2, 1, 1, 0.5),
			sum.Block(1))
		want := []int32{256, 512, 256, 64}
		for range 2 {
			host.Take(sum, 0, len(want))
			if !slices.Equal(host.Units, want) {
				t.Errorf("%s: the host has %v, want %v", be.Name(), host.Units, want)
			}
		}
	}
}
