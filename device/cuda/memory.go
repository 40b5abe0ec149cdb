//go:build cuda && cgo

package cuda

import (
	"errors"
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"time"
	"unsafe"

	"github.com/seed7ba64551/privgen/device"
	"gorgonia.org/cu"
)

// block is device memory that returns to its pool when no matrix refers to it.
type block struct {
	pool *pool
	at   cu.DevicePtr
	len  int // size in numbers
}

// memory is a position in a block.
type memory struct {
	*block
	offset int
}

// Offset returns the position that is the given number of elements further on.
func (m memory) Offset(elements int) device.Memory { return memory{m.block, m.offset + elements} }

// piece is device memory that no block owns.
type piece struct {
	at    cu.DevicePtr
	bytes int64
}

// pool keeps memory that is no longer used, for later requests of the same size. Memory can be
// reused at once, because its earlier uses precede the new ones in the queue.
type pool struct {
	ctx    cu.CUContext
	mu     sync.Mutex
	free   map[int64][]cu.DevicePtr
	closed bool
}

func newPool(ctx cu.CUContext) *pool { return &pool{ctx: ctx, free: map[int64][]cu.DevicePtr{}} }

// take returns a block of n numbers, which is not cleared. The context must be current.
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

// squeeze allocates memory after it has collected unreferenced matrices. The garbage collector does
// not run because of these matrices on its own, since they take little memory on the host.
func (p *pool) squeeze(size int64) (at cu.DevicePtr, err error) {
	for wait := time.Millisecond; wait < 200*time.Millisecond; wait *= 2 {
		runtime.GC()
		time.Sleep(wait) // cleanups return memory to the pool on another goroutine
		if err = p.drop(); err != nil {
			return 0, err
		}
		if at, err = cu.MemAlloc(size); err == nil {
			return at, nil
		}
	}
	return 0, err
}

// drop returns all free memory to the driver.
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

// put returns memory to the pool. The runtime calls it on the goroutine for cleanups.
func (p *pool) put(old piece) {
	p.mu.Lock()
	p.free[old.bytes] = append(p.free[old.bytes], old.at)
	closed := p.closed
	p.mu.Unlock()
	if closed {
		p.close()
	}
}

// close returns all free memory to the driver. After close, put returns memory to the driver at
// once.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	defer bind(p.ctx)()
	_ = p.drop() // no caller is left to receive the error
}

// rounded rounds a size up, by at most a quarter, to a size that other requests are likely to have.
func rounded(size int64) int64 {
	if size <= 512 {
		return 512
	}
	step := int64(1) << (bits.Len64(uint64(size-1)) - 3)
	return (size + step - 1) &^ (step - 1)
}

// room is scratch memory on the device, which grows as needed.
type room struct{ block *block }

const (
	weightsRoom = iota // row weights
	listsRoom          // sparse lists
	packRoom           // a matrix without gaps between rows
	normsRoom          // results that are copied to the host
	sizesRoom          // squared norms of rows
	otherSizesRoom
	partsRoom // parts of sums
	otherPartsRoom
	meansRoom
	noiseRoom // keys, counters and tables
	roomCount
)

// room returns scratch memory of at least the given size.
func (g *gpu) room(which int, bytes int) cu.DevicePtr {
	r := &g.rooms[which]
	if n := (bytes + 3) / 4; r.block == nil || r.block.len < n {
		r.block = nil
		r.block = g.pool.take(n + n/4)
	}
	return r.block.at
}

// Spare returns the number of bytes of memory that nobody uses.
func (g *gpu) Spare() int64 {
	g.begin()
	defer g.end()
	free, _, err := cu.MemInfo()
	check("memory", err)
	return free
}

// New allocates a zeroed matrix.
func (g *gpu) New(rows, cols int) device.Matrix {
	if rows < 0 || cols < 0 {
		panic(fmt.Sprintf("cuda: New: negative size %d×%d", rows, cols))
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
		panic("cuda: Upload: the slice and the matrix have different sizes: want equal sizes")
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

// Download copies src into dst after all work on src is done.
func (g *gpu) Download(dst []float32, src device.Matrix) {
	g.want("Download", src)
	if len(dst) != src.Rows*src.Cols {
		panic("cuda: Download: the slice and the matrix have different sizes: want equal sizes")
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
	g.forget()
	fetch(dst, at)
}

// forget clears what the backend keeps of records on the host: their weights and their lists.
func (g *gpu) forget() {
	clear(g.sent)
	clear(g.packed)
	g.sent, g.sentTo, g.packed = g.sent[:0], 0, g.packed[:0]
}

// fewNumbers is the largest number of numbers that are copied by way of memory of their own. They
// may be an array in an object with pointers, of which cgo allows no part as an argument.
const fewNumbers = 64

// send copies numbers to the device.
func send[T any](to cu.DevicePtr, from []T) {
	if len(from) == 0 {
		return
	}
	if len(from) <= fewNumbers {
		from = slices.Clone(from)
	}
	size := int64(len(from)) * int64(unsafe.Sizeof(from[0]))
	check("copy to the device", cu.MemcpyHtoD(to, unsafe.Pointer(&from[0]), size))
}

// fetch copies numbers from the device and waits until they have arrived.
func fetch[T any](to []T, from cu.DevicePtr) {
	if len(to) == 0 {
		return
	}
	size, at := int64(len(to))*int64(unsafe.Sizeof(to[0])), to
	if len(to) <= fewNumbers {
		at = make([]T, len(to))
	}
	check("copy from the device", cu.MemcpyDtoH(unsafe.Pointer(&at[0]), from, size))
	copy(to, at)
}
