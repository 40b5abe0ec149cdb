package compose

import (
	"testing"

	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// ofUnit is data of a given unit.
type ofUnit struct {
	records.Data
	unit string
}

func (d ofUnit) Unit() string { return d.unit }

// TestRanksKeepTheUnit checks that ranks of users' data are users' data.
func TestRanksKeepTheUnit(t *testing.T) {
	for _, want := range []string{records.UnitRecord, records.UnitUser, records.UnitPart} {
		if got := records.UnitOf(ranked{Data: ofUnit{unit: want}}); got != want {
			t.Errorf("ranks of data of the unit %q have the unit %q", want, got)
		}
	}
}

// drawn is a model that keeps the last draw.
type drawn struct {
	synth.Model
	last *synth.Draw
}

func (m drawn) Sampler(d synth.Draw) (synth.Sampler, error) {
	*m.last = d
	return synth.Sampler{}, nil
}

// TestRanksAreDrawnUnconstrained checks that the other system draws ranks without the constraints
// of the draw, which are on numbers, and with its other choices.
func TestRanksAreDrawnUnconstrained(t *testing.T) {
	var last synth.Draw
	m := &model{of: []synth.Model{drawn{last: &last}}, released: &rankedRelease{}}
	d := synth.Draw{Cluster: 2, Class: 1, Seed: 5, Means: true,
		Given: []records.Constraint{records.Only("class", "u")}}
	if _, err := m.Sampler(d); err != nil {
		t.Fatal(err)
	}
	if last.Given != nil || !last.Unconstrained || last.Means {
		t.Errorf("the other system's draw is %+v, want an unconstrained draw of records", last)
	}
	if last.Cluster != 2 || last.Class != 1 || last.Seed != 5 {
		t.Errorf("the other system's draw is %+v, want the cluster, class and seed of %+v", last, d)
	}
}
