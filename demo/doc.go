// Package demo makes up data sets for examples, benchmarks and tests. It uses no real records. The
// same settings make the same data on every machine.
package demo
