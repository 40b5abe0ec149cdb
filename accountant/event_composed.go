package accountant

import (
	"errors"
	"fmt"
	"strings"
)

// Composed is all Events on the same records, in any order. An empty list releases nothing.
type Composed struct {
	Events []Event `json:"events"`
}

func (e Composed) check() error {
	var errs []error
	for i, p := range e.Events {
		errs = append(errs, inner(fmt.Sprintf("accountant.Composed.Events[%d]", i), p))
	}
	return errors.Join(errs...)
}

func (Composed) kind() string { return "composed" }

func (e Composed) describe() string { return describeAll(e.Events, " then ") }

func (e Composed) sampling() sampling { return samplingOf(e.Events...) }

func (e Composed) charge(c *collector, n int) error {
	for _, p := range e.Events {
		if err := c.add(p, n); err != nil {
			return err
		}
	}
	return nil
}

func (e Composed) dpAccounting(r Relation) (string, error) {
	var parts []string
	for _, p := range e.Events {
		s, err := dpName(p, r)
		if err != nil {
			return "", err
		}
		parts = append(parts, s)
	}
	return dpCall("ComposedDpEvent", "events", "["+strings.Join(parts, ", ")+"]"), nil
}
