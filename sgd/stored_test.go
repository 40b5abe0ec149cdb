package sgd_test

import (
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// falling is a device that fails when it gets a part of a table, after as many parts as left says.
type falling struct {
	roomy
	left *int
}

func (b falling) Upload(dst device.Matrix, src []float32) {
	if len(src) > 1000 {
		if *b.left--; *b.left == -1 {
			panic("a device fails")
		}
	}
	b.roomy.Upload(dst, src)
}

// loops takes one step in each of four loops over a table and changes the table after the second.
// It returns the parameters, and the number of loops in which the device failed.
func loops(t *testing.T, be device.Backend, table, then *records.Table) (x []float32, failed int) {
	t.Helper()
	own, cfg, net := *table, with(nil, .05, 12), encoder(t, be, 3)
	cfg.MicroBatch = 100
	trainer, err := sgd.New(cfg, net, ledger.New(budget(1e9)), sgd.WithBackend(be))
	if err != nil {
		t.Fatal(err)
	}
	tap := &recorder{seed: 4}
	once := func() {
		defer func() {
			if recover() != nil {
				failed++
			}
		}()
		for _, err := range trainer.Steps(tap.context(t.Context()), &own) {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	for i := 0; i < 4+failed; i++ {
		if i == 2+failed {
			own = *then
		}
		once()
	}
	x = make([]float32, net.Params().Len())
	be.Download(x, net.Params().Flat)
	return x, failed
}

// TestRecordsOnADeviceAreThoseOfTheLoop: steps have the CPU's bits if a device fails in the middle
// of a copy, and if a table becomes another one, with fewer, as many or more records.
func TestRecordsOnADeviceAreThoseOfTheLoop(t *testing.T) {
	first := table(t, 9000, 3, .5)
	for _, n := range []int{5000, 9000, 13000} {
		then := table(t, n, 3, .1)
		want, _ := loops(t, device.CPU(), first, then)
		for _, parts := range []int{0, 1, 2, 3, 4, 9} { // 9 are more than both tables have
			left := parts
			got, failed := loops(t, falling{newRoomy(1 << 40), &left}, first, then)
			if !slices.Equal(got, want) || (failed == 1) != (parts < 9) {
				t.Errorf("%d records, failing after %d parts: other bits than on the CPU, %d failures", n,
					parts, failed)
			}
		}
	}
}
