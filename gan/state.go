package gan

import (
	"encoding/json"
	"fmt"

	"github.com/seed7ba64551/privgen/internal/network"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/sgd"
	"github.com/seed7ba64551/privgen/synth"
)

// stateHeader describes a run's state between two critic steps, without its arrays. The state
// consists of released values, public randomness and counts.
type stateHeader struct {
	Done    int         `json:"done"`             // critic steps taken
	Learned int         `json:"learned"`          // generator steps
	Groups  []sgd.Group `json:"groups,omitempty"` // groups of the first step, with Clipping.Kept
	Opening int         `json:"opening,omitempty"`
	// Bound and Pace are in checkpoints of earlier versions. What they hold follows from the plan.
	Bound json.RawMessage `json:"bound,omitempty"`
	Pace  json.RawMessage `json:"pace,omitempty"`
}

// parts returns the file's parts for the arrays of a run. The critic comes before its trainer,
// because loading the trainer needs the critic's parameters.
func (r *run) parts() []synth.Part {
	l := r.learner
	parts := []synth.Part{
		network.MatrixPart("critic", r.Backend, r.critic.Params().Flat),
		synth.StatePart("critic training", r.trainer),
		synth.FloatsPart("generator", &l.params, len(l.params)),
		synth.StatePart("generator state", l.net),
		synth.StatePart("generator training", l.descent),
		synth.FloatsPart("generator average", &l.average, len(l.average)),
		synth.RandomPart("public randomness", r.source),
	}
	if r.opening > 0 {
		parts = append(parts, synth.StatePart("opening", r.opener))
	}
	return parts
}

// state returns the state that a checkpoint stores.
func (r *run) state() (*synth.File, error) {
	h := stateHeader{Done: r.done, Learned: r.learner.steps, Opening: r.opening}
	if r.keepsGroups() {
		h.Groups = r.grouped.last
	}
	return synth.NewFile(h, r.parts()...)
}

// keepsGroups reports whether later steps need the clip groups of the first step.
func (r *run) keepsGroups() bool { return r.config.Clipping.Kept }

// RestoreFrom reads the state of a run of the same plan.
//
// Errors: synth.ErrFormat.
func (r *run) RestoreFrom(f *synth.File) error {
	var h stateHeader
	if err := f.Decode(&h); err != nil {
		return err
	}
	if err := r.checkHeader(h); err != nil {
		return synth.Malformed(err)
	}
	r.opening = h.Opening
	r.done, r.learner.steps = h.Done, h.Learned
	if r.keepsGroups() && h.Groups != nil {
		r.grouped.last = h.Groups
	}
	if err := f.Load(r.parts()...); err != nil {
		return err
	}
	r.Backend.Upload(r.learner.net.Params().Flat, r.learner.params)
	return nil
}

// checkHeader returns an error for values that no run can have written.
func (r *run) checkHeader(h stateHeader) error {
	var k param.Checker
	const path = "gan.checkpoint."
	steps := r.config.Train.Steps
	k.OK(h.Done >= 0 && h.Done <= steps, path+"done", h.Done,
		fmt.Sprintf("a number from 0 to %d", steps))
	k.OK(h.Opening == 0 || h.Opening > 0 && h.Opening <= r.opening && h.Done == 0, path+"opening",
		h.Opening, fmt.Sprintf("a number from 0 to %d, and 0 after the first critic step", r.opening))
	k.OK(h.Learned >= 0, path+"learned", h.Learned, "a non-negative number of steps")
	if r.keepsGroups() && h.Groups != nil {
		checkGroups(&k, path+"groups", h.Groups, r.critic.Params().Blocks())
	}
	return k.Err()
}

// checkGroups checks that every block is in exactly one group.
func checkGroups(k *param.Checker, path string, groups []sgd.Group, blocks int) {
	seen := make([]bool, blocks)
	left := blocks
	for _, g := range groups {
		k.OK(g.ClipNorm >= smallestNorm && g.ClipNorm <= largestNorm && len(g.Blocks) > 0, path,
			g.ClipNorm, "blocks with a clip norm in [2^-60, 2^60]")
		for _, b := range g.Blocks {
			ok := b >= 0 && b < blocks && !seen[b]
			k.OK(ok, path, b, "each block of the critic exactly once")
			if ok {
				seen[b] = true
				left--
			}
		}
	}
	k.OK(left == 0, path, left, "0 blocks without a group")
}
