package gan_test

import (
	"context"
	"math"
	"testing"

	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/internal/artefact"
	"github.com/seed7ba64551/privgen/internal/entropy"
)

// spy gives every release the same answer.
type spy struct{}

// forced is a context in which mechanisms answer alike in every step.
func forced(ctx context.Context) context.Context { return entropy.WithTap(ctx, spy{}) }

func (spy) Source() (*entropy.Source, error) { return entropy.Seeded(1) }
func (spy) Spend(string, any, int, error)    {}
func (spy) Sample(entropy.Sample)            {}
func (spy) Refuse(string, error)             {}
func (spy) Release(r *entropy.Release) error {
	for _, out := range r.Outputs {
		for i := range out {
			out[i] = math.Sin(float64(i))
		}
	}
	return nil
}

func encoded(t testing.TB, m *gan.Model) *artefact.File {
	t.Helper()
	f, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return f
}
