package modelstest_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed7ba64551/privgen/models/modelstest"
)

// listener records what a check says.
type listener struct {
	testing.TB
	said []string
}

func (l *listener) Helper()                        {}
func (l *listener) Error(a ...any)                 { l.said = append(l.said, fmt.Sprint(a...)) }
func (l *listener) Errorf(format string, a ...any) { l.Error(fmt.Sprintf(format, a...)) }

// gate is x∘σ(z)·u, where u depends on the key. It may have a fault.
type gate struct {
	fault  string
	calls  int
	sum    float32
	first  float32
	kept   []float32
	byKey  map[uint64]float32
	buffer [8]float32
}

func newGate(fault string) *gate { return &gate{fault: fault, byKey: map[uint64]float32{}} }

func (g *gate) Out(widths ...int) int {
	g.calls++
	switch g.fault {
	case "states too many results":
		return widths[0] + 1
	case "states too few results":
		return widths[0] - 1
	case "states no results":
		return 0
	case "states other results each time":
		return widths[0] + g.calls%2
	}
	return widths[0]
}

func sigmoid(v float32) float32 { return float32(1 / (1 + math.Exp(-float64(v)))) }

func factor(key uint64) float32 { return 1 + float32(key>>56)/256 }

var (
	shared  [4]float32
	counted atomic.Int64
)

func (g *gate) Forward(y []float32, key uint64, x ...[]float32) {
	u := factor(key)
	g.reads(key, x...)
	for i, v := range x[0] {
		switch g.fault {
		case "turns NaN into 0":
			if v != v {
				v = 0
			}
		case "panics for a large number":
			if v > 100 {
				v = g.kept[int(min(v, 1000))]
			}
		case "adds random numbers":
			v += rand.Float32()
		case "uses the sum of records before":
			v += 1e-3 * g.sum
		case "uses the first number it saw":
			if g.first == 0 {
				g.first = v
			}
			v += g.first
		case "counts to twenty thousand":
			if counted.Add(1) > 20_000 {
				v += .01
			}
		case "keeps a number of the package":
			v += shared[3]
			if i == 0 {
				shared[3] = 1e-3 * x[0][0]
			}
		case "adds the last negative number":
			if v < 0 {
				v, shared[3] = v+1e-3*shared[3], v
			}
		case "uses a buffer of all cores":
			shared[0] = v
			for k := range 50 {
				shared[1+k%3] += 1
			}
			v = shared[0]
		case "turns large numbers into small ones":
			v = min(max(v, -1e3), 1e3)
			if v != v {
				v = 1e3
			}
		}
		y[i] = v * sigmoid(x[1][i]) * u
		if g.fault == "writes to its operands" {
			x[0][i] = y[i]
		}
	}
	if g.fault == "uses the sum of records before" {
		g.sum += x[0][0]
	}
	if g.fault == "leaves out results of large operands" && x[0][0] > 1 {
		y[0] = 0
	}
}

// reads is what the faults with memory do in Forward.
func (g *gate) reads(key uint64, x ...[]float32) {
	switch g.fault {
	case "keeps a buffer of its own":
		copy(g.buffer[:], x[1])
	case "keeps the gates of the last record":
		g.kept = slices.Clone(x[1])
	case "keeps its operands":
		g.kept = x[1]
	case "keeps numbers by key":
		if _, ok := g.byKey[key]; !ok {
			g.byKey[key] = x[1][0]
		}
	}
}

func (g *gate) Backward(dx [][]float32, dy, _ []float32, key uint64, x ...[]float32) {
	u := factor(key)
	if g.fault == "uses another key" {
		u = factor(key + 1<<60)
	}
	z := x[1]
	if g.kept != nil {
		z = g.kept
	}
	for i, d := range dy {
		if i >= len(x[0]) {
			break
		}
		s := sigmoid(z[i])
		if v, ok := g.byKey[key]; ok && i == 0 {
			s = sigmoid(v)
		}
		a, b := d*s*u, d*x[0][i]*s*(1-s)*u
		switch g.fault {
		case "has the wrong sign":
			a, b = -a, -b
		case "has the wrong factor":
			b *= 1.1
		case "forgets an operand":
			b = 0
		case "forgets the last number":
			if i == len(dy)-1 {
				a = 0
			}
		case "is wrong for large numbers":
			if x[0][i] > 6 {
				a = 0
			}
		case "sets dx":
			dx[0][i] = 0
		case "writes to dy":
			dy[i] = a
		case "mixes its derivatives":
			a, b = b, a
		}
		dx[0][i] += a
		dx[1][i] += b
	}
}

// faultsOfOps are faults of a gate, and what is said about them.
var faultsOfOps = map[string]string{
	"":                        "",
	"states too many results": "never sets result 4", "states too few results": "panics",
	"states no results": "Out", "states other results each time": "Out",
	"turns NaN into 0": "NaN", "turns large numbers into small ones": "NaN",
	"panics for a large number": "panics", "adds random numbers": "random",
	"uses the sum of records before":     "other calls",
	"keeps the gates of the last record": "derivatives depend on other calls",
	"keeps its operands":                 "derivative",
	"keeps numbers by key":               "memory of its own",
	"keeps a buffer of its own":          "memory of its own",
	"writes to its operands":             "changes", "writes to dy": "changes",
	"uses another key": "differences", "has the wrong sign": "differences",
	"has the wrong factor": "differences", "forgets an operand": "differences",
	"forgets the last number": "differences", "is wrong for large numbers": "differences",
	"sets dx": "add", "mixes its derivatives": "differences",
	"leaves out results of large operands": "operands",
	"uses the first number it saw":         "memory of its own",
	"counts to twenty thousand":            "other calls",
	"keeps a number of the package":        "other calls",
	"adds the last negative number":        "other calls",
}

// TestFaultsOfOps: each of these faults is found, and one sentence says what is wrong.
func TestFaultsOfOps(t *testing.T) {
	for fault, want := range faultsOfOps {
		counted.Store(0)
		var l listener
		modelstest.Op(&l, newGate(fault), 4, 4)
		said := strings.Join(l.said, "\n")
		if (said == "") != (fault == "") || !strings.Contains(said, want) {
			t.Errorf("an operation that %s: %q, want %q", fault, said, want)
		}
	}
}
