// Package sampler draws from distributions exactly: the normal and the Laplace distribution rounded
// to a grid, the discrete Gaussian, the discrete Laplace, the choice of the exponential mechanism,
// Poisson samples and subsets of rows.
//
// The package has no access to budgets or data. Its callers check that a draw is covered; see
// package mechanism.
//
// Every sampler has a fast half and an exact half. The fast half works on the first 54 or 64 bits
// of a uniform number in machine arithmetic with an error bound. If the bound does not settle a
// decision, the exact half draws further bits of the number and decides in interval arithmetic,
// which narrows until only one answer is left. So every decision of the fast half is the decision
// of the ideal real-number algorithm.
package sampler
