package mechanism

import (
	"sync"
	"sync/atomic"

	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/mechanism/internal/sampler"
)

// chunk is the number of coordinates that use the same sub-stream. It is fixed, so that the noise
// does not depend on the number of workers.
const chunk = 8192

// block is the number of coordinates that are drawn and passed to sink at a time. The noise of a
// block, its part of the sum and the optimiser's moments together fit into the first-level cache.
const block = entropy.Buffer

// parallel makes the noise of one sum in chunks. Its memory is kept from release to release.
// Chunk i draws from the allowance's sub-stream i, which continues where the previous release
// ended.
type parallel struct {
	lanes   []*entropy.Stream
	workers []*worker
	active  []*worker // the workers of the current release
	kernels *sampler.Kernels
	piece   func(i int) // made once, so that a release allocates nothing

	spec          Gradient
	normal        *sampler.Normal
	band          *band // nil if noise is independent
	grid, inverse float64
	sink          func(offset int, noisy []float64)
	wait          sync.WaitGroup
}

func newParallel(k *sampler.Kernels) *parallel {
	p := &parallel{kernels: k}
	p.piece = func(i int) { p.work(i) }
	return p
}

// parallel prepares a release; the caller holds mu.
func (a *Allowance) parallel(spec Gradient, l *sampler.Normal, grid float64) *parallel {
	if a.chunks == nil {
		a.chunks = newParallel(sampler.Fastest())
	}
	p := a.chunks
	p.spec, p.normal, p.band, p.grid, p.inverse = spec, l, a.band, grid, 1/grid
	for chunks := (spec.dim() + chunk - 1) / chunk; len(p.lanes) < chunks; {
		p.lanes = append(p.lanes, a.run.source.Stream(entropy.Chunked, a.id, uint32(len(p.lanes))))
	}
	return p
}

// run passes every chunk to sink. It uses the requested number of goroutines, but at most one for
// each chunk.
func (p *parallel) run(workers int, sink func(offset int, noisy []float64)) {
	chunks := (p.spec.dim() + chunk - 1) / chunk
	workers = max(min(workers, chunks), 1)
	for len(p.workers) < workers {
		p.workers = append(p.workers, newWorker(p, len(p.workers)))
	}
	p.sink = sink
	for i, w := range p.workers[:workers] {
		w.first.Store(int64(i * chunks / workers))
		w.end = int64((i + 1) * chunks / workers)
	}
	p.active = p.workers[:workers]
	defer func() { p.spec, p.sink = Gradient{}, nil }()
	if share := p.spec.Share; share != nil {
		share(workers, p.piece)
		return
	}
	p.wait.Add(workers - 1)
	for _, w := range p.workers[1:workers] {
		go w.start()
	}
	defer p.wait.Wait()
	p.work(0)
}

// work fills the chunks of worker i's part, and then chunks that other workers have not begun.
// A worker has the same part in every release, so the parameters and the optimiser's moments that
// it moves stay in the cache of its core.
func (p *parallel) work(i int) {
	for k := range p.active {
		part := p.active[(i+k)%len(p.active)]
		for {
			c := part.first.Add(1) - 1
			if c >= part.end {
				break
			}
			p.active[i].fill(int(c))
		}
	}
}

// worker fills chunks. It reads its lane through a buffer; the rest of the buffer at the end of a
// chunk is discarded.
type worker struct {
	job   *parallel
	first atomic.Int64 // the next chunk of the worker's part
	end   int64
	start func() // made once, so that starting a goroutine allocates nothing
	lane  *entropy.Stream
	next  int
	noisy [block]float64
	words []uint64      // the words that are being read
	other []uint64      // memory for the next words
	ahead entropy.Ahead // the part of other that is being made
}

func newWorker(job *parallel, number int) *worker {
	w := &worker{job: job, words: make([]uint64, entropy.Buffer),
		other: make([]uint64, entropy.Buffer)}
	w.start = func() {
		defer job.wait.Done()
		job.work(number)
	}
	return w
}

// fill draws the noise of chunk i and passes the noisy sum to sink.
func (w *worker) fill(i int) {
	p, lo := w.job, i*chunk
	w.open(i)
	for hi := min(lo+chunk, p.spec.dim()); lo < hi; lo += block {
		noisy := w.noisy[:min(block, hi-lo)]
		w.drawSteps(p.normal, noisy)
		if p.band != nil {
			p.band.correlate(noisy, lo)
		}
		p.add(noisy, lo)
		p.sink(lo, noisy)
	}
}

// open begins to read the lane of chunk i.
func (w *worker) open(i int) {
	w.lane, w.next, w.ahead = w.job.lanes[i], len(w.words), entropy.Ahead{}
}

// Uint64 returns the next word. It makes the worker a source of words for the rare draws.
func (w *worker) Uint64() uint64 {
	if w.next == len(w.words) {
		w.refill()
	}
	w.next++
	return w.words[w.next-1]
}

func (w *worker) refill() {
	w.next = 0
	if w.ahead.Words == nil {
		w.lane.FillWords(w.words)
	} else {
		w.lane.Finish(&w.ahead)
		w.words, w.other = w.other, w.words
	}
	if w.job.kernels.StepsAhead != nil {
		w.ahead = w.lane.Ahead(w.other)
	}
}

// add turns noise in steps into the noisy sum, from coordinate lo on.
func (p *parallel) add(noisy []float64, lo int) {
	s, hi := p.spec, lo+len(noisy)
	switch {
	case s.Units == nil:
		p.kernels.AddSum(noisy, s.Sum[lo:hi], p.inverse, p.grid)
	case s.Carry == nil:
		p.kernels.AddUnits(noisy, s.Units[lo:hi], s.Unit*p.inverse, p.grid)
	default:
		sampler.AddCarried(noisy, s.Units[lo:hi], s.Carry[lo:hi], s.Unit*p.inverse, p.grid)
	}
}

// drawSteps fills dst with noise in grid steps.
func (w *worker) drawSteps(l *sampler.Normal, dst []float64) {
	for len(dst) > 0 {
		n := min(len(w.words)-w.next, len(dst))
		done := w.draw(l, dst[:n], w.words[w.next:])
		w.next += done
		if done < n {
			word := w.Uint64()
			dst[done] = float64(l.Rare(word, w))
			done++
		} else if done < len(dst) {
			w.refill()
		}
		dst = dst[done:]
	}
}

// draw turns leading words into steps until a single word does not decide a step. It returns the
// number of steps.
func (w *worker) draw(l *sampler.Normal, dst []float64, words []uint64) int {
	if w.ahead.Words == nil {
		return w.job.kernels.Steps(l, dst, words)
	}
	return w.job.kernels.StepsAhead(l, dst, words, &w.ahead)
}
