package sqlledger

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
)

// state is an error with a state of SQL.
type state string

func (s state) Error() string    { return "state " + string(s) }
func (s state) SQLState() string { return string(s) }

// TestOnlyKnownOutcomesAreRepeated: a transaction is repeated only after an answer that says that
// it was rolled back. After 40003 it may have been kept, and an append would count twice.
func TestOnlyKnownOutcomesAreRepeated(t *testing.T) {
	for s, again := range map[state]bool{"40001": true, "40P01": true, "40002": true, "40000": true,
		"40003": false, "55P03": true, "23505": true, "08006": false, "08007": false, "57P01": false,
		"53100": false, "XX000": false, "": false} {
		if got := postgresTransient(fmt.Errorf("appending: %w", s)); got != again {
			t.Errorf("%s is repeated: %v, want %v", s, got, again)
		}
		want := syscall.Errno(0)
		if s == "53100" {
			want = syscall.ENOSPC
		}
		if got := diskFault(s); got != want {
			t.Errorf("%s is the fault %v, want %v", s, got, want)
		}
	}
	if err := errors.New("40001"); postgresTransient(err) || sqliteTransient(err) {
		t.Error("an error without a state is repeated")
	}
}
