package records_test

import (
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/records"
)

// Data of kinds that hold no list of numbers.
type (
	byFunc  func(row int) [2]float32
	byMap   map[int]float32
	byChan  chan []float32
	calling struct{ at func(row int) [2]float32 }
	member  struct {
		name string
		age  float32
	}
	crowd struct {
		list []member
		zone *time.Location
	}
)

var plane = records.Interval(2, 0, 1)

func (byFunc) Schema() records.Schema         { return plane }
func (byFunc) Len() int                       { return 1 }
func (byFunc) Gather([]int32, *device.Batch)  {}
func (byFunc) Range(int, int, *device.Batch)  {}
func (byMap) Schema() records.Schema          { return plane }
func (byMap) Len() int                        { return 1 }
func (byMap) Gather([]int32, *device.Batch)   {}
func (byMap) Range(int, int, *device.Batch)   {}
func (byChan) Schema() records.Schema         { return plane }
func (byChan) Len() int                       { return 1 }
func (byChan) Gather([]int32, *device.Batch)  {}
func (byChan) Range(int, int, *device.Batch)  {}
func (calling) Schema() records.Schema        { return plane }
func (calling) Len() int                      { return 1 }
func (calling) Gather([]int32, *device.Batch) {}
func (calling) Range(int, int, *device.Batch) {}
func (crowd) Schema() records.Schema          { return plane }
func (crowd) Len() int                        { return 1 }
func (crowd) Gather([]int32, *device.Batch)   {}
func (crowd) Range(int, int, *device.Batch)   {}

// reading returns data of rows through a function, as a constructor of a package would.
//
//go:noinline
func reading(rows [][2]float32) calling {
	return calling{func(i int) [2]float32 { return rows[i] }}
}

// TestOverlapOfOtherKinds checks data of every kind, also in the wrapper that each run puts around
// its records.
func TestOverlapOfOtherKinds(t *testing.T) {
	rows, others := [][2]float32{{1, 2}}, [][2]float32{{1, 2}}
	list, zone := []member{{"a", 1}, {"b", 2}}, time.Local
	for name, c := range map[string]struct{ private, view, other records.Data }{
		"a function":           {byFunc(reading(rows).at), nil, byFunc(reading(others).at)},
		"a map":                {byMap{1: 2}, nil, byMap{1: 2}},
		"a channel":            {make(byChan), nil, make(byChan)},
		"a field of functions": {reading(rows), nil, reading(others)},
		"a list with texts": {crowd{list, zone}, crowd{list[1:], zone},
			crowd{[]member{{"a", 1}}, zone}},
	} {
		if c.view == nil {
			c.view = c.private
			if f, ok := c.private.(byFunc); ok {
				c.view = f
			}
		}
		for how, d := range map[string]records.Data{"": c.private,
			", clamped": records.Clamped(c.private), ", of users": records.WithUnit(c.private, "user")} {
			check(t, d, view{name + how, c.view, true}, view{name + how + ", wrapped",
				wrapped{c.view}, true}, view{"not " + name + how, c.other, false},
				view{"not " + name + how + ", wrapped", &wrapped{c.other}, false})
		}
	}
}

// nested is data whose type leads to itself.
type nested struct {
	rows
	list recursive
}

type recursive []recursive

// TestOverlapEnds checks a list that contains itself, twice.
func TestOverlapEnds(t *testing.T) {
	list := recursive{nil, nil}
	list[0], list[1] = list, list
	d := nested{rows{plane, [][]float32{{1, 2}}, nil}, list}
	start := time.Now()
	check(t, d, view{"itself", d, true})
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}

// Structures that embed data in other ways than by a field of type records.Data.
type (
	inner     struct{ records.Data }
	byValue   struct{ inner }
	byPointer struct{ *inner }
	named     = records.Data
	byAlias   struct{ named }
)

// TestEmbeddedDataKeepTheirUnit checks every way to embed data of users.
func TestEmbeddedDataKeepTheirUnit(t *testing.T) {
	users := records.WithUnit(must(records.FromFlat(plane, []float32{.1, .2}))(t), records.UnitUser)
	for name, d := range map[string]records.Data{"by value": byValue{inner{users}},
		"by pointer": byPointer{&inner{users}}, "by an alias": byAlias{users},
		"a pointer": &byPointer{&inner{users}}} {
		if got := records.UnitOf(d); got != records.UnitUser {
			t.Errorf("%s: got unit %q, want %q", name, got, records.UnitUser)
		}
	}
	for name, d := range map[string]records.Data{"nothing": byValue{}, "nil": byPointer{},
		"no data": inner{}} {
		if got := records.UnitOf(d); got != records.UnitRecord {
			t.Errorf("%s: got unit %q, want %q", name, got, records.UnitRecord)
		}
	}
}
