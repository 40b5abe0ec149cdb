// Package sampler draws from distributions exactly. It draws normal and Laplace noise rounded to a
// grid, discrete Gaussian and discrete Laplace noise, and choices of the exponential mechanism. It
// also draws Poisson samples and subsets of rows.
//
// The package has no access to budgets or data. Its callers check that a draw is covered; see
// package mechanism.
//
// Every sampler has a fast half and an exact half. The fast half works on the first 54 or 64 bits
// of a uniform number in machine arithmetic with an error bound. If the bound does not settle a
// decision, the exact half draws further bits of the number. It decides in interval arithmetic and
// narrows the interval until only one answer is left. So every decision of the fast half is the
// decision of the ideal real-number algorithm.
package sampler
