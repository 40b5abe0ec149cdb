package network_test

import (
	"reflect"
	"testing"

	"github.com/seed7ba64551/privgen/internal/network"
)

type layer struct {
	Widths []int
	inside []int
}

type kernel interface{ is() }

type sum struct {
	Parts []kernel
	One   kernel
	At    *layer
	None  []int
}

func (sum) is()   {}
func (layer) is() {}

// TestOwn: at every depth, the copy shares no slice in an exported field. Everything else is
// unchanged.
func TestOwn(t *testing.T) {
	make1 := func() sum {
		return sum{Parts: []kernel{layer{Widths: []int{1, 2}}, nil}, One: layer{[]int{3}, []int{4}},
			At: &layer{Widths: []int{5}}}
	}
	given := make1()
	got := network.Own(kernel(given)).(sum)
	if !reflect.DeepEqual(got, given) || got.At != given.At || got.None != nil {
		t.Errorf("%+v, want %+v", got, given)
	}
	given.Parts[0].(layer).Widths[0], given.One.(layer).Widths[0] = 9, 9
	given.Parts[1] = given
	want := make1()
	want.At = given.At
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v after a change, want %+v", got, want)
	}
	if network.Own(kernel(nil)) != nil {
		t.Error("Own of a nil interface is not nil")
	}
}
