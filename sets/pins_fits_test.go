package sets_test

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sets"
	"github.com/seed7ba64551/privgen/synth"
)

func init() {
	if flag.Lookup("update-pins") == nil { // a package of tests may have it
		flag.Bool("update-pins", false, "write the files of pins")
	}
}

// TestPinsOfFits: plans, ledgers, models and drawn sets of seeded fits with unequal settings. The
// file holds digests of them as they were when it was written. Whoever means to change one writes
// it anew and says why.
func TestPinsOfFits(t *testing.T) {
	var lines []string
	for seed := range uint64(24) {
		rng := rand.New(rand.NewPCG(seed, 881))
		s := records.Sets([]int{6, 13, 40, 200}[seed%4], 1+rng.IntN(6))
		var rows [][]uint32
		for range 1 + rng.IntN(60) {
			var row []uint32
			for range rng.IntN(9) {
				row = append(row, uint32(rng.IntN(1+rng.IntN(s.Dim()))))
			}
			rows = append(rows, row)
		}
		data := must(records.FromItems(s, rows))(t)
		budget := accountant.Budget{Epsilon: 0.5 + 4*float64(seed%3), Delta: 1e-5,
			Relation: accountant.Relation(seed / 2 % 2)}
		c := sets.Common{Schema: s, Budget: budget, Seed: seed, MaxItems: int(seed % 5),
			Nominal: int(seed%3) * 50}
		c.MaxItems = min(c.MaxItems, s.MaxItems())
		for name, plan := range map[string]func() (synth.PassProgram, error){
			"independent": sets.Independent{Common: c}.Plan,
			"mwem": sets.MWEM{Common: c, Rounds: 1 + int(seed%6), Domain: []int{0, 50, 300}[seed/3%3],
				Queries: []int{0, 20, 90}[seed%3]}.Plan} {
			p, err := plan()
			if err != nil {
				lines = append(lines, fmt.Sprintf("%d %s: %v", seed, name, err))
				continue
			}
			lines = append(lines, fit(t, fmt.Sprintf("%d %s", seed, name), p, data, seed)...)
		}
	}
	slices.Sort(lines)
	file := filepath.Join("testdata", "pins_fits.txt")
	text := []byte(strings.Join(lines, "\n") + "\n")
	if flag.Lookup("update-pins").Value.String() == "true" {
		_ = os.MkdirAll("testdata", 0o777)
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if runtime.GOARCH != "amd64" || math.Float64bits(math.Exp(-19.75)) != 0x3e26bbe081ba5d89 {
		t.Skip("math.Exp rounds otherwise, and so noise has another scale")
	}
	want := strings.Split(string(must(os.ReadFile(file))(t)), "\n")
	for i, line := range strings.Split(string(text), "\n") {
		if i >= len(want) || line != want[i] {
			t.Fatalf("%s:%d: got\n%s\nwant the line there", file, i+1, line)
		}
	}
}

// fit returns digests of a fit.
func fit(t *testing.T, name string, p synth.PassProgram, data records.Data,
	seed uint64) (lines []string) {
	say := func(what string, all ...any) {
		sum := sha256.Sum256(fmt.Append(nil, all...))
		lines = append(lines, fmt.Sprintf("%s %s #%.4x", name, what, sum))
	}
	l := ledger.New(p.Budget())
	g, err := p.FitOn(privacytest.Seeded(t, context.Background(), seed), l, data)
	say("plan", p, err)
	if err != nil {
		return lines
	}
	for _, e := range l.Entries() {
		say("entry "+e.Purpose, e.Event, e.Reserved, e.Spent, e.Notes)
	}
	for _, section := range must(g.Model().Encode())(t).Sections {
		say("section "+section.Name, section.Data)
	}
	for i, opts := range [][]synth.DrawOption{nil, {synth.Given(records.HasItems(1))},
		{synth.Given(records.LacksItems(0, 2))},
		{synth.Given(records.HasItems(0), records.LacksItems(3))}} {
		rows, err := g.Sample(t.Context(), 30, append(opts, synth.Seed(9))...)
		if err != nil {
			say(fmt.Sprint("draw ", i), err)
			continue
		}
		var b device.Batch
		rows.Range(0, rows.Len(), &b)
		say(fmt.Sprint("draw ", i), b.Sparse.Items, b.Sparse.Offsets)
	}
	return lines
}
