package gan_test

import (
	"context"
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/synth"
)

// spy is a tap that gives every release the same outputs. It calls drew when a step has drawn its
// sample.
type spy struct{ drew func() }

// forced returns a context in which every release has the same outputs.
func forced(ctx context.Context) context.Context { return counted(ctx, new(int)) }

// counted is like forced, and also counts the steps that have drawn their samples.
func counted(ctx context.Context, drawn *int) context.Context {
	return entropy.WithTap(ctx, spy{func() { *drawn++ }})
}

func (spy) Source() (*entropy.Source, error) { return entropy.Seeded(1) }
func (spy) Spend(string, any, int, error)    {}
func (s spy) Sample(entropy.Sample)          { s.drew() }
func (spy) Refuse(string, error)             {}
func (spy) Release(r *entropy.Release) error {
	for _, out := range r.Outputs {
		for i := range out {
			out[i] = math.Sin(float64(i))
		}
	}
	return nil
}

func encoded(t testing.TB, g *synth.Generator) *synth.File {
	t.Helper()
	return must(g.Model().Encode())(t)
}
