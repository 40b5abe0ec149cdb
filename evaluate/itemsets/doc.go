// Package itemsets counts and compares sets of items, such as baskets or visited
// places: an [Index] answers how many records have any or all of some items and which
// combinations are the most frequent, [Queries] measures the error of such counts on
// synthetic records, and [Statistics] compares frequencies, pairs and sizes.
//
// Guarantee: none. It reads real records without noise and writes to no ledger, so its results are
// statistics of private data, and no ε covers them. The text and JSON forms of [QueryErrors] and
// [Report] say so. Those of [Set], and of the parts of results ([ClassError], [Summary] and
// [Difference]), do not.
package itemsets
