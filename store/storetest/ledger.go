package storetest

import "testing"

// ledgers holds ledgers over the backend to what a ledger promises.
func ledgers(t *testing.T, s Subject) {}
