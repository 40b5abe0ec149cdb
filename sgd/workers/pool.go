package workers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/seed7ba64551/privgen/param"
	"github.com/seed7ba64551/privgen/sgd"
)

// Options are the settings of a pool. Start must be set.
type Options struct {
	// Start starts a worker. It is called again to replace each worker that is lost.
	Start   func(ctx context.Context) (io.ReadWriteCloser, error)
	Workers int // number of workers at a time; 0 means 1
	// Losses is the number of workers that may be lost in one step before the step fails; 0 means
	// 100. A step that fails is spent, although nothing was released.
	Losses int
	// Patience is the time that a worker may take for a piece before the worker counts as lost; 0
	// means no limit.
	Patience time.Duration
}

// A Pool passes the pieces of a step to worker processes. It is an sgd.Carrier, for one trainer
// at a time.
type Pool struct {
	o     Options
	mu    sync.Mutex // held while a step is carried out
	slots []io.ReadWriteCloser
}

// New returns a pool. Processes are started when the first step needs them.
//
// Errors: *param.Error for invalid options.
func New(o Options) (*Pool, error) {
	var k param.Checker
	k.OK(o.Start != nil, "workers.Options.Start", nil, "a function that starts a worker")
	k.OK(o.Workers >= 0 && o.Workers <= 1<<12, "workers.Options.Workers", o.Workers,
		"a number of workers up to 4096, or 0 for 1")
	k.OK(o.Losses >= 0, "workers.Options.Losses", o.Losses,
		"the number of workers that may be lost in a step, or 0 for 100")
	k.OK(o.Patience >= 0, "workers.Options.Patience", o.Patience,
		"a duration that is not negative, or 0 for no limit")
	if err := k.Err(); err != nil {
		return nil, err
	}
	o.Workers, o.Losses = cmp.Or(o.Workers, 1), cmp.Or(o.Losses, 100)
	return &Pool{o: o, slots: make([]io.ReadWriteCloser, o.Workers)}, nil
}

// Close ends the workers.
//
// Errors: errors of closing the connections.
func (p *Pool) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for i, s := range p.slots {
		if s != nil {
			errs = append(errs, s.Close())
		}
		p.slots[i] = nil
	}
	return errors.Join(errs...)
}

// Carry sends every task to a worker and passes the results to take: see sgd.Carrier.
//
// Errors: the context's error; a worker's [Refusal]; sgd.ErrOther for workers that differ; the
// error of the last lost worker if too many were lost.
func (p *Pool) Carry(ctx context.Context, tasks [][]byte, take func(result []byte) error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s := &step{Options: p.o, take: take, stop: stop, left: len(tasks),
		queue: make(chan []byte, len(tasks))}
	for _, t := range tasks {
		s.queue <- t
	}
	if s.left == 0 {
		return nil
	}
	var group sync.WaitGroup
	for i := range min(len(p.slots), len(tasks)) {
		group.Go(func() { p.slots[i] = s.work(ctx, p.slots[i]) })
	}
	group.Wait()
	if s.left > 0 {
		return context.Cause(ctx)
	}
	return nil
}

// step is the state of a step's tasks.
type step struct {
	Options
	take func([]byte) error
	stop context.CancelCauseFunc

	queue chan []byte
	mu    sync.Mutex
	left  int // tasks whose result has not been accepted
	lost  int
}

// work sends tasks to one worker at a time, until no task is left or the step has failed. It
// returns the worker in use, or nil if there is none.
func (s *step) work(ctx context.Context, conn io.ReadWriteCloser) io.ReadWriteCloser {
	for {
		var task []byte
		select {
		case <-ctx.Done():
			return conn
		case t, open := <-s.queue:
			if !open {
				return conn
			}
			task = t
		}
		if ctx.Err() != nil { // the step has failed, but select may have chosen a task
			return conn
		}
		var err error
		if conn, err = s.once(ctx, conn, task); err == nil {
			s.done()
			continue
		}
		s.queue <- task // to be tried again; the queue has room for all tasks
		s.failed(err)
	}
}

// done counts a task whose result was accepted.
func (s *step) done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left--; s.left == 0 {
		close(s.queue) // every task is done, so nothing more is sent
	}
}

// failed counts a lost worker. It ends the step after a refusal or too many losses.
func (s *step) failed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var no *Refusal
	s.lost++
	if s.lost > s.Losses || errors.As(err, &no) || errors.Is(err, sgd.ErrOther) {
		s.stop(err)
	}
}

// A Refusal is a worker's answer to a task that it cannot carry out, for example because the
// trainer has another configuration. The step ends, since other workers would answer the same.
type Refusal struct{ Reason string }

// Error returns the worker's reason.
func (r *Refusal) Error() string { return "workers: a worker refuses its task: " + r.Reason }

// once sends one task to the worker. It starts a worker if conn is nil. It returns the worker for
// the next task, or nil after any error other than a refusal.
func (s *step) once(ctx context.Context, conn io.ReadWriteCloser,
	task []byte) (io.ReadWriteCloser, error) {
	if conn == nil {
		var err error
		if conn, err = s.Start(ctx); err != nil {
			return nil, fmt.Errorf("workers: starting a worker: %w", err)
		}
	}
	if s.Patience > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.Patience)
		defer cancel()
	}
	var closing sync.Once
	end := func() { closing.Do(func() { _ = conn.Close() }) }
	live := context.AfterFunc(ctx, end) // closing ends reading and writing
	err := s.exchange(conn, task)
	if live() {
		var no *Refusal
		if err == nil || errors.As(err, &no) {
			return conn, err
		}
	}
	end()
	if err == nil {
		return nil, nil // the result was accepted just before the worker was closed
	}
	return nil, err
}

// exchange sends a task and passes on its result.
func (s *step) exchange(conn io.ReadWriter, task []byte) error {
	if err := writeFrame(conn, frameTask, task); err != nil {
		return err
	}
	kind, content, err := readFrame(conn)
	switch {
	case err != nil:
		return err
	case kind == frameError:
		return &Refusal{string(content)}
	case kind != frameResult:
		return errFrame
	}
	return s.take(content)
}
