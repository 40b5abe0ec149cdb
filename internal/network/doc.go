// Package network is what systems whose generators are networks do alike: building a generator for
// the records of a schema, converting its outputs to records, and storing it in a file.
package network
