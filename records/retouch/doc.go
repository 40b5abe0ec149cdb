// Package retouch changes synthetic images after they have been drawn: [Contrast] makes their dark
// levels black and their light ones white, and [Distortion] moves their pixels a little.
//
// Guarantee: what is computed from released images costs nothing.
package retouch
