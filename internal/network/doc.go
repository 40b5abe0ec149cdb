// Package network is what systems whose generators are networks do alike: building a generator for
// the records of a schema, turning what it states into records, and keeping it in a file.
package network
