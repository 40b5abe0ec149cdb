//go:build cuda && cgo

package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/seed7ba64551/privgen/device"
	"gorgonia.org/cu"
)

// gpu is the backend of one device. Everything is queued on the context's default stream, where
// cuBLAS queues too: work on the device happens in the order in which the lock was taken.
type gpu struct {
	name string
	ctx  cu.CUContext
	blas *blas
	pool *pool

	mu      sync.Mutex
	kernels kernels
	call    call
	rooms   [roomCount]room
	packed  []uint32 // sparse lists on their way to the device
}

func open(s settings) (device.Backend, error) {
	dev, err := cu.GetDevice(s.ordinal)
	if err != nil {
		return nil, fmt.Errorf("cuda: device %d: %w: %w", s.ordinal, err, device.ErrUnavailable)
	}
	// The primary context is shared with all other users of the device in this process, cuBLAS among
	// them.
	ctx, err := dev.RetainPrimaryCtx()
	if err != nil {
		return nil, fmt.Errorf("cuda: context of device %d: %w: %w", s.ordinal, err,
			device.ErrUnavailable)
	}
	g := &gpu{ctx: ctx, pool: newPool(ctx)}
	if err := g.load(dev); err != nil {
		return nil, errors.Join(err, dev.ReleasePrimaryCtx())
	}
	runtime.AddCleanup(g, release, resources{g.pool, g.blas})
	return g, nil
}

func (g *gpu) load(dev cu.Device) error {
	defer bind(g.ctx)()
	name, err := dev.Name()
	if err != nil {
		return &Error{"name of the device", err}
	}
	g.name = "cuda (" + name + ")"
	if g.kernels, err = loadKernels(); err != nil {
		return err
	}
	g.blas, err = newBLAS()
	return err
}

// resources are what a backend leaves behind. The primary context is not among them: matrices may
// outlive their backend, and giving their memory back takes a context; it ends with the process.
type resources struct {
	pool *pool
	blas *blas
}

func release(r resources) {
	defer bind(r.pool.ctx)()
	r.blas.close()
	r.pool.close()
}

// bind ties the goroutine to a thread that works on the context, until the function that it returns
// is called.
func bind(ctx cu.CUContext) func() {
	runtime.LockOSThread()
	if err := cu.SetCurrentContext(ctx); err != nil {
		runtime.UnlockOSThread()
		check("context", err)
	}
	return runtime.UnlockOSThread
}

// begin takes the device; end, deferred, gives it back.
func (g *gpu) begin() {
	g.mu.Lock()
	runtime.LockOSThread()
	if err := cu.SetCurrentContext(g.ctx); err != nil {
		g.end() // the panic finds no deferred end yet
		check("context", err)
	}
}

func (g *gpu) end() {
	runtime.UnlockOSThread()
	g.mu.Unlock()
}

// check ends in a panic what a device cannot do: the interface has no way to say so.
func check(op string, err error) {
	if err != nil {
		panic(&Error{op, err})
	}
}

// Name returns the device's own.
func (g *gpu) Name() string { return g.name }

// Workers returns the number of the host's cores: noise, gathering and sums over records are theirs
// while the device multiplies.
func (g *gpu) Workers() int { return runtime.GOMAXPROCS(0) }
