package durable

import (
	"context"
	"errors"
	"os"
	"sync"
)

// A Mutex provides mutual exclusion between processes, and between handles in one process. It locks
// a file, which it never removes. The lock ends with the process that holds it.
type Mutex struct {
	path string

	mu   sync.Mutex
	file *os.File
}

// NewMutex returns the mutex of the file at path, which it creates if it is missing.
func NewMutex(path string) *Mutex { return &Mutex{path: path} }

// Lock waits for the lock until ctx ends. The function that it returns releases the lock.
//
// Errors: errors of the context and of the file system; errors.ErrUnsupported if the system has no
// locks that end with their process.
func (m *Mutex) Lock(ctx context.Context) (unlock func(), err error) {
	for {
		f, err := m.open()
		if err != nil {
			return nil, err
		}
		if err := waitLock(ctx, f); err != nil {
			return nil, err
		}
		if current(f, m.path) {
			return func() { _ = unlockFile(f); m.keep(f) }, nil
		}
		if err := f.Close(); err != nil { // the file was replaced; a lock on it has no effect
			return nil, err
		}
	}
}

// open returns the file that was kept, or opens the file.
func (m *Mutex) open() (*os.File, error) {
	m.mu.Lock()
	f := m.file
	m.file = nil
	m.mu.Unlock()
	if f != nil {
		return f, nil
	}
	return os.OpenFile(m.path, os.O_RDWR|os.O_CREATE, 0o600)
}

// keep keeps an unlocked file for the next Lock.
func (m *Mutex) keep(f *os.File) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.file == nil {
		m.file = f
		return
	}
	_ = f.Close()
}

// Close closes the file that was kept. It does not release a lock that is held.
func (m *Mutex) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.file
	m.file = nil
	if f == nil {
		return nil
	}
	return f.Close()
}

// waitLock locks f, or closes it and returns an error. The operating system does the waiting and
// treats all waiting processes fairly.
func waitLock(ctx context.Context, f *os.File) error {
	if err := ctx.Err(); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := lockFile(f); !errors.Is(err, ErrLocked) {
		return closeIf(err, f)
	}
	if ctx.Done() == nil {
		return closeIf(blockFile(f), f)
	}
	got := make(chan error, 1)
	go func() { got <- blockFile(f) }()
	select {
	case err := <-got:
		return closeIf(err, f)
	case <-ctx.Done():
		go func() { // the wait cannot be cancelled; if it gets the lock, closing f releases it
			<-got
			_ = f.Close()
		}()
		return ctx.Err()
	}
}

func closeIf(err error, f *os.File) error {
	if err == nil {
		return nil
	}
	return errors.Join(err, f.Close())
}
