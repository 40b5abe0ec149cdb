package bundle_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/seed7ba64551/privgen/internal/bundle"
	"github.com/seed7ba64551/privgen/synth"
)

// stateOf returns a state with n sections that tell its number.
func stateOf(number, n int) *synth.File {
	f := &synth.File{Header: json.RawMessage(fmt.Sprintf(`{"number":%d}`, number))}
	for i := range n {
		f.Sections = append(f.Sections,
			synth.Section{Name: fmt.Sprintf("s%d", i), Data: []byte{byte(number), byte(i)}})
	}
	return f
}

// TestStates writes and restores states of which some are missing or have no sections.
func TestStates(t *testing.T) {
	for _, s := range []bundle.States{
		{nil, nil},
		{stateOf(1, 2), nil, stateOf(3, 0)},
		{nil, stateOf(2, 1), stateOf(3, 3)},
		{stateOf(1, 0)},
	} {
		f, err := s.File("kind")
		if err != nil || f.Kind != "kind" {
			t.Fatalf("%v: kind %q, error %v", s, f.Kind, err)
		}
		back, err := bundle.Restore(f, len(s))
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range s {
			got := back[i]
			if (got == nil) != (want == nil) {
				t.Fatalf("state %d: got %v, want %v", i, got, want)
			}
			if want == nil {
				continue
			}
			same := fmt.Sprint(got.Sections) == fmt.Sprint(want.Sections)
			if !same || !bytes.Equal(got.Header, want.Header) {
				t.Errorf("state %d: got %s %v, want %s %v", i, got.Header, got.Sections, want.Header,
					want.Sections)
			}
		}
		if _, err := bundle.Restore(f, len(s)+1); !errors.Is(err, synth.ErrFormat) {
			t.Errorf("one state more: got %v, want ErrFormat", err)
		}
	}
	none, err := bundle.Restore(nil, 2)
	if err != nil || len(none) != 2 || none[0] != nil || none[1] != nil {
		t.Errorf("no file: got %v, error %v, want two missing states", none, err)
	}
}

// TestHostileStates checks that numbers of sections that a file does not have are errors.
func TestHostileStates(t *testing.T) {
	for _, header := range []string{
		`{"parts":[{"kept":true,"sections":2},{"kept":true,"sections":0}]}`,
		`{"parts":[{"kept":true,"sections":-1},{"kept":true,"sections":1}]}`,
		`{"parts":[{"kept":true,"sections":1},{"kept":true,"sections":9223372036854775807}]}`,
		`{"parts":7}`, `{}`, ``,
	} {
		f := &synth.File{Header: json.RawMessage(header), Sections: stateOf(1, 1).Sections}
		if _, err := bundle.Restore(f, 2); !errors.Is(err, synth.ErrFormat) {
			t.Errorf("%s: got %v, want ErrFormat", header, err)
		}
	}
	for _, n := range []int{-1, 2} {
		models := []bundle.Model{{System: "merf", Sections: n}}
		_, _, err := bundle.Decode(models, stateOf(1, 1).Sections, synth.Loading{}, nil)
		if !errors.Is(err, synth.ErrFormat) {
			t.Errorf("a model of %d sections: got %v, want ErrFormat", n, err)
		}
	}
}
