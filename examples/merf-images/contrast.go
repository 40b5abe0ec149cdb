package main

import "github.com/seed7ba64551/privgen/records"

// Generated pixels are never quite black, since smooth features do not require it. Classifiers that
// split at small values (trees) then learn a property that real images do not have. Stretching grey
// levels between two public ones to black and white is post-processing; 0.2 and 0.8 were chosen on
// drawn digits. Trees gain .1 to .3 there and on drawn shapes, on which they were not chosen; a
// convolutional network gains or loses little. See docs/studies/tables-and-digits.md.
const black, white = 0.2, 0.8

// stretch raises the contrast of images.
func stretch(t *records.Table) (*records.Table, error) {
	values, _ := t.Flat()
	out := make([]float32, len(values))
	for i, v := range values {
		out[i] = min(max((v-black)/(white-black), 0), 1)
	}
	return records.FromFlat(t.Schema(), out, t.Labels()...)
}
