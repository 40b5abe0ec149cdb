// Package sampler draws from distributions exactly: the normal and the Laplace
// distribution rounded to a grid, the discrete Gaussian, the discrete Laplace, the
// exponential mechanism's choice, Poisson samples and subsets of rows.
//
// It knows no budget and no data. Its callers hold the right to draw; see package
// mechanism.
//
// Every sampler has a fast half and an exact half. The fast half works on the first
// 54 or 64 bits of a uniform number in machine arithmetic with an error bound. Where
// the bound leaves a decision open, the exact half draws the number's further bits
// and decides in interval arithmetic that narrows until only one answer is left. The
// fast half thus never decides anything that the ideal real-number algorithm would
// not.
package sampler
