package synth

import (
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/mechanism"
)

// If a checkpoint is kept, a stage with the field Once is drawn in shares. Eight Gaussian releases
// of effect μ/√8 together have effect μ, and their mean has the noise of the single release. The
// factor 1 + 2⁻⁴⁰ covers rounding: the shares never cost more than the single release.
const (
	shares     = 8
	shareNoise = 2 * math.Sqrt2 * (1 + 0x1p-40)
)

// Once runs a stage with the field Once: one joint Gaussian release of sums of the given sizes.
// The function prepare describes the release: its effect, and its sums with their standard
// deviations. The field Out of the sums may be nil. Once returns the noisy sums.
//
// If a checkpoint is kept, the release is drawn in shares, and each share is written to the file
// before the next one is drawn. Shares lost to interruptions are left out of the mean, which then
// has more noise. prepare is not called if nothing is left to draw.
//
// Guarantee: as for mechanism.Grant.Release, for the stage's event. Errors: all errors of prepare,
// mechanism.ErrNotCovered, all errors of the checkpoint; ErrLost if every share was lost; an error
// for a stage without the field Once.
func (r *Run) Once(purpose string, sizes []int,
	prepare func() (effect float64, parts []mechanism.Part, err error)) ([][]float64, error) {
	if r.program == nil {
		return nil, errFree
	}
	a := r.Allowance(purpose)
	if a == nil {
		return nil, fmt.Errorf("%s: the plan has no stage %q", r.program.system, purpose)
	}
	if !r.program.once(purpose) { // a single draw would have the noise of a share
		return nil, fmt.Errorf("%s: stage %q: Stage.Once is not set", r.program.system, purpose)
	}
	if r.keeper == nil {
		effect, parts, err := prepare()
		if err != nil {
			return nil, err
		}
		return r.draw(a, purpose, effect, parts, 1)
	}
	if old := r.keeper.release(r.full(purpose)); old != nil && !old.has(sizes) {
		return nil, fmt.Errorf("%w: the kept sums of the release %q do not have the sizes %d", ErrFormat,
			purpose, sizes)
	}
	return r.shares(a, purpose, prepare)
}

// NoteReal records that a stage run by Once has noise of class ledger.RealNoise, because the
// backend computes its sums inexactly.
func (r *Run) NoteReal(purpose string) {
	if r.real == nil {
		r.real = map[string]bool{}
	}
	r.real[purpose] = true
}

// shares draws the remaining shares and averages all shares in the file.
func (r *Run) shares(a *mechanism.Allowance, purpose string,
	prepare func() (float64, []mechanism.Part, error)) ([][]float64, error) {
	if a.Remaining() > 0 {
		effect, parts, err := prepare()
		if err != nil {
			return nil, err
		}
		for a.Remaining() > 0 {
			out, err := r.draw(a, purpose, effect, parts, shareNoise)
			if err != nil {
				return nil, err
			}
			if err := r.keeper.released(r.full(purpose), out); err != nil {
				return nil, err
			}
		}
	}
	sum := r.keeper.release(r.full(purpose))
	if sum == nil {
		return nil, fmt.Errorf("%s: %w", purpose, ErrLost)
	}
	return sum.mean(), nil
}

// Wider returns the ratio of the noise of a release that Once returned to the planned noise: 1,
// or more if interruptions lost some of its shares.
func (r *Run) Wider(purpose string) float64 {
	if r.keeper == nil {
		return 1
	}
	sum := r.keeper.release(r.full(purpose))
	if sum == nil {
		return 1
	}
	return math.Sqrt(shares / float64(sum.made))
}

// draw makes one release whose noise is the planned noise times wider.
func (r *Run) draw(a *mechanism.Allowance, purpose string, effect float64, parts []mechanism.Part,
	wider float64) ([][]float64, error) {
	grant, err := a.Next()
	if err != nil {
		return nil, err
	}
	if r.real[purpose] {
		grant.NoteReal()
	}
	out := make([][]float64, len(parts))
	wide := make([]mechanism.Part, len(parts))
	for i, p := range parts {
		if out[i] = p.Out; out[i] == nil || wider != 1 {
			out[i] = make([]float64, p.Sum.Dim())
		}
		wide[i] = mechanism.Part{Sum: p.Sum, Std: p.Std * wider, Out: out[i]}
	}
	return out, grant.Release(effect/wider, wide...)
}
