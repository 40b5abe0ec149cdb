package accountant

import (
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
