// Package workers computes the gradient sums of private training in several processes, on this
// machine or others. The driver draws each step's sample. Worker processes read the sampled records
// and add up their clipped gradients in fixed point. The driver combines these sums exactly, adds
// the noise once and moves the parameters.
//
//	Pool     the driver's side: an sgd.Carrier
//	Serve    a worker process's side, around an sgd.Worker
//	Command  starts processes and talks to them over their standard input and output
//
// The driver's trainer is sgd.New(…, sgd.WithCarrier(key, pieces, pool)). Its parameters are bit
// for bit the parameters of a run in one process.
//
// # When a worker dies
//
// Another process computes the dead worker's piece of the step, and a new process is started in its
// place. The sample does not change, and a piece counts once even if it is computed more than once.
// Noise is drawn once, after all pieces have come back: the step is not spent a second time, so ε
// is unchanged.
//
// # Transport
//
// Messages are frames that begin with a length. They can travel over any ordered stream: pipes to
// processes, ssh, a TLS connection. Their content is sealed under a key that the driver and the
// workers share. A task is padded to a public length, which is doubled only for an unusually large
// sample: see sgd.WithCarrier. The times of messages are not hidden, and the working time of a
// worker is not hidden.
//
// # Mismatched workers
//
// A worker refuses tasks of a trainer with another configuration, network, number of records or
// kind of machine. The trainer refuses workers whose records differ. The documentation of
// sgd.NewWorker lists the differences that are not noticed.
package workers
