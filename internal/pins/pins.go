// Package pins holds results to the bits that they had. Tests pass what came out of seeded runs,
// and a file in the testdata of their package has digests of it. The program lab/pins writes it.
package pins

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/synth"
)

// Check compares named parts of a test's results with the digests in the line of the test. It only
// logs this line in a package without the file, and where products are fused with sums: other
// processors than amd64, or GOAMD64=v3, round otherwise. So does math.Exp on processors for amd64
// without FMA, which are older than 2013.
func Check(t *testing.T, parts map[string][]byte) {
	t.Helper()
	const path = "testdata/pins.txt"
	line := t.Name()
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		line += fmt.Sprintf(" %s=%.4x", name, sha256.Sum256(parts[name]))
	}
	t.Log("pin:", line)
	file, err := os.ReadFile(path)
	x := float64(len(parts)) / 3.3
	if err != nil || runtime.GOARCH != "amd64" || x*x-float64(x*x) != 0 {
		return
	}
	_, rest, _ := strings.Cut("\n"+string(file), "\n"+t.Name()+" ")
	old, _, _ := strings.Cut(rest, "\n")
	for _, part := range strings.Fields(line)[1:] {
		if !slices.Contains(strings.Fields(old), part) {
			t.Errorf("got %s, which %s does not have; see CONTRIBUTING.md", part, path)
		}
	}
}

// Run checks a plan and what a run of it under privacytest.Seeded returned: the plan's text, the
// ledger's lines, the model's file, and records of every class and cluster.
func Run(t *testing.T, p synth.Plan, g *synth.Generator) {
	t.Helper()
	file, err := g.Model().Encode()
	rows := append(Rows(t, g), Rows(t, g, synth.Means())...)
	for i := range max(g.Clusters(), g.Schema().Classes()) {
		rows = append(rows, Rows(t, g, synth.FromCluster(i))...)
		rows = append(rows, Rows(t, g, synth.OfClass(i))...)
	}
	Check(t, map[string][]byte{"file": fmt.Append(nil, file, err), "plan": []byte(p.String()),
		"ledger": fmt.Append(nil, g.Guarantee().Entries), "rows": rows})
}

// Rows returns the content of drawn records, or the reason why there are none.
func Rows(t *testing.T, g *synth.Generator, opts ...synth.DrawOption) []byte {
	d, err := g.Sample(t.Context(), 20, append(opts, synth.Seed(5))...)
	if err != nil {
		return []byte(err.Error())
	}
	var b device.Batch
	d.Range(0, d.Len(), &b)
	return fmt.Append(nil, b.Dense.Data, b.Labels, b.Sparse)
}
