package sets_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/pins"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/sets"
	"github.com/seed7ba64551/privgen/synth"
)

// baskets returns sets of unequal sizes. Small items are more frequent.
func baskets(t *testing.T, s records.Schema, n int) *records.SetTable {
	list := make([][]uint32, n)
	for i := range list {
		for j := range i * i % (s.MaxItems() + 1) {
			list[i] = append(list[i], uint32((i*j+j)%(1+(i+3*j)%s.Dim())))
		}
	}
	return must(records.FromItems(s, list))(t)
}

// TestPins holds runs with options that the contract suite does not set to the bits that they had.
func TestPins(t *testing.T) {
	for _, s := range []records.Schema{records.Sets(10, 4), records.Sets(300, 40),
		records.Sets(5, 5)} {
		data := baskets(t, s, 90)
		for i, epsilon := range []float64{1, 40} {
			c := sets.Common{Schema: s, Seed: 3,
				Budget: accountant.Budget{Epsilon: epsilon, Delta: 1e-5, Relation: relations[i]}}
			cut := c
			cut.MaxItems, cut.Nominal = 2, 80
			nominal := c
			nominal.Nominal = 500
			for name, c := range map[string]sets.Common{"all": c, "cut": cut, "nominal": nominal} {
				for kind, design := range map[string]interface {
					Plan() (synth.PassProgram, error)
				}{"independent": sets.Independent{Common: c},
					"mwem": sets.MWEM{Common: c, Rounds: 6, Queries: 60, Domain: 200},
					"few":  sets.MWEM{Common: c, Rounds: 2, Queries: 900, Domain: 8}} {
					t.Run(fmt.Sprint(name, " ", kind, " ", s.Dim(), " ", epsilon), func(t *testing.T) {
						p := must(design.Plan())(t)
						g := must(p.Fit(privacytest.Seeded(t, t.Context(), 7), data))(t)
						pins.Run(t, p, g)
						t.Run("draws", func(t *testing.T) {
							at := func(list ...records.Constraint) []byte {
								return pins.Rows(t, g, synth.Given(list...))
							}
							text := must(json.Marshal(p))(t)
							pins.Check(t, map[string][]byte{"has": at(records.HasItems(1, 4)), "plan": text,
								"lacks": at(records.LacksItems(0, 2), records.HasItems(3))})
						})
					})
				}
			}
		}
	}
	p := must(sets.MWEM{Common: sets.Common{Schema: records.Sets(9, 3),
		Budget: accountant.Budget{Epsilon: 9, Delta: 1e-5}}}.Plan())(t)
	t.Run("defaults", func(t *testing.T) {
		ctx := privacytest.Seeded(t, t.Context(), 7)
		pins.Run(t, p, must(p.Fit(ctx, baskets(t, p.Schema(), 50)))(t))
	})
}

// TestPinsOfPersons holds sets of persons with different numbers of rows to their bits.
func TestPinsOfPersons(t *testing.T) {
	data := baskets(t, records.Sets(10, 4), 60)
	keys := make([]int, data.Len())
	for i := range keys {
		keys[i] = i * i % 31
	}
	people := must(records.GroupBy(data, keys, 3))(t)
	for name, p := range plans(t, people.Schema(), accountant.Budget{Epsilon: 6, Delta: 1e-5}) {
		t.Run(name, func(t *testing.T) {
			pins.Run(t, p, must(p.Fit(privacytest.Seeded(t, t.Context(), 7), people))(t))
		})
	}
}

// TestPinsOfResumedRuns goes on with copies of checkpoints from within the rounds.
func TestPinsOfResumedRuns(t *testing.T) {
	t.Parallel() // it waits for the disk
	data := baskets(t, records.Sets(10, 4), 60)
	for name, p := range plans(t, data.Schema(), accountant.Budget{Epsilon: 6, Delta: 1e-5}) {
		for _, at := range []int{1, 3} {
			t.Run(fmt.Sprint(name, " ", at), func(t *testing.T) {
				ctx, path := privacytest.Seeded(t, t.Context(), 7), filepath.Join(t.TempDir(), "run")
				n := 0
				must(p.Fit(ctx, data, synth.CheckpointEvery(path, 1), synth.OnProgress(
					func(synth.Progress) {
						if n++; n == at {
							os.Link(path, path+"2")
						}
					})))(t)
				pins.Run(t, p, must(p.Fit(ctx, data, synth.CheckpointEvery(path+"2", 1)))(t))
			})
		}
	}
}
