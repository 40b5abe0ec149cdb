// Package demo generates data sets for examples, benchmarks and tests. It uses no real records. The
// same settings give the same data on every machine.
package demo
