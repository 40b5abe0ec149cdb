package compose

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

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

// statesOf returns a run with the given states of its parts.
func statesOf(states ...*synth.File) *run {
	return &run{frame: &frame{plans: make([]synth.Plan, len(states))}, states: states}
}

// TestStates writes and restores states of which some are missing or have no sections, with and
// without a state of the composition itself.
func TestStates(t *testing.T) {
	for _, r := range []*run{
		statesOf(nil, nil),
		statesOf(stateOf(1, 2), nil, stateOf(3, 0)),
		statesOf(nil, stateOf(2, 1), stateOf(3, 3)),
		statesOf(stateOf(1, 0)),
	} {
		for _, own := range []func() (any, []synth.Part){nil, func() (any, []synth.Part) {
			list := []float32{7}
			return changingJSON{3}, []synth.Part{synth.FloatsPart("own", &list, 1)}
		}} {
			r.own = own
			f := must(r.file())(t)
			back := statesOf(make([]*synth.File, len(r.states))...)
			if err := back.restore(f); err != nil {
				t.Fatal(err)
			}
			if (back.saved == nil) != (own == nil) {
				t.Errorf("the own state is %v", back.saved)
			}
			for i, want := range r.states {
				got := back.states[i]
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
			more := statesOf(make([]*synth.File, len(r.states)+1)...)
			if err := more.restore(f); !errors.Is(err, synth.ErrFormat) {
				t.Errorf("one state more: got %v, want ErrFormat", err)
			}
		}
	}
	none := statesOf(nil, nil)
	if err := none.restore(nil); err != nil || none.states[0] != nil || none.states[1] != nil {
		t.Errorf("no file: got %v, error %v, want two missing states", none.states, err)
	}
}

// TestHostileStates checks that numbers of sections that a file does not have are errors, and
// sections of a part or a composition without a state.
func TestHostileStates(t *testing.T) {
	for header, good := range map[string]bool{
		`{"parts":[{"has_state":true,"sections":1},{"has_state":true,"sections":0}]}`:       true,
		`{"own":{},"sections":1,"parts":[{},{}]}`:                                           true,
		`{"parts":[{"has_state":true,"sections":2},{"has_state":true,"sections":0}]}`:       false,
		`{"parts":[{"has_state":true,"sections":-1},{"has_state":true,"sections":1}]}`:      false,
		`{"parts":[{"has_state":true,"sections":1},{"sections":9223372036854775807}]}`:      false,
		`{"parts":[{"has_state":false,"sections":1},{"has_state":true,"sections":0}]}`:      false,
		`{"parts":[{"has_state":true,"sections":0},{"has_state":true,"sections":0}]}`:       false,
		`{"sections":1,"parts":[{},{}]}`:                                                    false,
		`{"own":{},"sections":-1,"parts":[{"has_state":true,"sections":1},{"sections":0}]}`: false,
		`{"parts":7}`: false, `{}`: false, ``: false,
	} {
		f := &synth.File{Header: json.RawMessage(header), Sections: stateOf(1, 1).Sections}
		err := statesOf(nil, nil).restore(f)
		if good && err != nil || !good && !errors.Is(err, synth.ErrFormat) {
			t.Errorf("%s: got %v", header, err)
		}
	}
	for _, n := range []int{-1, 2} {
		f := must(synth.NewFile(modelsJSON{Models: []modelJSON{{System: "merf", Sections: n}}}))(t)
		f.Sections = stateOf(1, 1).Sections
		if _, err := labelsKind().readModel(f, synth.Loading{}, nil); !errors.Is(err, synth.ErrFormat) {
			t.Errorf("a model of %d sections: got %v, want ErrFormat", n, err)
		}
	}
}
