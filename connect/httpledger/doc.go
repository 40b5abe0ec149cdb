// Package httpledger serves a store of privacy ledgers over HTTP: to auditors for reading, and to
// services in other languages for reserving and taking what was reserved.
//
//	handler, err := httpledger.New(ctx, ledgers, httpledger.Config{Authorise: mayWe})
//	…
//	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
//
// Nothing is exposed unless the given [Authorise] permits it, which is called before anything else
// about every request. The handler knows ledgers only: no record passes through it.
//
// Guarantee: that of package store. An answer to a reservation comes after its line is durable.
// A client chooses the ID of each transaction at random and asks again with the same ID whenever an
// answer is lost: the transaction is set aside once, and charged once. Uses that were taken by
// a request whose answer was lost stay taken: they are lost and never drawn twice.
//
// The noise is the client's own: the handler hands out uses of events, and a client that draws must
// draw what the event says, once for each use, in the manner of package mechanism.
//
// The API is described by an OpenAPI document, at /v1/openapi.json and in [OpenAPI].
package httpledger
