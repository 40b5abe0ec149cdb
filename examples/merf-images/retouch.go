package main

import (
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/records/retouch"
)

// Generated pixels are never quite black: smooth features do not ask for it.
// Classifiers that split at small values (trees) then learn from real-looking
// images what no real image shows. Stretching grey levels between two public
// ones to black and white is post-processing; 0.2 and 0.8 were chosen on drawn
// digits. Trees gain .1 to .3 there and on drawn shapes, on which they were not
// chosen; a convolutional network gains or loses little.
const black, white = 0.2, 0.8

// retouched changes images before they are written: networks that learn from images whose pixels
// are moved a little know real ones better. See docs/studies/tables-and-digits.md.
func retouched(c config, t *records.Table) (out *records.Table, err error) {
	out = t
	if c.distort > 0 {
		out, err = retouch.Distortion{Strength: c.distort, Seed: c.seed}.Apply(out)
	}
	if c.contrast && err == nil {
		out, err = retouch.Contrast{Black: black, White: white}.Apply(out)
	}
	return out, err
}
