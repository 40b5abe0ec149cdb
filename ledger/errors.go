package ledger

import "errors"

// ErrReservationExhausted means that all uses of a reservation have been taken.
var ErrReservationExhausted = errors.New("ledger: reservation exhausted")
