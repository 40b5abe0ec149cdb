// Package risk attacks synthetic records: it guesses from them which real records the
// generator was trained on, and measures their distances to real records.
//
// Guesses of membership can refute a guarantee but never prove one: the attacks here are simple,
// and a better attack may succeed more often. Distances to the closest record and exact matches are
// in common use and prove nothing in either direction: a synthetic record can lie close to a
// training record by chance, and a generator can reveal a record without ever drawing a similar
// one.
//
// Guarantee: none. The functions read real records without noise and write to no ledger, so
// their results are statistics of private data, and no ε covers them.
package risk
