// Package workers computes the gradient sums of private training in several processes, on this
// machine or others. The driver draws each step's sample; worker processes read its records and add
// up their clipped gradients in fixed point; the driver combines these sums exactly, adds the noise
// once and moves the parameters.
//
//	Pool     the driver's side: an sgd.Carrier
//	Serve    a worker process's side, around an sgd.Worker
//	Command  starts processes and talks to them by their standard input and output
//
// The driver's trainer is sgd.New(…, sgd.WithCarrier(key, pieces, pool)). Its parameters are the
// same bits as in one process.
//
// # When a worker dies
//
// Another process carries out its piece of the step, and a new one is started in its place. The
// sample does not change, and a piece counts once, however often it is carried out. Noise is drawn
// once, after all pieces have come back: the step is not spent a second time, so ε is unchanged.
//
// # Transport
//
// Messages are frames with a length before them, on anything that is read and written in order:
// pipes to processes, ssh, a TLS connection. Their content is sealed under a key that driver and
// workers share. A task is padded to a public length, which is doubled only for an unusually
// large sample: see sgd.WithCarrier. The times at which messages are sent, and how long a worker
// takes, are not hidden.
//
// # Which workers belong together
//
// A worker refuses tasks of a trainer with another configuration, network, number of records or
// kind of machine, and the trainer refuses workers whose records differ: see sgd.NewWorker, which
// says what is not noticed.
package workers
