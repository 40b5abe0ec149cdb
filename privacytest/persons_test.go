package privacytest_test

import (
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
)

// byPerson are the runs that take persons.
var byPerson = []string{"merf", "merf, table", "merf, sets in a stream"}

// TestSystemsUnderReplayByPerson: a whole person with one row, three or thirty, of whom three are
// kept, is told from nobody and from another person by no more than a record is.
func TestSystemsUnderReplayByPerson(t *testing.T) {
	replayed := replayed
	for _, c := range replayed {
		taken := false
		for _, name := range byPerson {
			taken = taken || c.name == name
		}
		if !taken {
			continue
		}
		s := c.schema.ByPerson(3)
		for _, r := range relations {
			t.Run(c.name+" "+r.String(), func(t *testing.T) {
				replayAll(t, s, r, c.fit(s, accountant.Budget{Epsilon: 1e3, Delta: 1e-5, Relation: r}))
			})
		}
	}
}

// TestNeighboursByPerson: the pairs differ in one person, who has one row, all that are kept, or ten
// times as many.
func TestNeighboursByPerson(t *testing.T) {
	s := records.Interval(2, 0, 1).WithLabels("a", "b").ByPerson(3)
	for _, r := range relations {
		sizes := map[int]bool{}
		pairs := privacytest.Neighbours(t, s, r, 7, 1)
		for _, p := range append(pairs, privacytest.Edges(t, s, r, 1)...) {
			a, _ := records.AsPersons(p.Data)
			b, _ := records.AsPersons(p.Neighbour)
			if r == accountant.AddOrRemoveOne && b.Len() != a.Len()+1 ||
				r == accountant.ReplaceOne && b.Len() != a.Len() {
				t.Fatalf("%s: %d and %d persons", p.Name, a.Len(), b.Len())
			}
			sizes[b.Rows().Len()-a.Rows().Len()] = true
			if strings.Contains(p.Name, " 30 rows") && r == accountant.AddOrRemoveOne &&
				b.Rows().Len() != a.Rows().Len()+3 {
				t.Errorf("%s: %d rows of 30 are kept", p.Name, b.Rows().Len()-a.Rows().Len())
			}
		}
		if r == accountant.AddOrRemoveOne && (len(sizes) != 2 || !sizes[1] || !sizes[3]) {
			t.Errorf("persons of %v rows come and go", sizes)
		}
	}
}
