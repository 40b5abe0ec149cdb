// Package retouch changes synthetic images after they have been drawn: [Contrast] makes dark levels
// black and light levels white, and [Distortion] moves the pixels a little.
//
// Guarantee: post-processing. Changing released images costs no privacy.
package retouch
