package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"
)

// These are the default limits for reading an input below 1 MB. Memory counts when it is allocated,
// even if it is freed later, and time is processor time.
const (
	allowedBytes = 64 << 20
	allowedTime  = time.Second
	hangs        = time.Minute // a reader without an answer by then ends the process
	largestInput = 1_000_000
)

// A reader reads bytes from an untrusted source.
type reader struct {
	name   string
	sound  [][]byte                                    // valid inputs
	change func(rng *rand.Rand, sound [][]byte) []byte // returns a hostile input
	read   func(input []byte) error                    // also does what a caller would do next
}

// A tally holds the results of one reader's inputs.
type tally struct {
	Reader   string        `json:"reader"`
	Inputs   uint64        `json:"inputs"`
	Read     uint64        `json:"read"` // without an error
	Worst    uint64        `json:"most_bytes"`
	Slowest  time.Duration `json:"longest_ns"`
	Findings []string      `json:"findings,omitempty"`
}

// limits bounds the resources that reading one input may take.
type limits struct {
	bytes uint64
	time  time.Duration
	hang  time.Duration
}

// A suite gives readers their inputs in groups. If a whole group takes less than a single input
// may take, none of its inputs is a finding.
type suite struct {
	seed, first, inputs uint64
	limits              limits
	out, show           io.Writer
	tallies             []*tally
}

// run gives one reader its inputs.
func (s *suite) run(ctx context.Context, r reader) {
	t := &tally{Reader: r.name}
	s.tallies = append(s.tallies, t)
	start := time.Now()
	w := watch(r.name, s.limits.hang)
	defer w.stop()
	for i := uint64(0); i < s.inputs && ctx.Err() == nil && len(t.Findings) < 20; i += group {
		n := min(group, s.inputs-i)
		w.begin(s.first + i)
		if s.show != nil || !s.together(t, r, s.first+i, n) {
			for j := range n {
				w.begin(s.first + i + j)
				s.judge(t, r, s.first+i+j)
			}
		}
		t.Inputs += n
	}
	fmt.Fprintf(s.out, "%-40s %9d inputs, %8d read, alone at most %3d MB and %v; %v\n", t.Reader,
		t.Inputs, t.Read, t.Worst>>20, t.Slowest.Round(time.Millisecond),
		time.Since(start).Round(time.Second))
	for _, f := range t.Findings {
		fmt.Fprintln(s.out, "\t"+f)
	}
}

// group is the number of inputs that are read at the same time.
const group = 32

// together reads n inputs on all cores. It reports whether no input panicked and all inputs
// together stayed within the limits. If it reports false, each input must be read alone.
func (s *suite) together(t *tally, r reader, first, n uint64) bool {
	var next, read atomic.Uint64
	var panics atomic.Bool
	var all sync.WaitGroup
	before, start := allocated(), processorTime()
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for i := next.Add(1) - 1; i < n; i = next.Add(1) - 1 {
				panicked, err := attempt(first+i, r.read, s.input(r, first+i))
				if panicked != "" {
					panics.Store(true)
				}
				if err == nil {
					read.Add(1)
				}
			}
		})
	}
	all.Wait()
	took, bytes := processorTime()-start, allocated()-before
	if panics.Load() || took > s.limits.time || bytes > s.limits.bytes {
		return false
	}
	t.Read += read.Load()
	return true
}

// input returns input i of a reader.
func (s *suite) input(r reader, i uint64) []byte {
	h := fnv.New64a()
	_, _ = h.Write([]byte(r.name))
	rng := rand.New(rand.NewPCG(s.seed^h.Sum64(), i))
	input := r.change(rng, r.sound)
	return input[:min(len(input), largestInput)]
}

// judge reads one input and records a finding if the reader panics or exceeds a limit.
func (s *suite) judge(t *tally, r reader, i uint64) {
	input := s.input(r, i)
	bytes, took, panicked, err := cost(i, r.read, input)
	for try := 0; try < 3 && took > s.limits.time && panicked == ""; try++ {
		_, again, _, _ := cost(i, r.read, input) // the first may include garbage collection for others
		took = min(took, again)
	}
	if s.show != nil {
		fmt.Fprintf(s.show, "%s, input %d: %d bytes\n%q\n%d bytes, %v: %v\n", r.name, i, len(input),
			input, bytes, took, err)
	}
	if err == nil {
		t.Read++
	}
	t.Worst, t.Slowest = max(t.Worst, bytes), max(t.Slowest, took)
	find := func(format string, args ...any) {
		t.Findings = append(t.Findings, fmt.Sprintf("input %d: ", i)+fmt.Sprintf(format, args...))
	}
	switch {
	case panicked != "":
		find("panic: %s", panicked)
	case bytes > s.limits.bytes:
		find("%d MB for %d bytes (%.80v)", bytes>>20, len(input), err)
	case took > s.limits.time:
		find("%v for %d bytes (%.80v)", took, len(input), err)
	}
}

// cost returns the memory that a call allocates, including memory freed later, and its processor
// time.
func cost(i uint64, read func([]byte) error,
	input []byte) (bytes uint64, took time.Duration, panicked string, err error) {
	before, start := allocated(), processorTime()
	panicked, err = attempt(i, read, input)
	took = processorTime() - start
	return allocated() - before, took, panicked, err
}

// attempt reads an input. The input's number is an argument, so that the trace of a fatal error
// shows it.
//
//go:noinline
func attempt(_ uint64, read func([]byte) error, input []byte) (panicked string, err error) {
	defer func() {
		if r := recover(); r != nil {
			panicked = fmt.Sprintf("%v\n%s", r, debug.Stack())
		}
	}()
	return "", read(input)
}

// allocated returns how many bytes the program has allocated so far.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// summarise prints the numbers of inputs and findings and returns the exit status.
func (s *suite) summarise() (code int) {
	inputs, findings := uint64(0), 0
	for _, t := range s.tallies {
		inputs, findings = inputs+t.Inputs, findings+len(t.Findings)
	}
	fmt.Fprintf(s.out, "\n%d inputs for %d readers: %d findings\n", inputs, len(s.tallies), findings)
	if findings > 0 {
		return 1
	}
	return 0
}

// A watcher ends the process if a reader does not return.
type watcher struct {
	number, since atomic.Int64
	done          chan struct{}
}

func watch(name string, limit time.Duration) *watcher {
	w := &watcher{done: make(chan struct{})}
	w.begin(0)
	go func() {
		tick := time.NewTicker(max(limit/10, time.Millisecond))
		defer tick.Stop()
		for {
			select {
			case <-w.done:
				return
			case <-tick.C:
				if time.Now().UnixNano()-w.since.Load() > int64(limit) {
					debug.SetTraceback("all")
					fmt.Fprintf(os.Stderr, "%s, input %d: no answer after %v\n", name, w.number.Load(), limit)
					panic("hostile: a reader hangs")
				}
			}
		}
	}()
	return w
}

func (w *watcher) begin(i uint64) {
	w.number.Store(int64(i))
	w.since.Store(time.Now().UnixNano())
}

func (w *watcher) stop() { close(w.done) }
