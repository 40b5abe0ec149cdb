package httpledger

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
)

// failure is an error as sent to clients.
type failure struct {
	Status  int    `json:"-"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Detail  any    `json:"detail,omitempty"` // the remaining budget or uses, and what would fit
}

func (f *failure) Error() string { return f.Message }

// refusal is the JSON form of an ledger.Refusal.
type refusal struct {
	Limit   string  `json:"limit"`
	Purpose string  `json:"purpose"`
	Spent   float64 `json:"spent"`
	Asked   float64 `json:"asked"`
	Allowed float64 `json:"allowed"`
	Left    float64 `json:"left"`
	Fits    *int    `json:"fits,omitempty"`
}

// failed returns the answer for an error. Details of the store are not sent to clients.
func failed(err error) *failure {
	var f *failure
	var r *ledger.Refusal
	var p *param.Error
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &r):
		return &failure{http.StatusUnprocessableEntity, "budget_exceeded", r.Error(), refusalOf(r)}
	case errors.Is(err, accountant.ErrBudgetExceeded):
		return &failure{http.StatusUnprocessableEntity, "budget_exceeded", err.Error(), nil}
	case errors.Is(err, accountant.ErrUnsupported):
		return &failure{http.StatusUnprocessableEntity, "unsupported", err.Error(), nil}
	case errors.Is(err, ledger.ErrReservationExhausted):
		return &failure{http.StatusConflict, "exhausted", "no use is left", nil}
	case errors.Is(err, ledger.ErrNotFound):
		return &failure{http.StatusNotFound, "not_found", "no such ledger", nil}
	case errors.Is(err, ledger.ErrDamaged), errors.Is(err, ledger.ErrRolledBack):
		return &failure{http.StatusServiceUnavailable, "damaged",
			"the ledger is damaged or inconsistent; nothing can be reserved", nil}
	case errors.As(err, &p) && p.Path == "ledger.Transaction.ID":
		return &failure{http.StatusConflict, "other_lines",
			"this ID was already used for other lines", nil}
	case errors.As(err, &p):
		return &failure{http.StatusBadRequest, "invalid", err.Error(), nil}
	case cancelled(err):
		return &failure{http.StatusServiceUnavailable, "cancelled",
			"the request was cancelled; repeat it with the same transaction ID", nil}
	}
	return &failure{http.StatusServiceUnavailable, "unavailable",
		"the store does not answer; repeat the request with the same transaction ID", nil}
}

func refusalOf(r *ledger.Refusal) refusal {
	out := refusal{Limit: r.Limit, Purpose: r.Purpose, Spent: finite(r.Spent), Asked: finite(r.Asked),
		Allowed: r.Allowed, Left: max(0, r.Allowed-finite(r.Spent))}
	if r.Fits >= 0 {
		out.Fits = &r.Fits
	}
	return out
}

// finite returns x, or 1e308 if x is larger or NaN, since JSON has no infinite numbers.
func finite(x float64) float64 {
	const most = 1e308
	if !(x < most) {
		return most
	}
	return x
}

func writeError(w http.ResponseWriter, err error) {
	f := failed(err)
	writeJSON(w, f.Status, struct {
		Error *failure `json:"error"`
	}{f})
}

func writeJSON(w http.ResponseWriter, status int, answer any) {
	text, err := json.Marshal(answer)
	if err != nil {
		status, text = http.StatusInternalServerError,
			[]byte(`{"error":{"code":"internal","message":"the answer cannot be written"}}`)
	}
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // fails only if the client is gone
}
