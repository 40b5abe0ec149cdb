package httpledger

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
)

func (h *Handler) describe(*http.Request) (any, error) { return json.RawMessage(OpenAPI), nil }

type namesAnswer struct {
	Ledgers []string `json:"ledgers"`
}

func (h *Handler) names(r *http.Request) (any, error) {
	names, err := h.ledgers.store.Names(r.Context())
	if names == nil {
		names = []string{}
	}
	return namesAnswer{names}, err
}

// guarantee returns the ledger's current guarantee.
func (h *Handler) guarantee(r *http.Request) (any, error) {
	l, err := h.ledgers.get(r.PathValue("ledger"), Audit)
	if err != nil {
		return nil, err
	}
	return l.Guarantee(), nil
}

type line struct {
	Line     uint64          `json:"line"`
	Hash     string          `json:"hash"`
	Snapshot bool            `json:"snapshot"`
	Text     string          `json:"text"` // the text that was hashed
	Content  json.RawMessage `json:"content"`
}

type linesAnswer struct {
	Lines []line `json:"lines"`
	// Next is the parameter "after" of the next request. It is absent at the end.
	Next uint64 `json:"next,omitempty"`
}

const (
	mostLines = 1000
	mostText  = 8 << 20 // largest size of an answer in bytes, after its first line
)

// lines returns some of the ledger's lines. The chain is checked from the first line.
func (h *Handler) lines(r *http.Request) (any, error) {
	after, err := number(r, "after", 0)
	if err != nil {
		return nil, err
	}
	limit, err := number(r, "limit", mostLines)
	if err != nil {
		return nil, err
	}
	limit = min(max(limit, 1), mostLines)
	name := r.PathValue("ledger")
	if err := ledger.ValidateName(name); err != nil {
		return nil, err
	}
	answer, size := linesAnswer{Lines: []line{}}, 0
	for l, err := range h.ledgers.store.History(r.Context(), name) {
		if err != nil {
			return nil, err
		}
		if l.Line <= after {
			continue
		}
		if n := len(answer.Lines); uint64(n) == limit || n > 0 && size+len(l.Text) > mostText {
			answer.Next = answer.Lines[n-1].Line
			break
		}
		size += len(l.Text)
		answer.Lines = append(answer.Lines, line{l.Line, l.Hash, l.Snapshot, string(l.Text), l.Text})
	}
	return answer, nil
}

// number returns a query parameter, or missing if the query does not have it.
func number(r *http.Request, name string, missing uint64) (uint64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return missing, nil
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0, param.New("query."+name, "the given text", "a whole number, 0 or more")
	}
	return n, nil
}
