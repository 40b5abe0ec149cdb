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
// Guarantee: the guarantee of package ledger. A reservation is answered after its line is durable.
// A client chooses the ID of each transaction at random. If an answer is lost, the client repeats
// the request with the same ID, and the transaction is still reserved and charged once. If a
// request took uses and its answer was lost, these uses are lost; they are never drawn twice.
//
// The client draws the noise. The handler only grants uses of events. For each use the client must
// draw exactly the noise that the event states, once, as package mechanism does.
//
// An OpenAPI document at /v1/openapi.json and in [OpenAPI] describes the API.
package httpledger
