package mechanism

import (
	"encoding/binary"
	"math"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/seed7ba64551/privgen/internal/entropy"
)

// chunk is how many coordinates one sub-stream serves: fixed, so that the noise
// does not depend on the number of workers, and small enough that a chunk stays
// in the cache while sink averages it and the optimiser takes its step.
const chunk = 8192

// parallel makes the noise of one sum in chunks. Everything it needs is kept
// from release to release. Chunk i draws from the allowance's sub-stream i,
// which continues where the release before left off.
type parallel struct {
	lanes   []*entropy.Stream
	workers []*worker

	sum           []float32
	lattice       *lattice
	grid, inverse float64
	sink          func(offset int, noisy []float64)
	next          atomic.Int64
	wait          sync.WaitGroup
}

// parallel prepares a release; the caller holds mu.
func (a *Allowance) parallel(sum []float32, l *lattice, grid float64) *parallel {
	if a.chunks == nil {
		a.chunks = new(parallel)
	}
	p := a.chunks
	p.sum, p.lattice, p.grid, p.inverse = sum, l, grid, 1/grid
	for chunks := (len(sum) + chunk - 1) / chunk; len(p.lanes) < chunks; {
		p.lanes = append(p.lanes, a.run.source.Stream(entropy.Chunked, a.id, uint32(len(p.lanes))))
	}
	return p
}

// run hands every chunk to sink, from the caller's goroutine and as many more as
// are wanted and useful.
func (p *parallel) run(workers int, sink func(offset int, noisy []float64)) {
	chunks := (len(p.sum) + chunk - 1) / chunk
	workers = max(min(workers, chunks), 1)
	for len(p.workers) < workers {
		p.workers = append(p.workers, newWorker(p))
	}
	p.sink = sink
	p.next.Store(0)
	p.wait.Add(workers - 1)
	for _, w := range p.workers[1:workers] {
		go w.start()
	}
	p.workers[0].work()
	p.wait.Wait()
	p.sum, p.sink = nil, nil
}

// worker fills chunks. It reads its lane through a buffer of its own; what is
// left of the buffer at a chunk's end is thrown away.
type worker struct {
	job   *parallel
	start func() // made once: a goroutine started from it allocates nothing
	lane  *entropy.Stream
	next  int
	noisy [chunk]float64
	buf   [8 * entropy.Buffer]byte
}

func newWorker(job *parallel) *worker {
	w := &worker{job: job}
	w.start = func() {
		defer job.wait.Done()
		w.work()
	}
	return w
}

func (w *worker) work() {
	p := w.job
	for {
		i := int(p.next.Add(1)) - 1
		lo := i * chunk
		if lo >= len(p.sum) {
			return
		}
		w.lane, w.next = p.lanes[i], len(w.buf)
		hi := min(lo+chunk, len(p.sum))
		w.fill(w.noisy[:hi-lo], p.sum[lo:hi])
		p.sink(lo, w.noisy[:hi-lo])
	}
}

// Uint64 makes the worker a source of words for the rare draws.
func (w *worker) Uint64() uint64 {
	if w.next == len(w.buf) {
		w.lane.Fill(w.buf[:])
		w.next = 0
	}
	word := binary.LittleEndian.Uint64(w.buf[w.next:])
	w.next += 8
	return word
}

// fill writes sum + noise on the grid. Its loop is lattice.fast and gradientStep
// in line: at 250 million draws a second there is no room for calls.
func (w *worker) fill(noisy []float64, sum []float32) {
	l, grid, inverse := w.job.lattice, w.job.grid, w.job.inverse
	shift := l.shift & 63
	half := l.half
	for j := 0; j < len(noisy); {
		if w.next == len(w.buf) {
			w.lane.Fill(w.buf[:])
			w.next = 0
		}
		words := w.buf[w.next:]
		n := min(len(words)/8, len(noisy)-j)
		words = words[:8*n]
		dst, src := noisy[j:j+n], sum[j:j+n]
		src = src[:len(dst)]
		i := 0
		for ; i < len(dst); i++ {
			word := binary.LittleEndian.Uint64(words)
			words = words[8:]
			strip, position := word&255, word>>9
			low, _ := bits.Mul64(position<<9, l.width[strip])
			low += half
			k := low >> shift
			if position >= stripInner[strip] || (low+uncertain)>>shift != k {
				break
			}
			v := math.Floor(float64(src[i])*inverse + 0.5)
			if !(v < sumLimit && v > -sumLimit) {
				v = gradientStep(v)
			}
			dst[i] = (v + float64(signed(int64(k), word))) * grid
		}
		w.next += 8 * i
		j += i
		if i < n {
			v := gradientStep(math.Floor(float64(sum[j])*inverse + 0.5))
			word := w.Uint64()
			noisy[j] = (v + float64(l.rare(word, w))) * grid
			j++
		}
	}
}
