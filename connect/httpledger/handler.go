package httpledger

import (
	"context"
	_ "embed" // for openapi.json
	"errors"
	"net/http"
	"time"

	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
)

// Action is the kind of operation that a request asks for.
type Action string

const (
	// Audit reads the names of ledgers, guarantees and lines.
	Audit Action = "audit"
	// Reserve reserves transactions and takes uses of them. It reveals three facts about the
	// reservations of others: the statement of a refusal about the budget, the number of the ledger's
	// lines, and the hash of the last line. A client that repeats a request learns when others have
	// written lines, but not the content of these lines.
	Reserve Action = "reserve"
)

// Authorise allows a request by returning nil. The ledger is "" for requests about the whole store:
// the names of its ledgers, and the API description. Authorise identifies the client from the
// request. Its error is not sent. Several goroutines may call it at once.
type Authorise func(r *http.Request, action Action, ledger string) error

// Config holds the settings of a handler. Authorise has no default.
type Config struct {
	Authorise Authorise
	// MaxBody is the largest size of a request's body in bytes; 0 means 1 MiB.
	MaxBody int64
	// Timeout is the longest time for a request, from the first byte of its body; 0 means 30
	// seconds. A transaction that is still being priced by then is not reserved. Other work that has
	// begun continues, and its transaction may be reserved.
	Timeout time.Duration
	// Concurrent is the largest number of requests served at once; others are rejected. 0 means 64.
	Concurrent int
}

// OpenAPI is the description of the API, an OpenAPI 3.1 document in JSON.
//
//go:embed openapi.json
var OpenAPI []byte

// Handler serves the ledgers of a store. It is safe for concurrent use.
type Handler struct {
	config  Config
	ledgers *ledgers
	slots   chan struct{}
	mux     http.Handler
}

// New returns a handler for a store. Ledgers remain open until Close and use the context.
//
// Errors: *param.Error, for example if Authorise is missing.
func New(ctx context.Context, s *ledger.Store, c Config) (*Handler, error) {
	var k param.Checker
	const path = "httpledger.Config"
	k.OK(s != nil, "httpledger.New.store", nil, "a store")
	k.OK(c.Authorise != nil, path+".Authorise", nil, "a function that allows or refuses requests")
	k.OK(c.MaxBody >= 0, path+".MaxBody", c.MaxBody, "a number of bytes, or 0")
	k.OK(c.Timeout >= 0, path+".Timeout", c.Timeout, "a duration, or 0")
	k.OK(c.Concurrent >= 0, path+".Concurrent", c.Concurrent, "a number of requests, or 0")
	if err := k.Err(); err != nil {
		return nil, err
	}
	if c.MaxBody == 0 {
		c.MaxBody = 1 << 20
	}
	if c.Timeout == 0 {
		c.Timeout = 30 * time.Second
	}
	if c.Concurrent == 0 {
		c.Concurrent = 64
	}
	h := &Handler{config: c, ledgers: newLedgers(ctx, s), slots: make(chan struct{}, c.Concurrent)}
	mux := http.NewServeMux()
	for _, r := range h.routes() {
		mux.HandleFunc(r.method+" "+r.path, h.serve(r))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeError(w, h.unknown(r))
	})
	h.mux = mux
	return h, nil
}

// Close closes the ledgers.
func (h *Handler) Close() error { return h.ledgers.close() }

// route is one operation of the API.
type route struct {
	method, path string
	action       Action
	do           func(r *http.Request) (any, error)
}

func (h *Handler) routes() []route {
	return []route{
		{"GET", "/v1/openapi.json", Audit, h.describe},
		{"GET", "/v1/ledgers", Audit, h.names},
		{"GET", "/v1/ledgers/{ledger}", Audit, h.guarantee},
		{"GET", "/v1/ledgers/{ledger}/lines", Audit, h.lines},
		{"PUT", "/v1/ledgers/{ledger}/transactions/{id}", Reserve, h.reserve},
		{"POST", "/v1/ledgers/{ledger}/transactions/{id}/uses", Reserve, h.take},
	}
}

const timedOut = `{"error":{"code":"timeout","message":"the request takes too long and may ` +
	`have been carried out; repeat it with the same transaction ID"}}`

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	// The error is ignored: a server that cannot set deadlines has its own, and TimeoutHandler
	// answers in time in any case.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(h.config.Timeout))
	http.TimeoutHandler(h.mux, h.config.Timeout, timedOut).ServeHTTP(w, r)
}

// serve authorises a request and answers it.
func (h *Handler) serve(to route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := h.config.Authorise(r, to.action, r.PathValue("ledger")); err != nil {
			writeError(w, errForbidden)
			return
		}
		select {
		case h.slots <- struct{}{}:
			defer func() { <-h.slots }()
		default:
			w.Header().Set("Retry-After", "1")
			writeError(w, errBusy)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, h.config.MaxBody)
		answer, err := to.do(r)
		if err != nil {
			writeError(w, err)
			return
		}
		writeJSON(w, http.StatusOK, answer)
	}
}

// unknown answers a request for an unknown operation. A client that may audit the whole store is
// told that the operation does not exist. Others get the answer for forbidden requests.
func (h *Handler) unknown(r *http.Request) error {
	if h.config.Authorise(r, Audit, "") != nil {
		return errForbidden
	}
	return errNoOperation
}

var (
	errForbidden   = &failure{http.StatusForbidden, "forbidden", "not allowed", nil}
	errBusy        = &failure{http.StatusServiceUnavailable, "busy", "too many requests at once", nil}
	errNoOperation = &failure{http.StatusNotFound, "not_found", "no such operation", nil}
)

// cancelled reports whether the client has disconnected or the time limit has passed.
func cancelled(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
