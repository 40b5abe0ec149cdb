// Package retouch changes synthetic images after they have been drawn: [Contrast] makes dark levels
// black and light levels white, [Distortion] moves the pixels a little, and [Support] keeps light
// to the pixels that a class uses.
//
// Guarantee: post-processing. Changing released images costs no privacy.
package retouch
