// Package workers has the gradient sums of private training computed by processes, on this machine
// or others: the driver draws each step's sample, worker processes read its records and add up
// their clipped gradients in fixed point, and the driver combines these sums exactly, adds the
// noise once and moves the parameters.
//
//	Pool     the driver's side: an sgd.Carrier
//	Serve    a worker process's side, around an sgd.Worker
//	Command  starts processes and talks to them by their standard input and output
//
// A driver's trainer is sgd.New(…, sgd.WithCarrier(key, pieces, pool)); what it trains is the same
// bits as in one process.
//
// # When a worker dies
//
// Its piece of the step is given to another process, and a new one is started in its place. The
// sample stays what it was, a piece counts once however often it was carried out, and noise is
// drawn when all pieces are in: the step is redone, not taken again, so that ε is what it was.
//
// # Transport
//
// Messages are frames with a length before them, on anything that is read and written in order:
// pipes to processes, ssh, a TLS connection. What they hold is sealed under a key that driver and
// workers share. Their lengths are not hidden: that of a task tells how many records of the sample
// its piece has, and many steps together tell the number of records. Under add-or-remove-one that
// number is private, and the lengths are no part of what a guarantee covers: only those who may see
// the records may watch the transport.
package workers
