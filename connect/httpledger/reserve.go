package httpledger

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
)

// transaction is the body of a reservation.
type transaction struct {
	Groups []group           `json:"groups,omitempty"`
	Lines  []transactionLine `json:"lines"`
}

type group struct {
	Purpose      string `json:"purpose"`
	N            int    `json:"n"`
	Fixed        bool   `json:"fixed,omitempty"`
	MovesCovered bool   `json:"moves_covered,omitempty"`
}

type transactionLine struct {
	Purpose string          `json:"purpose"`
	Event   json.RawMessage `json:"event"`
	Count   int             `json:"count"`
	Taken   int             `json:"taken,omitempty"`
	Group   int             `json:"group,omitempty"`
	Part    int             `json:"part,omitempty"`
	Take    int             `json:"take,omitempty"`
}

// reservedAnswer describes a transaction.
type reservedAnswer struct {
	ID    string         `json:"id"`
	Lines []reservedLine `json:"lines"`
	Kept  *ledger.Kept   `json:"kept"`
}

type reservedLine struct {
	Purpose  string `json:"purpose"`
	Reserved int    `json:"reserved"`
	Left     int    `json:"left"`
	Took     int    `json:"took"` // by this request
}

// reserve reserves a transaction, once for each ID, and returns the remaining uses.
func (h *Handler) reserve(r *http.Request) (any, error) {
	answer, _, _, err := h.held(r, false)
	return answer, err
}

const (
	mostLinesAsked = 10_000
	mostTaken      = 10_000 // largest number of uses taken by one request
)

// take takes uses of a transaction and first reserves it if necessary. If a request is interrupted,
// for example by a failure of the store, the answer is an error and the uses that it took are lost.
func (h *Handler) take(r *http.Request) (any, error) {
	answer, held, wanted, err := h.held(r, true)
	if err != nil {
		return nil, err
	}
	for i, n := range wanted {
		if left := held[i].Remaining(); n > left {
			return nil, &failure{http.StatusConflict, "exhausted",
				"fewer uses are left than were requested; none was taken", answer}
		}
	}
	for i, n := range wanted {
		for answer.Lines[i].Took < n {
			if err := held[i].Spend(); err != nil {
				return nil, err
			}
			answer.Lines[i].Took++
		}
		answer.Lines[i].Left = held[i].Remaining()
	}
	return answer, nil
}

// held returns the transaction of a request.
func (h *Handler) held(r *http.Request, taking bool) (a reservedAnswer,
	held []*ledger.Reservation, wanted []int, err error) {
	t, wanted, err := readTransaction(r, taking)
	if err != nil {
		return a, nil, nil, err
	}
	l, err := h.ledgers.get(r.PathValue("ledger"), Reserve)
	if err != nil {
		return a, nil, nil, err
	}
	if held, err = l.ReserveAllContext(r.Context(), t); err != nil {
		return a, nil, nil, err
	}
	a = reservedAnswer{ID: t.ID, Kept: l.Kept()}
	for i, line := range t.Lines {
		a.Lines = append(a.Lines, reservedLine{Purpose: line.Purpose, Reserved: line.Count,
			Left: held[i].Remaining()})
	}
	return a, held, wanted, nil
}

// readTransaction reads a body. wanted is the number of uses that the request takes of each line.
func readTransaction(r *http.Request, taking bool) (t ledger.Transaction, wanted []int,
	err error) {
	var asked transaction
	if err := readBody(r, &asked); err != nil {
		return t, nil, err
	}
	var k param.Checker
	t.ID = r.PathValue("id")
	k.OK(len(t.ID) >= 8 && len(t.ID) <= 128 && plain(t.ID), "path.id", "the given ID",
		"8 to 128 letters, digits, '-', '_' and '.', chosen at random")
	k.OK(len(asked.Lines) <= mostLinesAsked, "body.lines", len(asked.Lines), "at most 10000")
	total := 0
	for _, g := range asked.Groups {
		t.Groups = append(t.Groups, ledger.Parts(g))
	}
	for _, line := range asked.Lines {
		event, err := accountant.UnmarshalEvent(line.Event)
		if err != nil {
			return t, nil, &failure{http.StatusBadRequest, "invalid", err.Error(), nil}
		}
		k.OK(line.Take >= 0 && line.Take <= mostTaken-total && (taking || line.Take == 0),
			"body.lines.take", line.Take, "at most 10000 in all, and 0 if the request takes no uses")
		total = min(total+max(line.Take, 0), mostTaken)
		wanted = append(wanted, line.Take)
		t.Lines = append(t.Lines, ledger.Line{Purpose: line.Purpose, Event: event,
			Count: line.Count, Taken: line.Taken, Group: line.Group, Part: line.Part})
	}
	return t, wanted, k.Err()
}

// plain reports whether an ID consists of characters that need no escape in a path.
func plain(id string) bool {
	for _, c := range id {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' ||
			c == '_' || c == '.') {
			return false
		}
	}
	return true
}

// readBody reads one JSON value with known fields.
func readBody(r *http.Request, into any) error {
	text, err := io.ReadAll(r.Body)
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return &failure{http.StatusRequestEntityTooLarge, "too_large", "the body is too large", nil}
	}
	if err != nil {
		return &failure{http.StatusBadRequest, "invalid", "the body could not be read", nil}
	}
	bad := &failure{http.StatusBadRequest, "invalid", "", nil}
	if err := (param.Limits{}).Decode(text, into); err != nil {
		bad.Message = err.Error()
		return bad
	}
	return nil
}
