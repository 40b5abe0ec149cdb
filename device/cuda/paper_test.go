//go:build cuda && cgo

package cuda_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sgd"
)

// paperCases are the steps whose costs docs/performance.md states.
var paperCases = []struct {
	name  string
	arch  models.VAE
	batch int
}{
	{"VAE 784-200-2", models.PaperVAE(), 600},
	{"VAE 784-200-2", models.PaperVAE(), 1024},
	{"VAE 784-200-2", models.PaperVAE(), 4096},
	{"VAE 784-2048-1664-32", models.VAE{Hidden: []int{2048, 1664}, Latent: 32}, 1024},
}

// An H100 (SXM5), by its data sheet: operations in float32 and bytes of memory and of the bus in
// each direction, by second. The rest is assumed: the seconds of a launch, of a wait for a copy and
// of a chunk of noise, which one block of threads draws, and the draws of all chunks by second. A
// draw reads 112 numbers of AES's tables from shared memory, with three threads at each bank.
const (
	paperFlops, paperMemory, paperBus = 67e12, 3.35e12, 64e9
	paperLaunch, paperWait            = 2.5e-6, 10e-6
	paperChunk, paperDraws            = 85e-6, 132 * 1.755e9 * 32 / (3 * 112)
)

// paperCost is the cost of a step.
type paperCost struct {
	launches, up, down           int
	upBytes, downBytes           float64
	flops, memory, kernels, wait float64
}

// add counts a line of a trace: a copy, or a launch with its kernel's arguments.
func (c *paperCost) add(t *testing.T, line string) {
	t.Helper()
	words := strings.Fields(line)
	n := make([]float64, len(words))
	for i, w := range words[1:] {
		n[i+1], _ = strconv.ParseFloat(w, 64)
	}
	switch words[0] {
	case "up":
		c.up, c.upBytes, c.wait = c.up+1, c.upBytes+n[1], c.wait+paperWait+n[1]/paperBus
		return
	case "down":
		c.down, c.downBytes, c.wait = c.down+1, c.downBytes+n[1], c.wait+paperWait+n[1]/paperBus
		return
	}
	flops, memory, ok := paperKernel(words[0], n[4:])
	if !ok {
		t.Fatalf("no costs are stated for kernel %s", words[0])
	}
	least := paperLaunch
	if words[0] == "draw_noise" {
		least = max(paperChunk, n[14]/paperDraws)
	}
	c.launches, c.flops, c.memory = c.launches+1, c.flops+flops, c.memory+memory
	c.kernels += max(least, flops/paperFlops, memory/paperMemory)
}

// paperKernel returns the operations of a kernel and the bytes that it moves if every operand is
// read or written once.
func paperKernel(name string, n []float64) (flops, memory float64, ok bool) {
	switch name {
	case "product_small", "product_large":
		x, y, k := n[10], n[11], n[12]
		return 2 * x * y * k, 4 * (x*k + k*y + x*y), true
	case "thin_product":
		x, y, k := n[9], n[10], n[11]
		return 2 * x * y * k, 4 * (x*k + k*y + x*y), true
	case "fixed_small", "fixed_large":
		in, out, terms := n[7], n[8], n[9]
		return 2 * in * out * terms, 4*terms*(in+out) + 8*in*out, true
	case "fixed_rows":
		rows, cols := n[5], n[6]
		return 2 * rows * cols, 4*rows*cols + 8*cols, true
	case "row_dots":
		rows, cols := n[5], n[6]
		return 2 * rows * cols, 4*rows*cols + 8*rows, true
	case "draw_noise":
		return 0, 8 * n[10], true
	case "noisy_sum":
		return 3 * n[4], 24 * n[4], true
	case "adam_of_sum":
		return 10 * n[7], 32 * n[7], true
	}
	each, ok := map[string]struct{ rows, bytes int }{
		"adam": {8, 28}, "add_rows": {7, 8}, // lists of one row: the records of a batch
		"apply": {5, 8}, "axpy": {5, 12}, "bias_apply": {4, 8}, "fill": {3, 4},
		"gradient": {5, 12}, "multiply": {6, 12}, "scale_odd": {5, 8}, "subtract": {6, 12},
	}[name]
	if !ok {
		return 0, 0, false
	}
	elements := n[each.rows] * n[each.rows+1]
	return elements, float64(each.bytes) * elements, true
}

// row returns the cost as a row of the table.
func (c *paperCost) row(name string, batch, parameters int) string {
	return fmt.Sprintf("| %s, %.2f M | %d | %d | %d, %.2f MB | %d, %.2f MB | %.2f | %.1f | %.0f | %.0f |",
		name, float64(parameters)/1e6, batch, c.launches, c.up, c.upBytes/1e6, c.down, c.downBytes/1e6,
		c.flops/1e9, c.memory/1e6, c.kernels*1e6, c.wait*1e6)
}

// TestPaper counts the launches and the copies of a private step on the fake device, and what they
// cost by the sizes in their arguments. It checks that docs/performance.md states these numbers.
func TestPaper(t *testing.T) {
	if !strings.Contains(open(t).Name(), "fake") {
		t.Skip("only the fake device writes a trace")
	}
	page, err := os.ReadFile("../../docs/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range paperCases {
		file := filepath.Join(t.TempDir(), "trace")
		out, status := again(t, "TestTracedSteps", "FAKE_CUDA_TRACE="+file, fmt.Sprintf("PAPER=%d", i))
		trace, err := os.ReadFile(file)
		if status != 0 || err != nil {
			t.Fatalf("status %d, %v: %s", status, err, out)
		}
		net, err := c.arch.New(open(t), models.Visible{Dim: 784}, 1)
		if err != nil {
			t.Fatal(err)
		}
		var cost paperCost
		for line := range strings.Lines(between(string(trace))) {
			cost.add(t, line)
		}
		row := cost.row(c.name, c.batch, net.Params().Len())
		if !bytes.Contains(page, []byte(row)) {
			t.Errorf("docs/performance.md does not have the row\n%s", row)
		}
	}
}

// markBytes is the size of the copy that ends a step in a trace. No other copy has this size.
const markBytes = 28

// between returns the part of a trace between the last two marks.
func between(trace string) string {
	parts := strings.Split(trace, fmt.Sprintf("up %d\n", markBytes))
	return parts[len(parts)-2]
}

// TestTracedSteps takes a few private steps. TestPaper runs it with a trace.
func TestTracedSteps(t *testing.T) {
	i, err := strconv.Atoi(os.Getenv("PAPER"))
	if err != nil {
		t.Skip("TestPaper runs this test")
	}
	c, be := paperCases[i], open(t)
	net, err := c.arch.New(be, models.Visible{Dim: 784}, 1)
	if err != nil {
		t.Fatal(err)
	}
	data, err := records.FromFlat(records.Binary(784), make([]float32, c.batch*784))
	if err != nil {
		t.Fatal(err)
	}
	cfg := sgd.Config{ClipNorm: 1, SamplingProbability: 1, Steps: 4, NoiseMultiplier: 1,
		Optimizer: sgd.Adam(1e-4), MicroBatch: c.batch}
	trainer, err := sgd.New(cfg, net, ledger.New(accountant.Budget{Epsilon: 1e12, Delta: 1e-5}),
		sgd.WithBackend(be))
	if err != nil {
		t.Fatal(err)
	}
	mark := be.New(1, markBytes/4)
	for _, err := range trainer.Steps(t.Context(), data) {
		if err != nil {
			t.Fatal(err)
		}
		be.Upload(mark, make([]float32, mark.Cols))
	}
}
