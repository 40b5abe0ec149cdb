// Package pins holds results to the bits that they had. Tests pass what came out of seeded runs,
// and a file in the testdata of their package has digests of it. The flag -update-pins writes the
// file.
package pins

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/synth"
)

// Update is the flag. Contract suites then run nothing but their pins.
var Update = flag.Bool("update-pins", false, "write testdata/pins.txt")

const path = "testdata/pins.txt"

var (
	mu      sync.Mutex
	written []string // lines of the new file
)

// Check compares named parts of a test's results with the digests in the line of the test. It does
// nothing in a package without the file, nor where products are fused with sums: other processors
// than amd64, or GOAMD64=v3, round otherwise.
func Check(t *testing.T, parts map[string][]byte) {
	t.Helper()
	text, err := os.ReadFile(path)
	x := float64(len(parts)) / 3.3
	if runtime.GOARCH != "amd64" || x*x-float64(x*x) != 0 || err != nil && !*Update {
		return
	}
	line := t.Name()
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		line += fmt.Sprintf(" %s=%.4x", name, sha256.Sum256(parts[name]))
	}
	mu.Lock()
	defer mu.Unlock()
	if *Update {
		written = append(written, line+"\n")
		slices.Sort(written)
		os.MkdirAll("testdata", 0o777)
		if err := os.WriteFile(path, []byte(strings.Join(written, "")), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	var old []string
	for l := range strings.Lines(string(text)) {
		if f := strings.Fields(l); f[0] == t.Name() {
			old = f
		}
	}
	for _, part := range strings.Fields(line) {
		if !slices.Contains(old, part) {
			t.Errorf("got %s, which %s does not have; see CONTRIBUTING.md", part, path)
		}
	}
}

// Run checks a plan and what a run of it under privacytest.Seeded returned: the plan's text, the
// ledger's lines, the model's file, and records of every class and cluster.
func Run(t *testing.T, p synth.Plan, g *synth.Generator) {
	t.Helper()
	var file bytes.Buffer
	f, err := g.Model().Encode()
	if err == nil {
		err = f.Write(&file)
	}
	if err != nil {
		t.Fatal(err)
	}
	all := [][]synth.DrawOption{nil, {synth.Means()}}
	for i := range g.Clusters() {
		all = append(all, []synth.DrawOption{synth.FromCluster(i)})
	}
	for i := range g.Schema().Classes() {
		all = append(all, []synth.DrawOption{synth.OfClass(i)})
	}
	var rows []byte
	for _, opts := range all {
		rows = append(rows, Rows(t, g, opts...)...)
	}
	var lines []byte
	for _, e := range g.Guarantee().Entries {
		lines = fmt.Appendf(lines, "%s %s %d %d %v %t\n", e.Purpose, e.Event, e.Reserved, e.Spent,
			e.NoiseClass, e.Late)
	}
	Check(t, map[string][]byte{"file": file.Bytes(), "ledger": lines, "plan": []byte(p.String()),
		"rows": rows})
}

// Rows returns the content of drawn records, or the reason why there are none.
func Rows(t *testing.T, g *synth.Generator, opts ...synth.DrawOption) []byte {
	t.Helper()
	d, err := g.Sample(t.Context(), 20, append([]synth.DrawOption{synth.Seed(5)}, opts...)...)
	if err != nil {
		return []byte(err.Error())
	}
	var b device.Batch
	d.Range(0, d.Len(), &b)
	text := fmt.Append(nil, b.Dense.Data, b.Labels)
	if b.Sparse != nil {
		text = fmt.Append(text, b.Sparse.Offsets, b.Sparse.Items)
	}
	return text
}
