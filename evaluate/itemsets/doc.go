// Package itemsets counts and compares sets of items, such as baskets or visited places. An [Index]
// counts the records that have any or all of some items, and finds the most frequent combinations.
// [Queries] measures the error of such counts on synthetic records. [Statistics] compares
// frequencies, pairs and sizes.
//
// Guarantee: none. It reads real records without noise and writes to no ledger, so its results are
// statistics of private data, and no ε covers them. The text and JSON forms of [QueryErrors] and
// [Report] say so. [Set] and the parts of results ([ClassError], [Summary] and [Difference]) are
// plain numbers without this caveat.
package itemsets
