//go:build cuda && cgo

package cuda

import (
	"errors"
	"math/bits"
	"runtime"
	"sync"
	"time"
	"unsafe"

	"github.com/seed7ba64551/privgen/device"
	"gorgonia.org/cu"
)

// block is device memory that goes back to its pool when no matrix refers to it any more.
type block struct {
	pool *pool
	at   cu.DevicePtr
	len  int // numbers
}

// memory is a place in a block.
type memory struct {
	*block
	offset int
}

// Offset returns the place that many numbers further on.
func (m memory) Offset(elements int) device.Memory { return memory{m.block, m.offset + elements} }

// piece is memory without an owner.
type piece struct {
	at    cu.DevicePtr
	bytes int64
}

// pool keeps memory that is no longer used for the next who wants as much of it. Reuse needs no
// waiting: its earlier uses are ahead in the queue.
type pool struct {
	ctx    cu.CUContext
	mu     sync.Mutex
	free   map[int64][]cu.DevicePtr
	closed bool
}

func newPool(ctx cu.CUContext) *pool { return &pool{ctx: ctx, free: map[int64][]cu.DevicePtr{}} }

// take is a block of n numbers, not cleared. The context must be current.
func (p *pool) take(n int) *block {
	size := rounded(4 * int64(n))
	at, ok := p.reuse(size)
	if !ok {
		var err error
		if at, err = cu.MemAlloc(size); errors.Is(err, cu.OutOfMemory) {
			at, err = p.squeeze(size)
		}
		check("memory", err)
	}
	b := &block{pool: p, at: at, len: n}
	runtime.AddCleanup(b, p.put, piece{at, size})
	return b
}

func (p *pool) reuse(size int64) (cu.DevicePtr, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.free[size]
	if len(list) == 0 {
		return 0, false
	}
	p.free[size] = list[:len(list)-1]
	return list[len(list)-1], true
}

// squeeze makes room: unreferenced matrices are known only to the garbage collector, which
// sees how small they are on the host and takes its time.
func (p *pool) squeeze(size int64) (at cu.DevicePtr, err error) {
	for wait := time.Millisecond; wait < 200*time.Millisecond; wait *= 2 {
		runtime.GC()
		time.Sleep(wait) // what it finds comes back on a goroutine of its own
		if err = p.drop(); err != nil {
			return 0, err
		}
		if at, err = cu.MemAlloc(size); err == nil {
			return at, nil
		}
	}
	return 0, err
}

// drop gives everything that is free back to the driver.
func (p *pool) drop() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for size, list := range p.free {
		for _, at := range list {
			if err := cu.MemFree(at); err != nil {
				return err
			}
		}
		delete(p.free, size)
	}
	return nil
}

// put takes memory back, on the goroutine of the runtime's cleanups.
func (p *pool) put(old piece) {
	p.mu.Lock()
	p.free[old.bytes] = append(p.free[old.bytes], old.at)
	closed := p.closed
	p.mu.Unlock()
	if closed {
		p.close()
	}
}

// close gives back what is free, and from then on whatever comes.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	defer bind(p.ctx)()
	_ = p.drop() // there is no caller left to report to
}

// rounded is a size that others are likely to ask for too: at most a quarter more.
func rounded(size int64) int64 {
	if size <= 512 {
		return 512
	}
	step := int64(1) << (bits.Len64(uint64(size-1)) - 3)
	return (size + step - 1) &^ (step - 1)
}

// room is scratch memory on the device that grows as needed.
type room struct{ block *block }

const (
	weightsRoom = iota // row weights, or sparse lists
	packRoom           // a matrix without gaps
	normsRoom          // results for the host
	sizesRoom          // squared norms of rows
	otherSizesRoom
	partsRoom // shares of sums
	otherPartsRoom
	meansRoom
	roomCount
)

// room is scratch memory for at least that many bytes.
func (g *gpu) room(which int, bytes int) cu.DevicePtr {
	r := &g.rooms[which]
	if n := (bytes + 3) / 4; r.block == nil || r.block.len < n {
		r.block = nil
		r.block = g.pool.take(n + n/4)
	}
	return r.block.at
}

// New allocates a zeroed matrix.
func (g *gpu) New(rows, cols int) device.Matrix {
	if rows < 0 || cols < 0 {
		panic("cuda: New: negative size")
	}
	m := device.Matrix{Rows: rows, Cols: cols, Stride: cols}
	if m.Empty() {
		return m
	}
	g.begin()
	defer g.end()
	b := g.pool.take(rows * cols)
	check("clearing memory", cu.MemsetD32(b.at, 0, int64(rows*cols)))
	m.Mem = memory{b, 0}
	return m
}

// Upload copies src into dst.
func (g *gpu) Upload(dst device.Matrix, src []float32) {
	g.want("Upload", dst)
	if len(src) != dst.Rows*dst.Cols {
		panic("cuda: Upload: the numbers do not fill the matrix")
	}
	if dst.Empty() {
		return
	}
	g.begin()
	defer g.end()
	if contiguous(dst) {
		send(address(dst), src)
		return
	}
	at := g.room(packRoom, 4*len(src))
	send(at, src)
	g.kernel(applyKernel).int(0).matrix(dst).pointer(at).int(dst.Cols).size(dst).each(len(src))
}

// Download copies src into dst, once all work on it is done.
func (g *gpu) Download(dst []float32, src device.Matrix) {
	g.want("Download", src)
	if len(dst) != src.Rows*src.Cols {
		panic("cuda: Download: the numbers do not fill the slice")
	}
	if src.Empty() {
		return
	}
	g.begin()
	defer g.end()
	at := address(src)
	if !contiguous(src) {
		at = g.room(packRoom, 4*len(dst))
		g.kernel(applyKernel).int(0).pointer(at).int(src.Cols).matrix(src).size(src).each(len(dst))
	}
	fetch(dst, at)
}

// send copies numbers to the device.
func send[T any](to cu.DevicePtr, from []T) {
	if len(from) == 0 {
		return
	}
	size := int64(len(from)) * int64(unsafe.Sizeof(from[0]))
	check("copy to the device", cu.MemcpyHtoD(to, unsafe.Pointer(&from[0]), size))
}

// fetch copies numbers from the device. It waits for them.
func fetch[T any](to []T, from cu.DevicePtr) {
	if len(to) == 0 {
		return
	}
	size := int64(len(to)) * int64(unsafe.Sizeof(to[0]))
	check("copy from the device", cu.MemcpyDtoH(unsafe.Pointer(&to[0]), from, size))
}
