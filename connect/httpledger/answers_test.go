package httpledger

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
)

// TestEveryFailureHasItsCode: what a client is told after each error. Only a definite refusal has a
// status of the client's fault; after any other the same transaction must be asked for again. No
// answer tells details of the store.
func TestEveryFailureHasItsCode(t *testing.T) {
	const secret = "postgres://user@host"
	for _, c := range []struct {
		err    error
		status int
		code   string
		told   bool // the error's own text
	}{
		{&ledger.Refusal{Purpose: "x", Fits: 3}, 422, "budget_exceeded", true},
		{accountant.ErrBudgetExceeded, 422, "budget_exceeded", true},
		{accountant.ErrUnsupported, 422, "unsupported", true},
		{ledger.ErrReservationExhausted, 409, "exhausted", false},
		{ledger.ErrNotFound, 404, "not_found", false},
		{ledger.ErrDamaged, 503, "damaged", false},
		{ledger.ErrRolledBack, 503, "damaged", false},
		{param.New("ledger.Transaction.ID", "x", "other lines"), 409, "other_lines", false},
		{param.New("ledger.Transaction.Lines", "x", "fewer"), 400, "invalid", true},
		{context.Canceled, 503, "cancelled", false},
		{context.DeadlineExceeded, 503, "cancelled", false},
		{errClosed, 503, "unavailable", false},
		{ledger.ErrConflict, 503, "unavailable", false},
		{errors.New(secret), 503, "unavailable", false},
		{errBusy, 503, "busy", false},
		{errForbidden, 403, "forbidden", false},
	} {
		for _, err := range []error{c.err, fmt.Errorf("%s: %w", secret, c.err)} {
			f := failed(err)
			if f.Status != c.status || f.Code != c.code || f.Message == "" ||
				!c.told && strings.Contains(f.Message, secret) {
				t.Errorf("%v: got %d %s %q, want %d %s", err, f.Status, f.Code, f.Message, c.status, c.code)
			}
			if again := strings.Contains(f.Message, "same transaction ID"); again !=
				(c.code == "cancelled" || c.code == "unavailable") {
				t.Errorf("%v: whether to repeat the request: %q", err, f.Message)
			}
		}
	}
	for fits, want := range map[int]bool{-1: false, 0: true, 7: true} {
		r := refusalOf(&ledger.Refusal{Spent: 2, Asked: math.Inf(1), Allowed: 3, Fits: fits})
		if (r.Fits != nil) != want || want && *r.Fits != fits || r.Left != 1 || r.Asked != 1e308 {
			t.Errorf("%d fit: %+v", fits, r)
		}
	}
	if r := refusalOf(&ledger.Refusal{Spent: math.NaN(), Allowed: 3}); r.Left != 0 ||
		r.Spent != 1e308 {
		t.Errorf("an unknown cost: %+v", r)
	}
}

// TestGroupsAreReserved: a transaction with parts is reserved as it was asked for, and each line
// gives as many uses as the request takes of it.
func TestGroupsAreReserved(t *testing.T) {
	s := serve(t, Config{})
	line := func(purpose string, group, part, take, taken int) string {
		return fmt.Sprintf(`{"purpose":%q,"event":{"kind":"gaussian","noise_multiplier":90},"count":5,`+
			`"group":%d,"part":%d,"take":%d,"taken":%d}`, purpose, group, part, take, taken)
	}
	body := `{"groups":[{"purpose":"classes","n":2,"fixed":true},` +
		`{"purpose":"clusters","n":3,"moves_covered":true}],"lines":[` + strings.Join([]string{
		line("a", 0, 0, 1, 0), line("b", 1, 1, 0, 0), line("c", 2, 2, 3, 1)}, ",") + `]}`
	status, answer := s.ask(t, "POST", here+"run-00000001/uses", body)
	if status != http.StatusOK {
		t.Fatal(status, answer)
	}
	lines := answer["lines"].([]any)
	for i, want := range [][2]float64{{1, 4}, {0, 5}, {3, 1}} {
		got := lines[i].(map[string]any)
		if got["took"] != want[0] || got["left"] != want[1] || got["reserved"] != 5.0 {
			t.Errorf("line %d: %v, want %v taken and left", i, got, want)
		}
	}
	groups := s.ledger(t).Children()
	if len(groups) != 2 || groups[0].Purpose != "classes" || !groups[0].Fixed ||
		groups[0].MovesCovered || len(groups[0].Parts) != 2 || groups[1].Purpose != "clusters" ||
		groups[1].Fixed || !groups[1].MovesCovered || len(groups[1].Parts) != 3 {
		t.Fatalf("got the groups %+v", groups)
	}
	for _, c := range []struct {
		at      *ledger.Ledger
		purpose string
		spent   int
	}{{s.ledger(t), "a", 1}, {groups[0].Parts[1], "b", 0}, {groups[1].Parts[2], "c", 4}} {
		if e := c.at.Entries(); len(e) != 1 || e[0].Purpose != c.purpose || e[0].Reserved != 5 ||
			e[0].Spent != c.spent {
			t.Errorf("got the entries %+v, want %s with %d taken", e, c.purpose, c.spent)
		}
	}
	status, answer = s.ask(t, "POST", here+"run-00000001/uses", strings.Replace(body, `"take":3`,
		`"take":2`, 1)) // of the third line one is left
	if status != http.StatusConflict || code(answer) != "exhausted" ||
		s.ledger(t).Entries()[0].Spent != 1 {
		t.Errorf("more uses than are left: %d %v, %+v", status, answer, s.ledger(t).Entries())
	}
}

// TestRequestsAtTheirLimits: the largest request of each kind, and one beyond.
func TestRequestsAtTheirLimits(t *testing.T) {
	tiny := `{"purpose":"x","event":{"kind":"gaussian","noise_multiplier":1e6},"count":20000,"take":%d}`
	takes := func(n ...int) string {
		var lines []string
		for i, k := range n {
			lines = append(lines, strings.Replace(fmt.Sprintf(tiny, k), `"x"`, fmt.Sprintf(`"x%d"`, i),
				1))
		}
		return `{"lines":[` + strings.Join(lines, ",") + `]}`
	}
	s := serve(t, Config{MaxBody: 2000})
	number := 0
	for _, c := range []struct {
		method, id, body string
		want             int
	}{
		{"PUT", "12345678", takes(0), 200}, {"PUT", "1234567", takes(0), 400},
		{"PUT", strings.Repeat("a", 128), takes(0), 200}, {"PUT", strings.Repeat("a", 129), takes(0),
			400},
		{"PUT", "azAZ09-_.", takes(0), 200}, {"PUT", "12345678~", takes(0), 400},
		{"PUT", "12345678@", takes(0), 400}, {"PUT", "12345678%5B", takes(0), 400},
		{"PUT", "12345678%60", takes(0), 400}, {"PUT", "12345678%7B", takes(0), 400},
		{"PUT", "12345678:", takes(0), 400}, {"PUT", "12345678%2F", takes(0), 400},
		{"PUT", "", takes(1), 400}, {"PUT", "", takes(0, 1), 400}, {"POST", "", takes(-1), 400},
		{"POST", "", takes(10_000), 200}, {"POST", "", takes(10_001), 400},
		{"POST", "", takes(6000, 4000), 200}, {"POST", "", takes(6000, 4001), 400},
		{"POST", "", takes(4001, 0, 6000), 400},
		{"POST", "", takes(-5, 10_001), 400}, {"PUT", "", `{"lines":[]}`, 400},
		{"PUT", "", takes(0) + strings.Repeat(" ", 2000-len(takes(0))), 200},
		{"PUT", "", takes(0) + strings.Repeat(" ", 2001-len(takes(0))), 413},
		{"PUT", "", takes(0)[1:], 400}, {"PUT", "", takes(0) + "{}", 400},
		{"PUT", "", strings.Replace(takes(0), `"count"`, `"Count"`, 1), 400},
	} {
		number++
		if c.id == "" {
			c.id = fmt.Sprintf("run-%08d", number)
		}
		path := here + c.id
		if c.method == "POST" {
			path += "/uses"
		}
		if status, answer := s.ask(t, c.method, path, c.body); status != c.want {
			t.Errorf("%s %s %.60s (%d bytes): got %d %v, want %d", c.method, c.id, c.body, len(c.body),
				status,
				answer, c.want)
		}
	}
	many := `{"lines":[` + strings.Join(slices.Repeat([]string{fmt.Sprintf(tiny, 0)},
		mostLinesAsked+1), ",") + `]}`
	s = serve(t, Config{MaxBody: 4 << 20})
	status, answer := s.ask(t, "PUT", here+"run-00000001", many)
	if status != http.StatusBadRequest || !strings.Contains(fmt.Sprint(answer), "at most 10000") {
		t.Errorf("too many lines: %d %.300v", status, answer)
	}
	for name, bad := range map[string]Config{"MaxBody": {MaxBody: -1}, "Timeout": {Timeout: -1},
		"Concurrent": {Concurrent: -1}} {
		bad.Authorise = allow
		if _, err := New(t.Context(), ledger.Memory(), bad); err == nil ||
			!strings.Contains(err.Error(), name) {
			t.Errorf("a negative %s: %v", name, err)
		}
	}
	if _, err := New(t.Context(), nil, Config{Authorise: allow}); err == nil {
		t.Error("a handler without a store")
	}
}

// TestClosedHandlers: a closed handler reserves nothing, and says that the request may be repeated.
func TestClosedHandlers(t *testing.T) {
	s := serve(t, Config{})
	h, err := New(context.Background(), s.store, Config{Authorise: allow})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(h.Close(), h.Close()); err != nil {
		t.Fatal(err)
	}
	for _, action := range []Action{Audit, Reserve} {
		if _, err := h.ledgers.get(people, action); !errors.Is(err, errClosed) {
			t.Errorf("%s after Close: %v", action, err)
		}
	}
	open := newLedgers(context.Background(), s.store)
	audit, err := open.get(people, Audit)
	if err != nil {
		t.Fatal(err)
	}
	if err := audit.Spend("x", accountant.Gaussian{NoiseMultiplier: 90}); !errors.Is(err,
		ledger.ErrReadOnly) {
		t.Errorf("an auditor's ledger spends: %v", err)
	}
	reserve, err := open.get(people, Reserve)
	if err != nil || reserve == audit {
		t.Fatal("one ledger for both actions", err)
	}
	if err := open.close(); err != nil {
		t.Fatal(err)
	}
	if err := reserve.Spend("x", accountant.Gaussian{NoiseMultiplier: 90}); err == nil {
		t.Error("a ledger stays open when the handler is closed")
	}
}
