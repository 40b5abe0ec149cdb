// Package network contains code shared by systems whose generators are networks. It builds a
// generator for the records of a schema, converts its outputs to records, and stores it in a file.
package network
