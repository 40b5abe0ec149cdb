package gan

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
)

// stateHeader is a run between two critic steps, but for its numbers: released values, public
// randomness and counts.
type stateHeader struct {
	Done    int         `json:"done"`    // critic steps behind the state
	Learned int         `json:"learned"` // generator steps
	Pace    pace        `json:"pace"`
	Bound   float64     `json:"bound"`            // of fakes
	Groups  []sgd.Group `json:"groups,omitempty"` // that are kept from the first step
}

const (
	sectionCritic    = "critic"
	sectionTrainer   = "critic training"
	sectionLearner   = "generator training"
	sectionAverage   = "generator average"
	sectionRandom    = "public randomness"
	sectionGenerator = "generator"
	sectionNorms     = "generator state"
)

// state is what a checkpoint keeps of the run.
func (r *run) state() (*synth.File, error) {
	h := stateHeader{Done: r.done, Learned: r.learner.steps, Pace: r.pace}
	if r.loss != nil {
		h.Bound = r.loss.bound
	}
	if r.keepsGroups() {
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
	return &synth.File{Kind: system, Header: head, Sections: []synth.Section{
		{Name: sectionCritic, Data: network.Floats(r.Backend, r.critic.Params().Flat)},
		{Name: sectionTrainer, Data: r.trainer.AppendState(nil)},
		{Name: sectionGenerator, Data: synth.Floats32(r.learner.params)},
		{Name: sectionNorms, Data: r.learner.net.AppendState(nil)},
		{Name: sectionLearner, Data: r.learner.descent.AppendState(nil)},
		{Name: sectionAverage, Data: synth.Floats32(r.learner.average)},
		{Name: sectionRandom, Data: random},
	}}, nil
}

// keepsGroups reports whether later steps need the clip groups of earlier ones.
func (r *run) keepsGroups() bool { return r.config.Clipping.Adaptive && r.config.Clipping.Kept }

// restore goes on from a state of the same plan.
//
// Errors: synth.ErrFormat.
func (r *run) restore(f *synth.File) error {
	var h stateHeader
	if err := json.Unmarshal(f.Header, &h); err != nil {
		return malformed(err)
	}
	if err := r.checkHeader(h); err != nil {
		return malformed(err)
	}
	rule := r.pace.rule
	r.done, r.learner.steps, r.pace = h.Done, h.Learned, h.Pace
	r.pace.rule = rule
	if r.loss != nil {
		r.loss.bound = h.Bound
	}
	if r.keepsGroups() && h.Groups != nil {
		r.grouped.last = h.Groups
	}
	return r.restoreNumbers(f)
}

// checkHeader refuses numbers that no run has written.
func (r *run) checkHeader(h stateHeader) error {
	var k param.Checker
	const path = "gan.checkpoint."
	p, steps := h.Pace, r.config.Train.Steps
	k.OK(h.Done >= 0 && h.Done <= steps, path+"done", h.Done,
		fmt.Sprintf("a number from 0 to %d", steps))
	k.OK(h.Learned >= 0, path+"learned", h.Learned, "a number of steps")
	k.OK(p.Critic > 0 && p.Since >= 0 && p.Waited >= 0 && p.Seen >= 0, path+"pace", p.Critic,
		"numbers of steps")
	k.OK(p.Accuracy >= 0 && p.Accuracy <= 1, path+"pace.accuracy", p.Accuracy, "a number in [0, 1]")
	k.OK(h.Bound >= 0 && h.Bound <= math.MaxFloat64, path+"bound", h.Bound, "a clip norm")
	if r.keepsGroups() && h.Groups != nil {
		checkGroups(&k, path+"groups", h.Groups, r.critic.Params().Blocks())
	}
	return k.Err()
}

// checkGroups wants each of a number of blocks in one group.
func checkGroups(k *param.Checker, path string, groups []sgd.Group, blocks int) {
	seen := make([]bool, blocks)
	left := blocks
	for _, g := range groups {
		k.OK(g.ClipNorm >= smallestNorm && g.ClipNorm <= largestNorm && len(g.Blocks) > 0, path,
			g.ClipNorm, "blocks with a clip norm in [2^-60, 2^60]")
		for _, b := range g.Blocks {
			ok := b >= 0 && b < blocks && !seen[b]
			k.OK(ok, path, b, "each block once")
			if ok {
				seen[b] = true
				left--
			}
		}
	}
	k.OK(left == 0, path, left, "no block without a group")
}

// restoreNumbers reads the sections that state wrote.
func (r *run) restoreNumbers(f *synth.File) error {
	critic := r.critic.Params().Flat // before the trainer, which looks at them
	errs := []error{network.RestoreFloats(f, sectionCritic, r.Backend, critic)}
	section := func(name string, use func([]byte) error) {
		data, err := f.Section(name)
		if err == nil {
			err = use(data)
		}
		errs = append(errs, err)
	}
	section(sectionTrainer, r.trainer.SetState)
	section(sectionLearner, r.learner.descent.SetState)
	section(sectionNorms, r.learner.net.SetState)
	section(sectionRandom, r.source.UnmarshalBinary)
	section(sectionAverage, func(b []byte) error { return readInto(r.learner.average, b) })
	section(sectionGenerator, func(b []byte) error {
		err := readInto(r.learner.params, b)
		r.Backend.Upload(r.learner.net.Params().Flat, r.learner.params)
		return err
	})
	if err := errors.Join(errs...); err != nil {
		return malformed(err)
	}
	return nil
}

func readInto(dst []float32, data []byte) error {
	values, err := synth.ReadFloats32(data, len(dst))
	copy(dst, values)
	return err
}
