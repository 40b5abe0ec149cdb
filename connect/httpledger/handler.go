package httpledger

import (
	"context"
	_ "embed" // the description
	"errors"
	"net/http"
	"time"

	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/store"
)

// Action is what a request is about to do.
type Action string

const (
	// Audit reads the names of ledgers, guarantees and lines.
	Audit Action = "audit"
	// Reserve reserves transactions and takes uses of them. Of the reservations
	// of others it reveals what a refusal says about the budget, and how many lines the ledger has and
	// the hash of the last one: a client that repeats a request learns when others have written lines,
	// but not what these contain.
	Reserve Action = "reserve"
)

// Authorise allows a request by returning nil. The ledger is "" for what concerns the whole store:
// the names of its ledgers, and the API description. Authorise identifies the client from the
// request. Its error is not sent. Several goroutines may call it at once.
type Authorise func(r *http.Request, action Action, ledger string) error

// Config holds the settings of a handler. Authorise has no default.
type Config struct {
	Authorise Authorise
	// MaxBody bounds a request's body, in bytes; 0 means 1 MiB.
	MaxBody int64
	// Timeout bounds the time for a request, from the first byte of its body; 0 means 30 seconds. Work
	// begun by then continues, and its transaction may be reserved.
	Timeout time.Duration
	// Concurrent bounds the number of requests served at once; others are rejected. 0 means 64.
	Concurrent int
}

// OpenAPI describes the API, as a document of version 3.1 in JSON.
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

// New returns a handler for a store. Ledgers stay open, and use the context, until Close.
//
// Errors: *param.Error, for a missing Authorise among others.
func New(ctx context.Context, s *store.Store, c Config) (*Handler, error) {
	var k param.Checker
	const path = "httpledger.Config"
	k.OK(s != nil, "httpledger.New.store", nil, "a store")
	k.OK(c.Authorise != nil, path+".Authorise", nil, "a function that decides who may do what")
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

const timedOut = `{"error":{"code":"timeout","message":"the request takes too long; what it ` +
	`asked for may have been done: ask again with the same transaction ID"}}`

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	// A server that cannot set deadlines has its own; the handler answers in time in any case.
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

// unknown answers a request for an unknown operation. Only a client that may audit the whole store
// learns that the operation does not exist; others get the answer for forbidden requests.
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

// cancelled reports whether the client has gone or the time is up.
func cancelled(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
