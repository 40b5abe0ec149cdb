package ledger

// aheadShare is the number of uses that must have been taken for each use counted ahead.
const aheadShare = 32

// spend takes one use of a reservation in a journal. The journal counts the use as taken before it
// is handed out. After many uses one line counts several uses ahead, so that a long run does not
// write a line for each use. Only this process hands out the uses that it counted ahead.
func (j *journaled) spend(r *Reservation) error {
	s := r.ledger.shared
	if taken, err := j.spendAhead(r, false); taken || err != nil {
		return err
	}
	s.reserve.Lock()
	defer s.reserve.Unlock()
	if err := s.flush(); err != nil { // notes and marks come before any further use
		return err
	}
	if taken, err := j.spendAhead(r, true); taken || err != nil {
		return err // another goroutine has counted uses ahead in the meantime
	}
	n := 0
	return s.commit(operation{
		decide: func() error {
			s.state.Lock()
			defer s.state.Unlock()
			if n = r.claim(); n == 0 {
				return ErrReservationExhausted
			}
			return nil
		},
		lines: func() []*change { return []*change{r.claimed(n)} },
		do: func() {
			if r.owned() {
				r.line.take(n)
				r.line.ahead += n
			} else {
				r.entry.take(r.ledger, n)
				r.entry.ahead += n
			}
			r.handOut()
		},
	})
}

// spendAhead takes a use that was counted ahead, and reports whether there was one.
func (j *journaled) spendAhead(r *Reservation, flushed bool) (bool, error) {
	s := r.ledger.shared
	s.state.Lock()
	defer s.state.Unlock()
	switch {
	case r.remaining <= 0:
		return false, ErrReservationExhausted
	case j.closed:
		return false, errClosed
	case j.broken != nil:
		return false, j.broken
	case len(j.pending) > 0 && !flushed || *r.ahead() == 0:
		return false, nil
	}
	r.handOut()
	return true, nil
}

// ahead returns a pointer to the number of uses that were counted as taken but not yet handed
// out.
func (r *Reservation) ahead() *int {
	if r.owned() {
		return &r.line.ahead
	}
	return &r.entry.ahead
}

// handOut hands out a use that the journal counts as taken; the caller holds the state lock.
func (r *Reservation) handOut() {
	*r.ahead()--
	r.remaining--
	if r.line != nil && !r.owned() {
		r.line.spent++
	}
}

// claim returns the number of uses to count as taken in one line; the caller holds the state lock.
func (r *Reservation) claim() int {
	taken, left := r.entry.spent, r.entry.left()
	if r.owned() {
		taken, left = r.line.spent, r.line.line.Count-r.line.spent
	}
	return min(1+taken/aheadShare, left, r.remaining)
}

// claimed returns the line that counts n uses as taken.
func (r *Reservation) claimed(n int) *change {
	if r.owned() {
		return r.line.claimed(n)
	}
	return &change{At: r.ledger.path(), Spend: &changeSpend{Index: r.entry.number, Count: n}}
}

func (p *placedLine) claimed(n int) *change {
	return &change{At: p.of.ledger.path(), Spend: &changeSpend{ID: p.of.id, Index: p.number, Count: n}}
}
