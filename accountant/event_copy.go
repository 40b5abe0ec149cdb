package accountant

import (
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/internal/param"
)

// Own returns a copy of an event and the copy's canonical text. The copy equals the event that
// [UnmarshalEvent] reads from that text, so a ledger prices what its file says.
//
// Errors: *param.Error for an invalid event, for a type that is not one of this package's events,
// such as a pointer, and for events that are too long or nested too deep to be read.
func Own(e Event) (Event, string, error) {
	own, err := copied(e, 0)
	if err != nil {
		return nil, "", err
	}
	key, err := eventKey(own)
	return own, key, errors.Join(err, checkNesting(key))
}

// copied returns a copy that shares no memory with e, an event at the given depth of another one.
func copied(e Event, depth int) (Event, error) {
	switch {
	case depth > maxEventDepth:
		return nil, tooDeep(depth)
	case e == nil: // check returns an error for the event around it
		return nil, nil
	case !known(e):
		return nil, param.New("accountant.Event", fmt.Sprintf("a %T", e),
			"a value of one of this package's types, not a pointer and not a type that embeds one")
	}
	return clone(e, func(p Event) (Event, error) { return copied(p, depth+1) })
}

// cloneAll returns inside(p) for every event p; see clone.
func cloneAll(events []Event, inside func(Event) (Event, error)) ([]Event, error) {
	var out []Event
	for _, e := range events {
		c, err := inside(e)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

func tooDeep(depth int) error {
	return param.New("accountant.Event", depth,
		fmt.Sprintf("events nested at most %d deep", maxEventDepth))
}
