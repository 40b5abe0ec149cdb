package sgd_test

import (
	"errors"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

// ends panics at every read.
type ends struct{ records.Data }

func (ends) Gather([]int32, *device.Batch) { panic("7") }
func (ends) Range(int, int, *device.Batch) { panic("7") }
