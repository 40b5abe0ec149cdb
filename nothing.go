package privgen

import (
	"context"
	"iter"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/artefact"
	"github.com/seed7ba64551/privgen/internal/release"
	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/records"
)

// nothing stands for the model of a Generator that no run and no file has filled: it has no records to draw and
// promises nothing about any.
type nothing struct{}

func (nothing) err() error {
	return &param.Error{Path: "privgen.Generator", Value: nil, Want: "a generator, from a plan's Fit or a file"}
}

func (nothing) Guarantee() accountant.Guarantee {
	return accountant.Guarantee{NotPrivate: "nothing has been trained"}
}

func (nothing) Schema() records.Schema                 { return records.Schema{} }
func (nothing) DrawSchema(release.Draw) records.Schema { return records.Schema{} }
func (n nothing) Encode() (*artefact.File, error)      { return nil, n.err() }

func (n nothing) Chunks(context.Context, int, release.Draw) iter.Seq2[records.Data, error] {
	return func(yield func(records.Data, error) bool) { yield(nil, n.err()) }
}
