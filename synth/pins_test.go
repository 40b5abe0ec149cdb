package synth_test

import (
	"fmt"
	"runtime/debug"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/internal/pins"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// Tests leave much garbage and hold little memory, so collections may be rare. Long ones hold more.
func init() {
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(2 << 30)
}

// TestPinsOfDraws holds draws under constraints, of classes and of means to the bits that they had.
func TestPinsOfDraws(t *testing.T) {
	from := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	base := must(records.NewSchema(records.Numeric("x", 0, 10).WithMissing(),
		records.Numeric("y", 0, 10), records.Integer("n", 0, 9), records.Flag("f", "no", "yes"),
		records.Categorical("c", "p", "q", "r"), records.Datetime("at", from, from.AddDate(0, 1, 0),
			time.Hour).WithParts(records.WeekdayPart), records.Identifier("id", records.UUID()),
		records.Label("class", "a", "b", "c")))(t)
	for name, s := range map[string]records.Schema{"free": base,
		"ascending": base.WithConstraints(records.Ascending("x", "y")),
		"repaired": base.WithConstraints(records.StrictlyAscending("x", "y").OrMissing().Repaired(),
			records.Within("n", 2, 5)),
		"combinations": base.WithConstraints(records.Combinations([]string{"c", "class"},
			[]string{"p", "a"}, []string{"q", "b"}, []string{"r", "c"}, []string{"p", "c"})),
		"unique": base.WithConstraints(records.Unique("n", "c", "f"),
			records.Determines([]string{"c", "f"}, []string{"p", "no"}))} {
		g := generatorOf(s)
		parts := map[string][]byte{}
		for what, opts := range map[string][]synth.DrawOption{"plain": nil, "means": {synth.Means()},
			"class": {synth.OfClass(1)}, "free": {synth.Unconstrained()},
			"given":    {synth.Given(records.Within("y", 1, 3), records.Only("c", "q", "r"))},
			"of_class": {synth.OfClass(2), synth.Given(records.Only("f", "yes"))},
			"effort":   {synth.Effort(3), synth.Given(records.Within("y", 1, 1.5))},
			"never":    {synth.Effort(2), synth.Given(records.Only("class", "a")), synth.OfClass(1)},
			"seed":     {synth.Seed(9)}} {
			var told synth.Accepted
			opts = append(opts, synth.OnAccepted(func(a synth.Accepted) { told = a }))
			parts[what] = fmt.Append(pins.Rows(t, g, opts...), told)
			for d, err := range g.Stream(t.Context(), 20, append(opts, synth.Seed(3))...) {
				parts[what] = fmt.Append(parts[what], err)
				if f, ok := records.AsFrame(d); ok {
					for i := range f.Len() {
						for column := range s.Columns() {
							parts[what] = fmt.Append(parts[what], f.Value(i, column), " ")
						}
					}
				}
			}
		}
		t.Run(name, func(t *testing.T) { pins.Check(t, parts) })
	}
}
