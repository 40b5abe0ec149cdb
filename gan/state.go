package gan

import (
	"encoding/json"
	"errors"
	"math"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/artefact"
	"github.com/seed7ba64551/privgen/internal/system"
)

const (
	sectionCritic    = "critic"
	sectionTrainer   = "critic training"
	sectionLearner   = "generator training"
	sectionAverage   = "generator average"
	sectionRandom    = "public randomness"
	sectionGenerator = "generator"
	sectionNorms     = "generator state"
)

func (k *keeper) encode(spent int) (*artefact.File, error) {
	r := k.r
	ledger, err := k.ledger(spent)
	if err != nil {
		return nil, err
	}
	event, err := accountant.MarshalEvent(r.trainer.Event())
	if err != nil {
		return nil, err
	}
	h := checkpointHeader{Plan: k.hash, Token: k.token, Step: k.step, Event: event, Ledger: ledger, Pace: r.pace, Learned: r.learner.steps}
	if r.loss != nil {
		h.Bound = r.loss.bound
	}
	if r.grouped != nil {
		h.Groups = r.grouped.last
	}
	head, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	random, err := r.source.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return &artefact.File{Kind: checkpointKind, Header: head, Sections: []artefact.Section{
		{Name: sectionCritic, Data: system.Floats(r.backend, r.critic.Params())},
		{Name: sectionTrainer, Data: r.trainer.AppendState(nil)},
		{Name: sectionGenerator, Data: artefact.Floats32(r.learner.params)},
		{Name: sectionNorms, Data: r.learner.net.AppendState(nil)},
		{Name: sectionLearner, Data: r.learner.descent.AppendState(nil)},
		{Name: sectionAverage, Data: artefact.Floats32(r.learner.average)},
		{Name: sectionRandom, Data: random},
	}}, nil
}

// restore puts a checkpoint's state into a run of the same plan.
func (r *run) restore(c *Checkpoint) error {
	r.keeper.goOn(c)
	rule := r.pace.rule
	r.pace = c.header.Pace
	r.pace.rule = rule
	r.learner.steps = c.header.Learned
	if r.loss != nil && c.header.Bound >= 0 && !math.IsInf(c.header.Bound, 0) {
		r.loss.bound = c.header.Bound
	}
	if r.grouped != nil {
		r.grouped.last = c.header.Groups // sgd judges them as it does any
	}
	return r.restoreNumbers(c.file)
}

// restoreNumbers reads what encode wrote beside the header.
func (r *run) restoreNumbers(file *artefact.File) error {
	var errs []error
	section := func(name string, use func([]byte) error) {
		data, err := file.Section(name)
		if err == nil {
			err = use(data)
		}
		errs = append(errs, err)
	}
	section(sectionCritic, func(b []byte) error {
		flat, err := artefact.ReadFloats32(b, r.critic.Params().Len())
		if err == nil {
			r.backend.Upload(r.critic.Params().Flat, flat)
		}
		return err
	})
	section(sectionTrainer, r.trainer.SetState)
	section(sectionLearner, r.learner.descent.SetState)
	section(sectionNorms, r.learner.net.SetState)
	section(sectionRandom, r.source.UnmarshalBinary)
	section(sectionAverage, func(b []byte) error { return readInto(r.learner.average, b) })
	section(sectionGenerator, func(b []byte) error {
		err := readInto(r.learner.params, b)
		r.backend.Upload(r.learner.net.Params().Flat, r.learner.params)
		return err
	})
	if err := errors.Join(errs...); err != nil {
		return malformed(err)
	}
	return nil
}

func readInto(dst []float32, data []byte) error {
	values, err := artefact.ReadFloats32(data, len(dst))
	copy(dst, values)
	return err
}
