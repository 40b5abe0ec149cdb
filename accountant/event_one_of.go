package accountant

import (
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/internal/param"
)

// OneOf is one of Events. The choice may depend on chance and on earlier releases. It must not
// depend on the records in any other way. Each divergence and each δ of a OneOf is priced as the
// largest among Events.
//
// The choice may be released. If chance decides, the hockey-stick curve is a mean over Events, and
// so is exp((λ−1)·D) for the divergence D of each order λ. If earlier releases decide, the curve
// and the divergences are the chosen event's own. The pointwise maximum over Events bounds both
// cases.
type OneOf struct {
	Events []Event `json:"events"`
}

func (e OneOf) check() error {
	var errs []error
	if len(e.Events) == 0 {
		errs = append(errs, param.New("accountant.OneOf.Events", 0, "at least one event"))
	}
	for i, p := range e.Events {
		errs = append(errs, inner(fmt.Sprintf("accountant.OneOf.Events[%d]", i), p))
	}
	return errors.Join(errs...)
}

func (OneOf) kind() string { return "one_of" }

func (e OneOf) describe() string { return "one of: " + describeAll(e.Events, " | ") }

func (e OneOf) sampling() sampling { return samplingOf(e.Events...) }

// charge reduces a choice to terms. Each use may choose another event, and the choice may depend on
// earlier releases. So every use pays for the worst event.
func (e OneOf) charge(c *collector, n int) error {
	var list [][]term
	for _, p := range e.Events {
		alts, err := c.reduce(p, c.relation)
		if err != nil {
			return err
		}
		list = append(list, alts...)
	}
	return c.choose(list, n, false)
}

func (e OneOf) dpAccounting(Relation) (string, error) { return notInDPAccounting(e) }
