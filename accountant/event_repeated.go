package accountant

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed7ba64551/privgen/internal/param"
)

// Repeated is Count adaptive uses of Event.
type Repeated struct {
	Event Event `json:"event"`
	Count int   `json:"count"`
}

func (e Repeated) check() error {
	return errors.Join(inner("accountant.Repeated.Event", e.Event),
		positiveInt("accountant.Repeated.Count", e.Count))
}

func (Repeated) kind() string { return "repeated" }

func (e Repeated) describe() string {
	return fmt.Sprintf("%d × [%s]", e.Count, Describe(e.Event))
}

// repeatedJSON is the event in JSON; E is the event inside.
type repeatedJSON[E any] struct {
	Event E   `json:"event"`
	Count int `json:"count"`
}

func (e Repeated) fields() any {
	return repeatedJSON[eventJSON]{eventJSON{e.Event}, e.Count}
}

func (Repeated) read(body []byte, depth int) (Event, error) {
	w, err := readFields[repeatedJSON[json.RawMessage]](body)
	if err != nil {
		return nil, err
	}
	e, err := decodeEvent(w.Event, depth)
	return Repeated{e, w.Count}, err
}

func (e Repeated) clone(inside func(Event) (Event, error)) (Event, error) {
	var err error
	e.Event, err = inside(e.Event)
	return e, err
}

func (e Repeated) sampling() sampling { return samplingOf(e.Event) }

func (e Repeated) charge(c *collector, n int) error {
	if e.Count > maxCount/n {
		return param.New("accountant.Repeated.Count", e.Count, "at most math.MaxInt/4 uses in total")
	}
	return c.add(e.Event, n*e.Count)
}

func (e Repeated) dpAccounting(r Relation) (string, error) {
	return dpAround(e.Event, r, func(s string) string {
		if strings.Contains(s, "RandomizedResponse") { // dp_accounting 0.6 ignores its count
			return dpCall("ComposedDpEvent", "events", "["+s+"] * "+strconv.Itoa(e.Count))
		}
		return dpCall("SelfComposedDpEvent", "event", s, "count", strconv.Itoa(e.Count))
	})
}
