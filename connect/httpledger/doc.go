// Package httpledger serves a store of privacy ledgers over HTTP. Auditors read ledgers; services
// in other languages reserve transactions and take uses of them.
//
//	handler, err := httpledger.New(ctx, ledgers, httpledger.Config{Authorise: mayWe})
//	…
//	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
//
// Nothing is exposed unless the given [Authorise] permits it. It is called first for every request.
// The handler sees only ledgers: no record passes through it.
//
// Guarantee: that of package store. An answer to a reservation comes after its line is durable. A
// client chooses the ID of each transaction at random and repeats a request with the same ID if its
// answer is lost: the transaction is reserved once and charged once. Uses taken by a request whose
// answer was lost stay taken: they are lost and never drawn twice.
//
// The client draws the noise. The handler only grants uses of events. For each use the client must
// draw exactly the noise that the event states, once, as package mechanism does.
//
// The API is described by an OpenAPI document, at /v1/openapi.json and in [OpenAPI].
package httpledger
