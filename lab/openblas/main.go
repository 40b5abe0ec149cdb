// Openblas compares the float32 products of package device with OpenBLAS in one process: the layers
// of small networks forward and backward, and the products of large feature maps.
//
//	apt-get install libopenblas-dev
//	go run . -cores 1
//	go run . -cores 2
//	go run . -what functions
//	go run . -what features
//	go run . -what convolutions
//
// Samples of both candidates alternate, and the figures are medians. On one core they are processor
// time, which other work on the machine hardly affects; on several cores they are wall time.
package main

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"slices"
	"time"

	"github.com/seed7ba64551/privgen/device"
)

func main() {
	cores := flag.Int("cores", 1, "cores for each candidate")
	samples := flag.Int("samples", 11, "samples of each candidate and product")
	only := flag.String("only", "", "measure only products whose name matches this regular expression")
	large := flag.Bool("large", false, "add 60000×784 times 784×{200, 1000, 10000}: 3 GiB, minutes")
	thin := flag.Bool("thin", true, "add layers two columns wide")
	lines := flag.Bool("bench", false, "print products as lines of go test -bench, for benchmarks/history")
	what := flag.String("what", "products", "products, functions, features or convolutions")
	flag.Parse()
	chosen := regexp.MustCompile(*only)
	if *cores == 1 {
		runtime.LockOSThread()
	}
	setThreads(*cores)
	backend := device.CPUWith(*cores)
	peak := peakRate()
	fmt.Printf("%s against OpenBLAS (%s), %d core(s); multiply-add peak of one core %.1f GFLOP/s\n",
		backend.Name(), openblasName(), *cores, peak)
	clock := threadSeconds
	if *cores > 1 {
		begin := time.Now()
		clock = func() float64 { return time.Since(begin).Seconds() }
	}
	switch *what {
	case "functions":
		functions(backend, *samples, clock)
		return
	case "features":
		features(backend, *samples, clock)
		return
	case "convolutions":
		convolutions(backend, *samples, clock, peak*float64(*cores))
		return
	}
	printLine := printRow
	if *lines {
		fmt.Println("pkg: lab/openblas")
		printLine = printBenchmark
	} else {
		fmt.Printf("%-22s %9s %9s %6s %6s\n", "m×k×n", "ours", "OpenBLAS", "ratio", "peak")
	}
	groups := map[string][]float64{}
	for _, s := range shapes(*large, *thin) {
		if chosen.MatchString(s.name()) {
			ours, theirs := compare(backend, s, *samples, clock)
			printLine(s, ours, theirs, peak*float64(*cores))
			groups[s.group] = append(groups[s.group], ours/theirs)
			if s.group != "thin" {
				groups["all"] = append(groups["all"], ours/theirs)
			}
		}
	}
	for _, g := range []string{"NN", "TN", "NT", "large", "all", "thin"} {
		if r := groups[g]; len(r) > 0 {
			fmt.Printf("%-6s %3d products: geometric mean %.3f, least %.2f\n", g, len(r), geometricMean(r),
				slices.Min(r))
		}
	}
	if len(groups) == 0 {
		fmt.Fprintln(os.Stderr, "-only: no product has a name that matches")
		os.Exit(2)
	}
}

func printRow(s shape, ours, theirs, peak float64) {
	fmt.Printf("%-22s %9.1f %9.1f %6.2f %5.0f%%\n", s.name(), ours, theirs, ours/theirs, 100*ours/peak)
}

func printBenchmark(s shape, ours, theirs, _ float64) {
	group := s.group
	if group == "thin" {
		group += "/" + s.form
	}
	fmt.Printf("BenchmarkProduct/%s/%d×%d×%d 1 %.4f ratio %.1f GFLOP/s\n", group, s.m, s.k, s.n,
		ours/theirs, ours)
}

// shape is a product op(A) op(B): NN for a layer's output, TN for the gradient of its weights, NT
// for the gradient of its input.
type shape struct {
	form, group string
	m, k, n     int
}

func (s shape) name() string { return fmt.Sprintf("%s %d×%d×%d", s.form, s.m, s.k, s.n) }

func shapes(large, thin bool) []shape {
	var out []shape
	layer := func(group string, batch, in, inner int) {
		for _, s := range []shape{{"NN", "NN", batch, in, inner}, {"TN", "TN", in, batch, inner},
			{"NT", "NT", batch, inner, in}} {
			if group != "" {
				s.group = group
			}
			if !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	widths := []int{784, 400, 200, 64}
	for _, batch := range []int{64, 128, 600, 1024} {
		for _, in := range widths {
			for _, inner := range widths {
				layer("", batch, in, inner)
			}
		}
	}
	if thin {
		for _, batch := range []int{64, 600, 1024} {
			layer("thin", batch, 200, 2)
			layer("thin", batch, 2, 200)
		}
	}
	if large {
		for _, n := range []int{200, 1000, 10000} {
			out = append(out, shape{"NN", "large", 60000, 784, n})
		}
	}
	return out
}

// problem is a product with its operands.
type problem struct {
	m, n, k        int
	transA, transB bool
	a, b, c        device.Matrix
}

func newProblem(s shape) *problem {
	p := &problem{m: s.m, n: s.n, k: s.k, transA: s.form == "TN", transB: s.form == "NT"}
	p.a, p.b, p.c = random(p.m, p.k, p.transA), random(p.k, p.n, p.transB), random(p.m, p.n, false)
	return p
}

func random(rows, cols int, transposed bool) device.Matrix {
	if transposed {
		rows, cols = cols, rows
	}
	r := rand.New(rand.NewPCG(uint64(rows), uint64(cols)))
	numbers := make([]float32, rows*cols)
	for i := range numbers {
		numbers[i] = float32(r.NormFloat64())
	}
	return device.HostMatrix(rows, cols, numbers)
}

// compare returns both candidates' median GFLOP/s.
func compare(b device.Backend, s shape, samples int, clock func() float64) (ours, theirs float64) {
	p := newProblem(s)
	flops := 2 * float64(s.m) * float64(s.n) * float64(s.k)
	times := max(int(2e9/flops), 1) // about 20 ms for each sample
	if flops > 1e10 {
		samples = min(samples, 3)
	}
	candidates := [2]func(){
		func() {
			for range times {
				b.Gemm(p.transA, p.transB, 1, p.a, p.b, 0, p.c)
			}
		},
		func() { openblas(p, times) },
	}
	var seconds [2][]float64
	for n := range samples + 1 {
		for i, f := range candidates {
			start := clock()
			f()
			if n > 0 { // the first sample warms up
				seconds[i] = append(seconds[i], clock()-start)
			}
		}
	}
	rate := func(s []float64) float64 {
		slices.Sort(s)
		return flops * float64(times) / s[len(s)/2] / 1e9
	}
	return rate(seconds[0]), rate(seconds[1])
}

func geometricMean(r []float64) float64 {
	sum := 0.0
	for _, v := range r {
		sum += math.Log(v)
	}
	return math.Exp(sum / float64(len(r)))
}
