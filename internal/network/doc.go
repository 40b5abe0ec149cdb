// Package network has what systems with networks as generators share: building a generator for the
// records of a schema, converting its outputs to records, and storing it in a file.
package network
