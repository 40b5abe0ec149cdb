package accountant

import (
	"errors"
	"reflect"
	"testing"

	"github.com/seed7ba64551/privgen/internal/param"
)

// allEvents returns at least one event of every kind, with every slice filled.
func allEvents() []Event {
	out := []Event{
		OneOf{[]Event{Gaussian{2}, SameBatch{[]float64{2, 3}}}},
		Disjoint{Parts: []Event{Gaussian{1}, Laplace{2}},
			Moving: []Event{Gaussian{3}, SameBatch{[]float64{4}}}},
		Curve{"two", []float64{-1, 1}, []float64{0.7, 0.1}, []float64{0.8, 0.2}},
	}
	for _, x := range everyEvent() {
		out = append(out, x.e)
	}
	for _, e := range out[:len(out):len(out)] {
		out = append(out, Composed{[]Event{Repeated{e, 2}, PoissonSampled{0.5, e}}})
	}
	return out
}

// TestOwnedIsWhatTheFileSays: the copy that a ledger keeps is the event that its text describes.
func TestOwnedIsWhatTheFileSays(t *testing.T) {
	kinds := map[string]bool{}
	for _, e := range allEvents() {
		kinds[e.kind()] = true
		own, key, err := Own(e)
		if err != nil {
			t.Fatalf("%s: %v", Describe(e), err)
		}
		read, err := UnmarshalEvent([]byte(key))
		if err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		if !reflect.DeepEqual(own, read) {
			t.Errorf("the copy is %#v, its text %s", own, key)
		}
		if want := must[string](t)(eventKey(e)); key != want {
			t.Errorf("the copy's text is %s, want %s", key, want)
		}
	}
	if len(kinds) != len(eventTypes) {
		t.Errorf("%d kinds of events, want all %d", len(kinds), len(eventTypes))
	}
}

// TestOwnedSharesNothing: a caller that changes its event does not change the ledger's copy.
func TestOwnedSharesNothing(t *testing.T) {
	for _, e := range allEvents() {
		own, _, err := Own(e)
		if err != nil {
			t.Fatal(err)
		}
		theirs := map[uintptr]bool{}
		for _, p := range slicesOf(reflect.ValueOf(&e)) {
			theirs[p] = true
		}
		for _, p := range slicesOf(reflect.ValueOf(&own)) {
			if theirs[p] {
				t.Errorf("the copy shares a slice with %#v", e)
			}
		}
	}
}

// slicesOf returns the address of each slice that v contains and that is not empty.
func slicesOf(v reflect.Value) (out []uintptr) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return slicesOf(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			out = append(out, slicesOf(v.Field(i))...)
		}
	case reflect.Slice:
		if v.Len() > 0 {
			out = append(out, v.Pointer())
		}
		for i := range v.Len() {
			out = append(out, slicesOf(v.Index(i))...)
		}
	}
	return out
}

// TestOwnedRefuses: a ledger takes no event that its file cannot hold, and none of another type.
func TestOwnedRefuses(t *testing.T) {
	nested := func(n int) Event {
		e := Event(Gaussian{3})
		for range n {
			e = Composed{[]Event{e}}
		}
		return e
	}
	_, key, err := Own(nested(maxEventDepth))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := UnmarshalEvent([]byte(key)); err != nil {
		t.Errorf("the ledger keeps an event that its file cannot hold: %v", err)
	}
	type embeds struct{ Gaussian }
	for name, e := range map[string]Event{"nested too deep": nested(maxEventDepth + 1),
		"a pointer": &Gaussian{1}, "a nil pointer": (*Gaussian)(nil), "an embedded event": embeds{},
		"a pointer within": Repeated{&Gaussian{1}, 2}, "nothing within": Repeated{nil, 2},
		"nothing in a list": OneOf{[]Event{Gaussian{1}, nil}}} {
		_, _, err := Own(e)
		if wrong := (*param.Error)(nil); !errors.As(err, &wrong) {
			t.Errorf("%s: got %v, want a *param.Error", name, err)
		}
		if _, err := MarshalEvent(e); err == nil || EqualEvents(e, e) {
			t.Errorf("%s: written, or equal to itself: %v", name, err)
		}
	}
}
