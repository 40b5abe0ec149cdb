package privacytest_test

import (
	"flag"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
)

var long = flag.Bool("long", false, "replay systems and training, too")

// TestAlgorithmsAtChunkEdges replays runs on more records than any chunk holds. The neighbours
// differ at the edge of a chunk. Each combination of algorithm and relation is tested at one place,
// and the place changes from one to the next. With -audit each is tested at all places.
func TestAlgorithmsAtChunkEdges(t *testing.T) {
	if !*long {
		t.Skip("see -long")
	}
	replayAtEdges(t, 0)
}

// TestAlgorithmsAtChunkEdgesByPerson replays the algorithms that take persons at the edges of
// chunks. A person of up to three rows is added, removed or replaced.
func TestAlgorithmsAtChunkEdgesByPerson(t *testing.T) {
	if !*long {
		t.Skip("see -long")
	}
	replayAtEdges(t, 3)
}

// replayAtEdges replays records, or persons of at most most rows if most is positive.
func replayAtEdges(t *testing.T, most int) {
	be := device.CPUWith(1)
	cases := append(replayed[:len(replayed):len(replayed)], []struct {
		name   string
		schema records.Schema
		fit    func(records.Schema, accountant.Budget) fitting
	}{
		{"kmeans", records.Interval(3, 0, 1), fitCentres},
		{"kmeans of sets", records.Sets(5, 3), fitCentres},
		{"sgd", records.Binary(6), func(records.Schema, accountant.Budget) fitting {
			cfg := briefly(2)
			cfg.NominalBatch = 4
			return training(cfg, func() (models.Network, error) {
				return models.VAE{Hidden: []int{5}, Latent: 2}.New(be, models.Visible{Dim: 6}, 1)
			})
		}},
	}...)
	turn := 0
	for _, c := range cases {
		if c.name == "merf, sets in a stream" || c.name == "mix" && c.schema.Classes() == 0 {
			continue // thousands of pieces of one record each
		}
		if most > 0 && !slices.Contains(append(byPerson, "kmeans of sets", "sgd"), c.name) {
			continue
		}
		for i, r := range relations {
			if !auditing() && (turn+i)%2 == 1 {
				continue // the same sums, doubled or not: replays of few records have both
			}
			t.Run(c.name+" "+r.String(), func(t *testing.T) {
				s := c.schema.ByPerson(most)
				run := c.fit(s, accountant.Budget{Epsilon: 1e3, Delta: 1e-5, Relation: r})
				wanted := func(i, n int) bool {
					// Persons are tested at the last place, where the shares of rows in later chunks count.
					place := turn % n
					if most > 0 {
						place = n - 1
					}
					return auditing() || i == place
				}
				for _, p := range privacytest.SomeEdges(t, s, r, 1, wanted) {
					privacytest.Replay[records.Data]{Run: run,
						Budget: accountant.Budget{Epsilon: 1e3, Delta: 1e-5, Relation: r},
						Data:   p.Data, Neighbour: p.Neighbour, Seeds: 1}.Check(t)
				}
				turn++
			})
		}
	}
}
