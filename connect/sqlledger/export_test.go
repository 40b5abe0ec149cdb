//go:build unix

package sqlledger

import "testing"

// NewDatabase returns the address of an empty database on the server of the tests.
func NewDatabase(t *testing.T) string { return sharedServer(t).database(t) }
