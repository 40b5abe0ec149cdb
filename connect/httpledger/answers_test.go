package httpledger

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

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
	tiny := `{"purpose":"x","event":{"kind":"gaussian","noise_multiplier":1e6},"count":20000,` +
		`"take":%d}`
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

// TestAnswersSayWhatTheyAreAbout: the headers of every answer, the transaction in the answer to a
// reservation, and what a client learns of an operation that does not exist.
func TestAnswersSayWhatTheyAreAbout(t *testing.T) {
	s := serve(t, Config{})
	_, answer := s.ask(t, "PUT", here+"run-00000001", gaussian(90, 5, 0))
	line := answer["lines"].([]any)[0].(map[string]any)
	kept := answer["kept"].(map[string]any)
	last := s.ledger(t).Kept()
	if answer["id"] != "run-00000001" || line["purpose"] != "count" || line["reserved"] != 5.0 ||
		line["left"] != 5.0 || line["took"] != 0.0 || kept["id"] != last.ID ||
		kept["position"].(map[string]any)["hash"] != last.Position.Hash {
		t.Errorf("got %v, want run-00000001 and the ledger's %+v", answer, last)
	}
	for path, want := range map[string]int{"/v1/nothing": 404, "/v1/ledgers": 200} {
		if status, answer := s.ask(t, "GET", path, ""); status != want || want == 404 &&
			code(answer) != "not_found" {
			t.Errorf("%s: got %d %v, want %d", path, status, answer, want)
		}
		res, err := http.Get(s.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		for name, want := range map[string]string{"Content-Type": "application/json",
			"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"} {
			if got := res.Header.Get(name); res.StatusCode != http.StatusForbidden || got != want {
				t.Errorf("%s: %d with %s %q, want 403 with %q", path, res.StatusCode, name, got, want)
			}
		}
	}
}

// TestDefaultLimits: what a handler allows if its settings say nothing, and the longest page of
// lines.
func TestDefaultLimits(t *testing.T) {
	h, err := New(t.Context(), ledger.Memory(), Config{Authorise: allow})
	if err != nil {
		t.Fatal(err)
	}
	if c := h.config; c.MaxBody != 1<<20 || c.Timeout != 30*time.Second || c.Concurrent != 64 ||
		cap(h.slots) != 64 {
		t.Errorf("got %d bytes, %v and %d at once, want 1 MiB, 30 s and 64", c.MaxBody, c.Timeout,
			cap(h.slots))
	}
	for text, want := range map[string]uint64{"": 7, "0": 0, "12": 12,
		"9223372036854775807": 1<<63 - 1} {
		r := httptest.NewRequest("GET", "/?n="+text, nil)
		if n, err := number(r, "n", 7); err != nil || n != want {
			t.Errorf("%q: got %d %v, want %d", text, n, err, want)
		}
	}
	for _, text := range []string{"9223372036854775808", "-1", "0x10", "1.0", "a"} {
		if _, err := number(httptest.NewRequest("GET", "/?n="+text, nil), "n", 7); err == nil {
			t.Errorf("the number %q is accepted", text)
		}
	}
	s := serve(t, Config{MaxBody: 4 << 20})
	events := make([]string, mostLinesAsked)
	for i := range events {
		events[i] = fmt.Sprintf(`{"purpose":"x","event":{"kind":"gaussian","noise_multiplier":1e6},`+
			`"count":%d}`, i%2) // a line of no uses is refused only after the number of lines
	}
	status, answer := s.ask(t, "PUT", here+"run-00000001", `{"lines":[`+strings.Join(events,
		",")+`]}`)
	if strings.Contains(fmt.Sprint(answer), "at most 10000") {
		t.Errorf("10,000 lines: %d %.300v", status, answer)
	}
	l, err := s.store.Open(t.Context(), people)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for l.Kept().Position.Line < mostLines+1 {
		if err := l.Spend("x", accountant.Gaussian{NoiseMultiplier: 1e6}); err != nil {
			t.Fatal(err)
		}
	}
	for query, want := range map[string]int{"": mostLines, "?limit=1000": mostLines,
		"?limit=5000": mostLines, "?limit=0": 1, "?limit=1": 1, "?limit=2": 2, "?limit=999": 999} {
		status, answer := s.ask(t, "GET", "/v1/ledgers/"+people+"/lines"+query, "")
		lines, _ := answer["lines"].([]any)
		if status != 200 || len(lines) != want || answer["next"] != float64(want) {
			t.Errorf("lines%s: %d, %d lines and next %v, want %d", query, status, len(lines),
				answer["next"], want)
		}
	}
}

// stuck is a backend whose journals do not close without an error.
type stuck struct{ ledger.Backend }

type stuckJournal struct{ ledger.Journal }

func (s stuck) Journal(ctx context.Context, name string, mode ledger.Mode) (ledger.Journal, error) {
	j, err := s.Backend.Journal(ctx, name, mode)
	return stuckJournal{j}, err
}

var errStuck = errors.New("the disk is gone")

func (j stuckJournal) Close() error { return errors.Join(j.Journal.Close(), errStuck) }

// TestCloseReportsWhatFailed: Close returns the errors of the ledgers that it closes.
func TestCloseReportsWhatFailed(t *testing.T) {
	s := serve(t, Config{})
	h, err := New(t.Context(), ledger.NewStore(stuck{s.store.Backend}), Config{Authorise: allow})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.ledgers.get(people, Reserve); err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); !errors.Is(err, errStuck) {
		t.Errorf("got %v, want %v", err, errStuck)
	}
}

// unlisted is a backend whose names cannot be read.
type unlisted struct{ ledger.Backend }

func (unlisted) Names(context.Context) ([]string, error) { return nil, errStuck }

// TestAuditsStateWhatFailed: requests about the store and about lines that cannot be read, and
// pages that end by their size.
func TestAuditsStateWhatFailed(t *testing.T) {
	s := serve(t, Config{})
	h, err := New(t.Context(), ledger.NewStore(unlisted{s.store.Backend}), Config{Authorise: allow})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	server := httptest.NewServer(h)
	defer server.Close()
	if status, answer := (service{server, s.store}).ask(t, "GET", "/v1/ledgers", ""); status !=
		http.StatusServiceUnavailable || code(answer) != "unavailable" {
		t.Errorf("names that cannot be read: %d %v", status, answer)
	}
	if status, answer := s.ask(t, "GET", "/v1/ledgers/..%2Fx/lines", ""); status != 400 {
		t.Errorf("lines of no name: %d %v", status, answer)
	}
	status, answer := s.ask(t, "GET", "/v1/ledgers/"+people+"/lines?after=99", "")
	if lines, list := answer["lines"].([]any); status != 200 || !list || len(lines) != 0 ||
		answer["next"] != nil {
		t.Errorf("lines after the last: %d %v", status, answer)
	}
	r := refusalOf(&ledger.Refusal{Limit: "budget", Purpose: "x", Spent: 1, Asked: 2, Allowed: 3})
	if r.Limit != "budget" || r.Purpose != "x" || r.Spent != 1 || r.Asked != 2 || r.Allowed != 3 {
		t.Errorf("the refusal is %+v", r)
	}
	l, err := s.store.Open(t.Context(), people)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for i := range 4 { // each transaction is a line of more than 3 MiB
		tr := ledger.Transaction{ID: fmt.Sprintf("run-%08d", i)}
		for range 15_000 {
			tr.Lines = append(tr.Lines, ledger.Line{Purpose: strings.Repeat("x", 150), Count: 1,
				Event: accountant.Gaussian{NoiseMultiplier: 1e6}})
		}
		if _, err := l.ReserveAll(tr); err != nil {
			t.Fatal(err)
		}
	}
	total, pages := 0, 0
	for after := any(0.0); after != nil; pages++ {
		_, answer := s.ask(t, "GET", fmt.Sprintf("/v1/ledgers/%s/lines?after=%v", people, after), "")
		lines, size := answer["lines"].([]any), 0
		for _, line := range lines {
			size += len(line.(map[string]any)["text"].(string))
		}
		total, after = total+len(lines), answer["next"]
		if size > mostText || len(lines) == 0 {
			t.Errorf("a page has %d lines of %d bytes", len(lines), size)
		}
	}
	if last := int(l.Kept().Position.Line); total != last || pages < 2 {
		t.Errorf("%d pages have %d of %d lines", pages, total, last)
	}
}

// TestLongLinesAreRead: a snapshot of a large ledger may be longer than an answer. It is an answer
// of its own, and auditors read on.
func TestLongLinesAreRead(t *testing.T) {
	s := serve(t, Config{})
	j, err := s.store.Journal(t.Context(), people, ledger.Write)
	if err != nil {
		t.Fatal(err)
	}
	var at ledger.Position
	for l, err := range j.Read(t.Context(), at) {
		if err != nil {
			t.Fatal(err)
		}
		at = l.Position
	}
	first := at.Line
	for _, length := range []int{mostText + 1, 10} {
		text := fmt.Appendf(nil, `{"line":%d,"x":%q}`, at.Line+1, strings.Repeat("x", length))
		next := ledger.Position{Line: at.Line + 1, Hash: ledger.ChainHash(at.Hash, text)}
		line := []ledger.JournalLine{{Position: next, Text: text}}
		if err := j.Append(t.Context(), at, line); err != nil {
			t.Fatal(err)
		}
		at = next
	}
	for after := first; after < at.Line; after++ {
		_, answer := s.ask(t, "GET", fmt.Sprintf("/v1/ledgers/%s/lines?after=%d", people, after), "")
		if lines, _ := answer["lines"].([]any); len(lines) != 1 {
			t.Errorf("after line %d: a page of %d lines", after, len(lines))
		}
	}
}

// TestSlotsAreFreed: an answer frees its slot for the next request. A client of a busy handler is
// told when to ask again.
func TestSlotsAreFreed(t *testing.T) {
	h, err := New(t.Context(), ledger.Memory(), Config{Concurrent: 1, Authorise: allow})
	if err != nil {
		t.Fatal(err)
	}
	ask := func() *httptest.ResponseRecorder {
		r := httptest.NewRequest("GET", "/v1/ledgers", nil)
		r.Header.Set("Authorization", "audit")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	for i := range 3 {
		if w := ask(); w.Code != http.StatusOK {
			t.Fatalf("request %d: got %d %s, want 200", i, w.Code, w.Body)
		}
	}
	h.slots <- struct{}{}
	if w := ask(); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("without a slot: got %d, Retry-After %q, want 503 and a time", w.Code,
			w.Header().Get("Retry-After"))
	}
}

// TestUsesOfAFailingStoreAreNotHandedOut: the store fails while a request takes uses. The answer is
// an error, since the uses may be taken from the ledger, but not that they were handed out.
func TestUsesOfAFailingStoreAreNotHandedOut(t *testing.T) {
	s := serve(t, Config{})
	var fails atomic.Bool
	h, err := New(t.Context(), ledger.NewStore(forgetful{s.store.Backend, &fails}),
		Config{Authorise: allow})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	server := httptest.NewServer(h)
	defer server.Close()
	unsure := service{server, s.store}
	status, answer := unsure.ask(t, "PUT", here+"run-00000001", gaussian(40, 3, 0))
	if status != http.StatusOK {
		t.Fatalf("got %d %v, want 200", status, answer)
	}
	fails.Store(true)
	status, answer = unsure.ask(t, "POST", here+"run-00000001/uses", gaussian(40, 3, 1))
	if status != http.StatusServiceUnavailable || code(answer) != "unavailable" || fails.Load() {
		t.Errorf("uses without an answer of the store: got %d %v, want 503 unavailable", status, answer)
	}
}
