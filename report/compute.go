package report

import (
	"context"
	"errors"
	"io"
)

// Compute computes a report from the real records.
//
// Errors: *[param.Error], joined, for settings and inputs that make no sense and records of different
// schemas; ctx.Err().
// Guarantee: none; see the package.
func Compute(ctx context.Context, in Input, s Settings) (*Report, error) {
	return nil, errors.New("report: not ready")
}

// Released makes a report of released numbers alone: the guarantee, the bill, the synthetic
// records' own columns, and what a fidelity.Plan released. It reads neither in.Real nor in.HeldOut,
// and refuses them, so that a mistake shows. Its JSON form and its page may be published.
//
// Errors: *[param.Error], joined; ctx.Err().
// Guarantee: post-processing of in.Generator, or in.Synthetic, and in.Fidelity.
func Released(ctx context.Context, in Input, s Settings) (*Report, error) {
	return nil, errors.New("report: not ready")
}

// WriteHTML writes the report as one page without scripts, which needs no other file.
//
// Errors: the writer's.
func (r *Report) WriteHTML(w io.Writer) error { return errors.New("report: not ready") }

// JSONSchema is the JSON Schema (draft 2020-12) of a report's JSON form.
func JSONSchema() []byte { return nil }
