// Package demo makes up data sets for examples, benchmarks and tests. Nothing in it comes from
// anybody's records: the same settings make the same data on every machine.
package demo
