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

// gpu is the backend for one device. All work is queued on the default stream of the context. So
// the device does the work in the order in which callers acquired the lock.
type gpu struct {
	name string
	ctx  cu.CUContext
	pool *pool

	mu      sync.Mutex
	kernels kernels
	call    call
	rooms   [roomCount]room
	packed  []uint32  // buffers for sparse lists that are copied to the device
	sent    []float32 // the weights that are in sentTo, on the device
	sentTo  cu.DevicePtr
}

func open(s settings) (device.Backend, error) {
	dev, err := cu.GetDevice(s.ordinal)
	if err != nil {
		return nil, fmt.Errorf("cuda: device %d: %w: %w", s.ordinal, err, device.ErrUnavailable)
	}
	// The primary context is shared with all other users of the device in this process.
	ctx, err := dev.RetainPrimaryCtx()
	if err != nil {
		return nil, fmt.Errorf("cuda: context of device %d: %w: %w", s.ordinal, err,
			device.ErrUnavailable)
	}
	g := &gpu{ctx: ctx, pool: newPool(ctx)}
	if err := g.load(dev); err != nil {
		return nil, errors.Join(err, dev.ReleasePrimaryCtx())
	}
	// The primary context is not released before the process ends: matrices may outlive their backend,
	// and freeing their memory needs a context.
	runtime.AddCleanup(g, (*pool).close, g.pool)
	return g, nil
}

func (g *gpu) load(dev cu.Device) error {
	defer bind(g.ctx)()
	name, err := dev.Name()
	if err != nil {
		return &Error{"name of the device", err}
	}
	g.name = "cuda (" + name + ")"
	g.kernels, err = loadKernels()
	return err
}

// bind locks the goroutine to a thread and makes the context current on that thread. The returned
// function unlocks the goroutine.
func bind(ctx cu.CUContext) func() {
	runtime.LockOSThread()
	if err := cu.SetCurrentContext(ctx); err != nil {
		runtime.UnlockOSThread()
		check("context", err)
	}
	return runtime.UnlockOSThread
}

// begin locks the device. The caller must defer end, which unlocks it.
func (g *gpu) begin() {
	g.mu.Lock()
	runtime.LockOSThread()
	if err := cu.SetCurrentContext(g.ctx); err != nil {
		g.end() // the caller has not deferred end yet
		check("context", err)
	}
}

func (g *gpu) end() {
	runtime.UnlockOSThread()
	g.mu.Unlock()
}

// check panics if err is not nil, because the methods of device.Backend return no errors.
func check(op string, err error) {
	if err != nil {
		panic(&Error{op, err})
	}
}

// Name returns "cuda" followed by the name of the device in parentheses.
func (g *gpu) Name() string { return g.name }

// Workers returns the number of cores of the host, which draw noise, collect records and add up
// sums over records while the device multiplies.
func (g *gpu) Workers() int { return runtime.GOMAXPROCS(0) }
