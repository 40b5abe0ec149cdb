package synth

import (
	"fmt"
	"math"

	"github.com/seed7ba64551/privgen/mechanism"
)

// halfNoise is how much wider the noise of each half of a release is than that of the whole. Two
// Gaussian releases of effect μ/√2 are together one of effect μ, and their mean is the release with
// the noise of the whole. The margin keeps roundings on the private side.
const halfNoise = math.Sqrt2 * (1 + 0x1p-40)

// Once carries out a stage that is a single joint Gaussian release. prepare states the release: its
// effect, and its sums with their standard deviations; their Out may be nil. What it returns are the
// noisy sums, one a part.
//
// Where a checkpoint is kept, the release is drawn in two halves and each is in the file before the
// next is drawn; prepare is not called if both are there.
//
// Guarantee: that of mechanism.Grant.Release for the stage's event.
// Errors: those of prepare, mechanism.ErrNotCovered, those of the checkpoint; ErrLost where every
// half was lost.
func (r *Run) Once(purpose string,
	prepare func() (effect float64, parts []mechanism.Part, err error)) ([][]float64, error) {
	a := r.Allowance(purpose)
	if a == nil {
		return nil, fmt.Errorf("%s: no stage %q in the plan", r.program.system, purpose)
	}
	if r.keeper == nil {
		effect, parts, err := prepare()
		if err != nil {
			return nil, err
		}
		return draw(a, effect, parts, 1)
	}
	return r.halves(a, purpose, prepare)
}

// halves draws what is left of two halves and averages all that are in the file.
func (r *Run) halves(a *mechanism.Allowance, purpose string,
	prepare func() (float64, []mechanism.Part, error)) ([][]float64, error) {
	if a.Remaining() > 0 {
		effect, parts, err := prepare()
		if err != nil {
			return nil, err
		}
		for a.Remaining() > 0 {
			out, err := draw(a, effect, parts, halfNoise)
			if err != nil {
				return nil, err
			}
			if err := r.keeper.released(purpose, out); err != nil {
				return nil, err
			}
		}
	}
	return mean(r.keeper.releases[purpose], purpose)
}

// draw makes one release with noise that is wider by a factor.
func draw(a *mechanism.Allowance, effect float64, parts []mechanism.Part,
	wider float64) ([][]float64, error) {
	grant, err := a.Next()
	if err != nil {
		return nil, err
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

// mean averages the halves of a release.
func mean(halves [][][]float64, purpose string) ([][]float64, error) {
	if len(halves) == 0 {
		return nil, fmt.Errorf("%s: %w", purpose, ErrLost)
	}
	out := make([][]float64, len(halves[0]))
	for i := range out {
		out[i] = append([]float64(nil), halves[0][i]...)
		for _, h := range halves[1:] {
			for j, v := range h[i] {
				out[i][j] += v
			}
		}
		for j := range out[i] {
			out[i][j] /= float64(len(halves))
		}
	}
	return out, nil
}
