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
	packed  []uint32 // buffers for sparse lists that are copied to the device
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

// resources are released when a backend is collected. The primary context is not among them:
// matrices may outlive their backend, and freeing their memory needs a context, which ends with the
// process.
type resources struct {
	pool *pool
	blas *blas
}

func release(r resources) {
	defer bind(r.pool.ctx)()
	r.blas.close()
	r.pool.close()
}

// bind locks the goroutine to a thread with the context, until the returned function is called.
func bind(ctx cu.CUContext) func() {
	runtime.LockOSThread()
	if err := cu.SetCurrentContext(ctx); err != nil {
		runtime.UnlockOSThread()
		check("context", err)
	}
	return runtime.UnlockOSThread
}

// begin locks the device; end, deferred, unlocks it.
func (g *gpu) begin() {
	g.mu.Lock()
	runtime.LockOSThread()
	if err := cu.SetCurrentContext(g.ctx); err != nil {
		g.end() // end is not deferred yet
		check("context", err)
	}
}

func (g *gpu) end() {
	runtime.UnlockOSThread()
	g.mu.Unlock()
}

// check panics on an error of the device, since the interface has no error results.
func check(op string, err error) {
	if err != nil {
		panic(&Error{op, err})
	}
}

// Name returns the device's name.
func (g *gpu) Name() string { return g.name }

// Workers returns the number of the host's cores, which do noise, gathering and sums over records
// while the device multiplies.
func (g *gpu) Workers() int { return runtime.GOMAXPROCS(0) }
