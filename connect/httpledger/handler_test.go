package httpledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
)

const people = "patients-2026"

// allow permits the actions that the header Authorization names.
func allow(r *http.Request, action Action, _ string) error {
	if strings.Contains(r.Header.Get("Authorization"), string(action)) {
		return nil
	}
	return errors.New("a secret reason")
}

type service struct {
	*httptest.Server
	store *ledger.Store
}

// serve starts a handler for a store of one ledger in memory.
func serve(t *testing.T, c Config) service {
	t.Helper()
	if c.Authorise == nil {
		c.Authorise = allow
	}
	s := ledger.Memory()
	l, err := s.Create(t.Context(), people, ledger.Terms{
		Budget: accountant.Budget{Epsilon: 1, Delta: 1e-6}})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	h, err := New(context.Background(), s, c)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	t.Cleanup(func() {
		server.Close()
		_ = h.Close()
	})
	return service{server, s}
}

// ask makes a request with permission for both actions.
func (s service) ask(t *testing.T, method, path, body string) (int, map[string]any) {
	t.Helper()
	return s.askAs(t, "audit reserve", method, path, body)
}

func (s service) askAs(t *testing.T, leave, method, path, body string) (int, map[string]any) {
	t.Helper()
	req, err := http.NewRequest(method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", leave)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	var answer map[string]any
	if err := json.Unmarshal(text, &answer); err != nil {
		t.Fatalf("%s %s: %d: %v\n%s", method, path, res.StatusCode, err, text)
	}
	if got := res.Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("%s %s: got content type %q, want application/json", method, path, got)
	}
	return res.StatusCode, answer
}

func (s service) ledger(t *testing.T) *ledger.Ledger {
	t.Helper()
	l, err := s.store.Audit(t.Context(), people)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// gaussian is a body with one line.
func gaussian(multiplier float64, count, take int) string {
	return fmt.Sprintf(`{"lines":[{"purpose":"count","event":{"kind":"gaussian",
		"noise_multiplier":%g},"count":%d,"take":%d}]}`, multiplier, count, take)
}

const here = "/v1/ledgers/" + people + "/transactions/"

func code(answer map[string]any) string {
	e, _ := answer["error"].(map[string]any)
	c, _ := e["code"].(string)
	return c
}

func TestNothingIsExposedWithoutLeave(t *testing.T) {
	if _, err := New(t.Context(), ledger.Memory(), Config{}); err == nil {
		t.Error("New accepts a configuration without Authorise")
	}
	s := serve(t, Config{})
	var h Handler
	for _, r := range append(h.routes(), route{method: "GET", path: "/"},
		route{method: "DELETE", path: "/v1/ledgers"}) { // the last two are not operations
		path := strings.NewReplacer("{ledger}", people, "{id}", "abcdefgh").Replace(r.path)
		for _, leave := range []string{"", "audit", "reserve"} {
			enough := Audit
			if r.method != "GET" && r.action != "" {
				enough = Reserve // every operation that changes a ledger
			}
			if leave == string(enough) {
				continue
			}
			status, answer := s.askAs(t, leave, r.method, path, gaussian(40, 1, 0))
			if status != http.StatusForbidden || code(answer) != "forbidden" ||
				strings.Contains(fmt.Sprint(answer), "secret") {
				t.Errorf("with permission %q: %s %s: got %d %v, want 403 forbidden", leave, r.method, path,
					status, answer)
			}
		}
	}
	if e := s.ledger(t).Entries(); len(e) != 0 {
		t.Errorf("uses are reserved without permission: %+v", e)
	}
}

// TestLeaveIsForTheLedgerOfThePath checks that every operation on a ledger asks for leave for this
// ledger, whatever else the request names.
func TestLeaveIsForTheLedgerOfThePath(t *testing.T) {
	asked := ""
	s := serve(t, Config{Authorise: func(_ *http.Request, _ Action, ledger string) error {
		asked = ledger
		return errors.New("no")
	}})
	var h Handler
	for _, r := range h.routes() {
		want := ""
		if strings.Contains(r.path, "{ledger}") {
			want = people
		}
		path := strings.NewReplacer("{ledger}", people, "{id}", "abcdefgh").Replace(r.path)
		asked = "nothing"
		s.ask(t, r.method, path+"?ledger=other", gaussian(40, 1, 0))
		if asked != want {
			t.Errorf("%s %s asks for leave for %q, want %q", r.method, path, asked, want)
		}
	}
}

// TestAskedAgain repeats one reservation several times at once, like a client that loses answers.
// The transaction must be charged once.
func TestAskedAgain(t *testing.T) {
	s := serve(t, Config{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			status, answer := s.ask(t, "PUT", here+"run-00000001", gaussian(40, 3, 0))
			if status != http.StatusOK {
				t.Errorf("got %d %v, want 200", status, answer)
			}
		})
	}
	wg.Wait()
	if e := s.ledger(t).Entries(); len(e) != 1 || e[0].Reserved != 3 || e[0].Spent != 0 {
		t.Errorf("got entries %+v, want one with 3 uses reserved and 0 spent", e)
	}
	status, answer := s.ask(t, "PUT", here+"run-00000001", gaussian(40, 4, 0))
	if status != http.StatusConflict || code(answer) != "other_lines" {
		t.Errorf("other lines under the same ID: got %d %v, want 409 other_lines", status, answer)
	}
}

// TestEndedRequestsReserveNothing: the context of a request is honoured before anything is written.
func TestEndedRequestsReserveNothing(t *testing.T) {
	s := serve(t, Config{})
	h, err := New(t.Context(), s.store, Config{Authorise: allow})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := httptest.NewRequestWithContext(ctx, "PUT", here+"run-00000001",
		strings.NewReader(gaussian(40, 3, 0)))
	r.Header.Set("Authorization", "reserve")
	w := httptest.NewRecorder()
	h.mux.ServeHTTP(w, r)
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "cancelled") {
		t.Errorf("got %d %s, want 503 cancelled", w.Code, w.Body)
	}
	if e := s.ledger(t).Entries(); len(e) != 0 {
		t.Errorf("got entries %+v, want none", e)
	}
}

// forgetful is a backend whose journals report one failure after the line is durable.
type forgetful struct {
	ledger.Backend
	fails *atomic.Bool
}

type forgetfulJournal struct {
	ledger.Journal
	fails *atomic.Bool
}

func (f forgetful) Journal(ctx context.Context, name string, mode ledger.Mode) (ledger.Journal,
	error) {
	j, err := f.Backend.Journal(ctx, name, mode)
	return forgetfulJournal{j, f.fails}, err
}

func (j forgetfulJournal) Append(ctx context.Context, after ledger.Position,
	lines []ledger.JournalLine) error {
	err := j.Journal.Append(ctx, after, lines)
	if j.fails.Swap(false) {
		return errors.New("the answer is lost")
	}
	return err
}

// TestLostAnswer: the store's answer is lost after the line of a reservation is durable. The client
// is told to repeat its request, and is then charged once.
func TestLostAnswer(t *testing.T) {
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
	fails.Store(true)
	status, answer := unsure.ask(t, "PUT", here+"run-00000001", gaussian(40, 3, 0))
	if status != http.StatusServiceUnavailable || code(answer) != "unavailable" {
		t.Errorf("a lost answer: got %d %v, want 503 unavailable", status, answer)
	}
	status, answer = unsure.ask(t, "PUT", here+"run-00000001", gaussian(40, 3, 0))
	if e := s.ledger(t).Entries(); status != http.StatusOK || len(e) != 1 || e[0].Reserved != 3 {
		t.Errorf("the same request: got %d %v and entries %+v, want one with 3 uses", status, answer, e)
	}
}

// TestUsesAreTakenOnce lets four clients take all uses of one transaction: no use is taken twice.
func TestUsesAreTakenOnce(t *testing.T) {
	s := serve(t, Config{})
	var mu sync.Mutex
	took := 0
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				status, answer := s.ask(t, "POST", here+"run-00000001/uses", gaussian(100, 50, 3))
				if status == http.StatusConflict && code(answer) == "exhausted" {
					return
				}
				if status != http.StatusOK {
					t.Errorf("got %d %v, want 200", status, answer)
					return
				}
				mu.Lock()
				took += 3
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if e := s.ledger(t).Entries()[0]; took > e.Spent || e.Spent > 50 || took < 42 {
		t.Errorf("clients took %d uses, the ledger counts %d of %d", took, e.Spent, e.Reserved)
	}
	status, answer := s.ask(t, "PUT", here+"run-00000002", gaussian(100, 50, 3))
	if status != http.StatusBadRequest {
		t.Errorf("a reservation that takes uses: got %d %v, want 400", status, answer)
	}
}

// TestUsesTakenElsewhereAreNotHandedOut names uses that a checkpoint counts and the ledger does
// not: they are counted now, and only the others are handed out.
func TestUsesTakenElsewhereAreNotHandedOut(t *testing.T) {
	s := serve(t, Config{})
	ask := func(take int) (int, map[string]any) {
		body := strings.Replace(gaussian(100, 5, take), `"count":5`, `"count":5,"taken":3`, 1)
		return s.ask(t, "POST", here+"run-00000001/uses", body)
	}
	if status, answer := ask(3); status != http.StatusConflict || code(answer) != "exhausted" {
		t.Errorf("three of two uses: got %d %v, want 409 exhausted", status, answer)
	}
	if status, answer := ask(2); status != http.StatusOK {
		t.Errorf("two of two uses: got %d %v, want 200", status, answer)
	}
	if e := s.ledger(t).Entries(); len(e) != 1 || e[0].Spent != 5 {
		t.Errorf("got entries %+v, want one with 5 uses spent", e)
	}
}

func TestRefusalSaysWhatWouldFit(t *testing.T) {
	s := serve(t, Config{})
	if status, answer := s.ask(t, "PUT", here+"run-00000001", gaussian(40, 5, 0)); status != 200 {
		t.Fatalf("reserving: got %d %v, want 200", status, answer)
	}
	status, answer := s.ask(t, "PUT", here+"run-00000002", gaussian(1, 1, 0))
	e, _ := answer["error"].(map[string]any)
	detail, _ := e["detail"].(map[string]any)
	if status != http.StatusUnprocessableEntity || code(answer) != "budget_exceeded" ||
		detail == nil {
		t.Fatalf("got %d %v, want 422 budget_exceeded with a detail", status, answer)
	}
	spent := s.ledger(t).Epsilon().Upper
	if detail["allowed"] != 1.0 || detail["spent"] != spent || detail["left"] != 1-spent ||
		!(detail["asked"].(float64) > 1) {
		t.Errorf("the detail is %v; the ledger has spent %v of 1", detail, spent)
	}
	if got := s.ledger(t).Entries(); len(got) != 1 {
		t.Errorf("got entries %+v, want one", got)
	}
}

// TestHostileRequests sends invalid requests. Each is refused, and nothing is reserved.
func TestHostileRequests(t *testing.T) {
	s := serve(t, Config{MaxBody: 1 << 16})
	deep := strings.Repeat(`{"lines":[`, 200)
	for name, c := range map[string]struct {
		id, body string
		status   int
	}{
		"no body":        {"run-00000001", "", 400},
		"no lines":       {"run-00000001", `{}`, 400},
		"two values":     {"run-00000001", gaussian(40, 1, 0) + `{}`, 400},
		"unknown field":  {"run-00000001", `{"lines":[],"price":0}`, 400},
		"deep":           {"run-00000001", deep, 400},
		"large":          {"run-00000001", strings.Repeat(" ", 1<<17), 413},
		"short ID":       {"a", gaussian(40, 1, 0), 400},
		"escaped ID":     {"run-0000%2F0001", gaussian(40, 1, 0), 400},
		"long ID":        {strings.Repeat("a", 200), gaussian(40, 1, 0), 400},
		"negative count": {"run-00000001", gaussian(40, -1, 0), 400},
		"no noise":       {"run-00000001", gaussian(0, 1, 0), 400},
		"event missing": {"run-00000001", `{"lines":[{"purpose":"x","count":1}]}`,
			400},
		"part of no group": {"run-00000001", `{"lines":[{"purpose":"x","count":1,"group":2,
			"event":{"kind":"gaussian","noise_multiplier":40}}]}`, 400},
	} {
		if status, answer := s.ask(t, "PUT", here+c.id, c.body); status != c.status {
			t.Errorf("%s: got unexpected status %d: %v", name, status, answer)
		}
	}
	for _, path := range []string{"/v1/ledgers/nobody", "/v1/ledgers/nobody/lines"} {
		if status, answer := s.ask(t, "GET", path, ""); status != 404 {
			t.Errorf("%s: got %d %v, want 404", path, status, answer)
		}
	}
	for _, path := range []string{"/v1/ledgers/..%2F..%2Fetc", "/v1/ledgers/" + people +
		"/lines?after=-1"} {
		if status, answer := s.ask(t, "GET", path, ""); status != 400 {
			t.Errorf("%s: got %d %v, want 400", path, status, answer)
		}
	}
	if e := s.ledger(t).Entries(); len(e) != 0 {
		t.Errorf("a refused request has reserved %+v", e)
	}
}

// TestSlowBody sends a body that never ends. The handler must answer within its time limit.
func TestSlowBody(t *testing.T) {
	s := serve(t, Config{Timeout: 200 * time.Millisecond})
	body, writer := io.Pipe()
	defer writer.Close()
	req, err := http.NewRequest("PUT", s.URL+here+"run-00000001", body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "reserve")
	begin := time.Now()
	res, err := http.DefaultClient.Do(req)
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("the answer took %v, want at most 5 s", took)
	}
	if err == nil {
		defer res.Body.Close()
		if res.StatusCode == http.StatusOK {
			t.Error("a body without an end is accepted")
		}
	}
}

// TestBusy occupies the only slot. Another request must get the code busy.
func TestBusy(t *testing.T) {
	s := serve(t, Config{Concurrent: 1, Timeout: 10 * time.Second})
	body, writer := io.Pipe()
	req, err := http.NewRequest("PUT", s.URL+here+"run-00000001", body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "reserve")
	done := make(chan error, 1)
	go func() {
		res, err := http.DefaultClient.Do(req)
		if err == nil {
			_ = res.Body.Close()
		}
		done <- err
	}()
	_, _ = writer.Write([]byte("{")) // returns when the server reads the body
	for begin := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		status, answer := s.ask(t, "GET", "/v1/ledgers", "")
		if status == http.StatusServiceUnavailable && code(answer) == "busy" {
			break
		}
		if time.Since(begin) > 5*time.Second {
			t.Fatalf("got %d %v, want 503 busy", status, answer)
		}
	}
	_ = writer.Close()
	<-done
}

// TestLines reads a history in pages and checks its chain of hashes as an auditor would.
func TestLines(t *testing.T) {
	s := serve(t, Config{})
	for i := range 5 {
		if status, answer := s.ask(t, "PUT", here+fmt.Sprintf("run-0000000%d", i),
			gaussian(40, 1, 0)); status != 200 {
			t.Fatalf("reserving: got %d %v, want 200", status, answer)
		}
	}
	var at ledger.Position
	after := 0.0
	for pages := 0; ; pages++ {
		status, answer := s.ask(t, "GET", fmt.Sprintf("/v1/ledgers/%s/lines?limit=2&after=%.0f",
			people, after), "")
		if status != 200 {
			t.Fatalf("reading lines: got %d %v, want 200", status, answer)
		}
		for _, l := range answer["lines"].([]any) {
			line := l.(map[string]any)
			got := ledger.JournalLine{Position: ledger.Position{
				Line: uint64(line["line"].(float64)), Hash: line["hash"].(string)},
				Text: []byte(line["text"].(string))}
			if err := got.Follows(at); err != nil {
				t.Fatal(err)
			}
			at = got.Position
		}
		next, more := answer["next"].(float64)
		if !more {
			if pages != 2 {
				t.Errorf("got %d pages, want 3", pages+1)
			}
			break
		}
		after = next
	}
	if got := *s.ledger(t).Kept(); got.Position != at {
		t.Errorf("the history ends at %v, the ledger at %v", at, got.Position)
	}
}

// TestDescription compares the OpenAPI document with the handler: the list of operations, and the
// form of every answer when all operations are called.
func TestDescription(t *testing.T) {
	var d description
	if err := json.Unmarshal(OpenAPI, &d); err != nil {
		t.Fatal(err)
	}
	var described, served []string
	for path, operations := range d.Paths {
		for method := range operations {
			described = append(described, strings.ToUpper(method)+" "+path)
		}
	}
	var h Handler
	for _, r := range h.routes() {
		served = append(served, r.method+" "+r.path)
	}
	slices.Sort(described)
	slices.Sort(served)
	if !slices.Equal(described, served) {
		t.Fatalf("described: %q\nserved: %q", described, served)
	}
	s := serve(t, Config{MaxBody: 1 << 16})
	one, of := "/v1/ledgers/{ledger}/transactions/{id}", "/v1/ledgers/{ledger}"
	for _, c := range []struct {
		leave, method, path, query, ledger, id, body string
		status                                       int
	}{
		{"audit", "GET", "/v1/openapi.json", "", "", "", "", 200},
		{"", "GET", "/v1/openapi.json", "", "", "", "", 403},
		{"audit", "GET", "/v1/ledgers", "", "", "", "", 200},
		{"", "GET", "/v1/ledgers", "", "", "", "", 403},
		{"reserve", "PUT", one, "", people, "run-00000001", gaussian(40, 3, 0), 200},
		{"reserve", "PUT", one, "", people, "run-00000001", gaussian(40, 2, 0), 409},
		{"reserve", "PUT", one, "", people, "run-00000002", gaussian(1, 2, 0), 422},
		{"reserve", "PUT", one, "", people, "run-00000002", "{", 400},
		{"reserve", "PUT", one, "", people, "run-00000002", strings.Repeat(" ", 1<<17), 413},
		{"reserve", "PUT", one, "", "nobody", "run-00000002", gaussian(40, 3, 0), 404},
		{"audit", "PUT", one, "", people, "run-00000002", gaussian(40, 3, 0), 403},
		{"reserve", "POST", one + "/uses", "", people, "run-00000001", gaussian(40, 3, 2), 200},
		{"reserve", "POST", one + "/uses", "", people, "run-00000001", gaussian(40, 3, 2), 409},
		{"audit", "GET", of, "", people, "", "", 200},
		{"audit", "GET", of, "", "nobody", "", "", 404},
		{"audit", "GET", of, "", "NOBODY", "", "", 400},
		{"reserve", "GET", of, "", people, "", "", 403},
		{"audit", "GET", of + "/lines", "?limit=2", people, "", "", 200},
		{"audit", "GET", of + "/lines", "?limit=x", people, "", "", 400},
	} {
		path := strings.NewReplacer("{ledger}", c.ledger, "{id}", c.id).Replace(c.path) + c.query
		status, answer := s.askAs(t, c.leave, c.method, path, c.body)
		if status != c.status {
			t.Errorf("%s %s: got unexpected status %d: %v", c.method, path, status, answer)
		}
		response, ok := d.Paths[c.path][strings.ToLower(c.method)].Responses[fmt.Sprint(status)]
		if !ok {
			t.Errorf("%s %s: status %d is not described", c.method, c.path, status)
			continue
		}
		for _, fault := range d.check(answer, response.Content["application/json"].Schema, "") {
			t.Errorf("%s %s: %d: %s", c.method, c.path, status, fault)
		}
		if c.status == 422 {
			detail := answer["error"].(map[string]any)["detail"]
			for _, fault := range d.check(detail, d.Components.Schemas["Refusal"], "") {
				t.Errorf("refusal: %s", fault)
			}
		}
	}
	wrong := map[string]any{"ledgers": []any{1.0}, "more": true}
	if got := d.check(wrong, d.Components.Schemas["Names"], ""); len(got) != 2 {
		t.Errorf("got faults %q", got) // shows that check can fail
	}
}

// description has the parts of an OpenAPI document that the test reads.
type description struct {
	Paths map[string]map[string]struct {
		Responses map[string]struct {
			Content map[string]struct{ Schema schema }
		}
	}
	Components struct{ Schemas map[string]schema }
}

type schema struct {
	Ref                  string `json:"$ref"`
	Type                 any
	Enum                 []string
	Required             []string
	Properties           map[string]schema
	Items                *schema
	AdditionalProperties *bool
}

// check returns the places at which a value does not match a schema.
func (d *description) check(v any, s schema, at string) (faults []string) {
	if s.Ref != "" {
		name := strings.TrimPrefix(s.Ref, "#/components/schemas/")
		target, ok := d.Components.Schemas[name]
		if !ok {
			return []string{at + ": no schema " + name}
		}
		return d.check(v, target, at)
	}
	if s.Type != nil && !strings.Contains(fmt.Sprint(s.Type), kindOf(v)) &&
		!(s.Type == "number" && kindOf(v) == "integer") {
		return []string{fmt.Sprintf("%s: %s, not %v", at, kindOf(v), s.Type)}
	}
	switch v := v.(type) {
	case string:
		if s.Enum != nil && !slices.Contains(s.Enum, v) {
			faults = append(faults, fmt.Sprintf("%s: %q is none of %q", at, v, s.Enum))
		}
	case []any:
		for i, e := range v {
			if s.Items != nil {
				faults = append(faults, d.check(e, *s.Items, fmt.Sprintf("%s[%d]", at, i))...)
			}
		}
	case map[string]any:
		for _, name := range s.Required {
			if _, ok := v[name]; !ok {
				faults = append(faults, at+"."+name+" is missing")
			}
		}
		for name, e := range v {
			if p, ok := s.Properties[name]; ok {
				faults = append(faults, d.check(e, p, at+"."+name)...)
			} else if s.AdditionalProperties != nil && !*s.AdditionalProperties {
				faults = append(faults, at+"."+name+" is not described")
			}
		}
	}
	return faults
}

func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case float64:
		if v == float64(int64(v)) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
}
