package mechanism

import (
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
	kernels *kernels

	spec          Gradient
	lattice       *lattice
	grid, inverse float64
	sink          func(offset int, noisy []float64)
	next          atomic.Int64
	wait          sync.WaitGroup
}

// parallel prepares a release; the caller holds mu.
func (a *Allowance) parallel(spec Gradient, l *lattice, grid float64) *parallel {
	if a.chunks == nil {
		a.chunks = &parallel{kernels: fastest()}
	}
	p := a.chunks
	p.spec, p.lattice, p.grid, p.inverse = spec, l, grid, 1/grid
	for chunks := (spec.dim() + chunk - 1) / chunk; len(p.lanes) < chunks; {
		p.lanes = append(p.lanes, a.run.source.Stream(entropy.Chunked, a.id, uint32(len(p.lanes))))
	}
	return p
}

// run hands every chunk to sink, from the caller's goroutine and as many more as
// are wanted and useful.
func (p *parallel) run(workers int, sink func(offset int, noisy []float64)) {
	chunks := (p.spec.dim() + chunk - 1) / chunk
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
	defer func() {
		p.wait.Wait()
		p.spec, p.sink = Gradient{}, nil
	}()
	p.workers[0].work()
}

// worker fills chunks. It reads its lane through a buffer of its own; what is
// left of the buffer at a chunk's end is thrown away.
type worker struct {
	job   *parallel
	start func() // made once: a goroutine started from it allocates nothing
	lane  *entropy.Stream
	next  int
	noisy [chunk]float64
	words [entropy.Buffer]uint64
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
		if lo >= p.spec.dim() {
			return
		}
		w.lane, w.next = p.lanes[i], len(w.words)
		hi := min(lo+chunk, p.spec.dim())
		w.fill(w.noisy[:hi-lo], lo)
		p.sink(lo, w.noisy[:hi-lo])
	}
}

// Uint64 makes the worker a source of words for the rare draws.
func (w *worker) Uint64() uint64 {
	if w.next == len(w.words) {
		w.refill()
	}
	w.next++
	return w.words[w.next-1]
}

func (w *worker) refill() {
	w.lane.FillWords(w.words[:])
	w.next = 0
}

// fill writes sum + noise on the grid, from coordinate lo on.
func (w *worker) fill(noisy []float64, lo int) {
	for len(noisy) > 0 {
		n := min(len(w.words), len(noisy))
		w.drawSteps(w.job.lattice, noisy[:n])
		w.job.add(noisy[:n], lo)
		noisy, lo = noisy[n:], lo+n
	}
}

// add turns noise in steps into the noisy sum, from coordinate lo on.
func (p *parallel) add(noisy []float64, lo int) {
	s, hi := p.spec, lo+len(noisy)
	switch {
	case s.Units == nil:
		p.kernels.addSum(noisy, s.Sum[lo:hi], p.inverse, p.grid)
	case s.Carry == nil:
		p.kernels.addUnits(noisy, s.Units[lo:hi], s.Unit*p.inverse, p.grid)
	default:
		addCarried(noisy, s.Units[lo:hi], s.Carry[lo:hi], s.Unit*p.inverse, p.grid)
	}
}

// drawSteps fills dst with noise in grid steps.
func (w *worker) drawSteps(l *lattice, dst []float64) {
	for len(dst) > 0 {
		n := min(len(w.words)-w.next, len(dst))
		done := w.job.kernels.steps(l, dst[:n], w.words[w.next:])
		w.next += done
		if done < n {
			word := w.Uint64()
			dst[done] = float64(l.rare(word, w))
			done++
		} else if done < len(dst) {
			w.refill()
		}
		dst = dst[done:]
	}
}

// fastRun draws as many leading steps as one word each decides, and returns how
// many. It is lattice.fast in line: at 200 million draws a second there is no
// room for calls, nor, which is why it stands alone, for registers spilled by
// anything else. Vector kernels are faster and decide the same.
func (l *lattice) fastRun(dst []float64, words []uint64) int {
	shift, half, mask, edge := l.shift&63, l.half, l.mask, l.edge
	words = words[:len(dst)]
	for i, word := range words {
		s := &l.strips[word&(strips-1)]
		low, _ := bits.Mul64(word&^belowPosition, s.width)
		low += half
		if word >= s.inner || low&mask >= edge {
			return i
		}
		sign := int64(word<<(positionBits)) >> 63
		dst[i] = float64((int64(low>>shift) ^ sign) - sign)
	}
	return len(dst)
}

// addSum turns noise in grid steps into noisy sums: exact additions of whole
// numbers below 2^52, and an exact product.
func addSum(noisy []float64, sum []float32, inverse, grid float64) {
	sum = sum[:len(noisy)]
	// A float's bits without the sign rise with its size; not-a-number is above all.
	limit := math.Float32bits(float32(sumLimit * grid))
	for i, v := range sum {
		x := float64(v) * inverse
		if math.Float32bits(v)&^(1<<31) >= limit {
			x = clampStep(x)
		}
		noisy[i] = (((x + nearest) - nearest) + noisy[i]) * grid
	}
}

// addUnits is addSum for sums in whole units of 1/inverse grid steps.
func addUnits(noisy []float64, sum []int32, inverse, grid float64) {
	sum = sum[:len(noisy)]
	for i, v := range sum {
		noisy[i] = (((clampStep(float64(v)*inverse) + nearest) - nearest) + noisy[i]) * grid
	}
}

// addCarried is addUnits for sums beyond 31 bits.
func addCarried(noisy []float64, sum []int32, carry []float64, inverse, grid float64) {
	sum, carry = sum[:len(noisy)], carry[:len(noisy)]
	for i, v := range sum {
		noisy[i] = (((clampStep((float64(v)+carry[i])*inverse) + nearest) - nearest) + noisy[i]) * grid
	}
}
