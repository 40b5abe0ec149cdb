package compose

import (
	"errors"
	"fmt"

	"github.com/seed7ba64551/privgen/synth"
)

// kinds lists the kinds of compositions whose files can be read, by level.
func kinds() []kind {
	return []kind{ranksKind(), poolKind(), labelsKind(), changesKind(), levelsKind(),
		linkedKind()}
}

// Systems returns the systems of this package, for reading their files. Their parts are of the
// given systems or, as the package documentation says, compositions of them.
func Systems(of synth.Systems) (list synth.Systems) {
	within := of
	for _, k := range kinds() {
		list = append(list, k.system(within))
		within = append(within[:len(within):len(within)], list[len(list)-1])
	}
	return list
}

// system returns the functions that read files of a composition. The argument lists the systems of
// its parts.
func (k kind) system(of synth.Systems) synth.System {
	return synth.System{Name: k.name,
		Plan: func(s synth.SavedPlan) (synth.Plan, error) { return k.readPlan(s, of) },
		Model: func(f *synth.File, l synth.Loading) (synth.Model, error) {
			return k.readModel(f, l, of)
		}}
}

// readPlan reads the parts' plans, and then plans the composition of them. The parts share the
// limits for files.
func (k kind) readPlan(s synth.SavedPlan, of synth.Systems) (synth.Plan, error) {
	var j planJSON
	if err := s.Decode(&j); err != nil {
		return nil, err
	}
	if err := k.checkParts(len(j.Plans)); err != nil {
		return nil, err
	}
	limits, ok := s.Limits.Share(len(j.Plans) + k.networks)
	if !ok {
		return nil, synth.Malformed(errors.New("too many systems within each other"))
	}
	want := s.Schema
	if k.reads != nil {
		var err error
		if want, err = k.reads(s.Schema); err != nil {
			return nil, synth.Malformed(err)
		}
	}
	var plans []synth.Plan
	for _, text := range j.Plans {
		p, err := of.ReadPlan(text, synth.WithLimits(limits))
		if err != nil {
			return nil, err
		}
		if !k.apart && !p.Schema().Equal(want) {
			return nil, synth.Malformed(synth.ErrSchema)
		}
		plans = append(plans, p)
	}
	s.Config = j.Settings
	d, err := k.design(s, plans)
	if err != nil {
		return nil, err
	}
	return d.PlanFor(s.Schema, s.Budget)
}

// checkParts returns an error for a number of parts that no composition of this kind has.
func (k kind) checkParts(n int) error {
	if n < k.least || n > k.most {
		return synth.Malformed(fmt.Errorf("%d systems, want %d to %d", n, k.least, k.most))
	}
	return nil
}

// fixed returns the designs of plans.
func fixed(plans []synth.Plan) (list []synth.Design) {
	for _, p := range plans {
		list = append(list, Fixed(p))
	}
	return list
}
