package dpgm

import (
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/models"
	"github.com/seed7ba64551/privgen/records"
)

// TestNetworksSeeTheBlocksOfATable checks that networks get the blocks of a table without its
// label, and no blocks for other records.
func TestNetworksSeeTheBlocksOfATable(t *testing.T) {
	s, err := records.NewSchema(records.Numeric("x", 0, 1).WithMissing(),
		records.Categorical("c", "p", "q").WithMissing(), records.Label("y", "a", "b"),
		records.Ordinal("o", "s", "m", "l").WithMissing(), records.Flag("f", "no", "yes"),
		records.Categorical("d", "p", "q"))
	if err != nil {
		t.Fatal(err)
	}
	want := []models.Block{{Width: 2, Missing: true}, {Width: 3, OneHot: true},
		{Width: 2, Missing: true}, {Width: 1}, {Width: 2, OneHot: true}}
	v := visible(s)
	if !slices.Equal(v.Blocks, want) || v.Likelihood != models.Bernoulli {
		t.Errorf("got %+v, want the blocks of the columns", v)
	}
	if err := v.Validate(); err != nil {
		t.Error(err)
	}
	if b := visible(s.WithoutLabels()).Blocks; !slices.Equal(b, want) {
		t.Errorf("without labels: got blocks %+v, want the same", b)
	}
	for _, s := range []records.Schema{records.Binary(3), records.Image(2, 2), records.Sets(4, 2)} {
		if b := visible(s).Blocks; b != nil {
			t.Errorf("%v: got blocks %+v, want none", s, b)
		}
	}
}
