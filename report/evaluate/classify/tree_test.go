package classify

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/report/internal/judge"
)

// TestFindGoesDownLikeEachRecordAlone compares the leaves that find returns for 1 to 9 records, as
// vectors and as sets, with those of a walk down the tree.
func TestFindGoesDownLikeEachRecordAlone(t *testing.T) {
	const n, dim = 40, 6
	rng := rand.New(rand.NewPCG(1, 1))
	var flat []float32
	var sets [][]uint32
	var labels []int32
	for range n {
		var set []uint32
		for j := range uint32(dim) {
			if flat = append(flat, float32(rng.IntN(2))); flat[len(flat)-1] == 1 {
				set = append(set, j)
			}
		}
		sets, labels = append(sets, set), append(labels, rng.Int32N(2))
	}
	vectors, first := records.FromFlat(records.Binary(dim).WithLabels("a", "b"), flat, labels...)
	items, second := records.FromItems(records.Sets(dim, dim).WithLabels("a", "b"), sets, labels...)
	if first != nil || second != nil {
		t.Fatal(first, second)
	}
	for _, d := range []records.Data{vectors, items} {
		x, err := judge.Load("test", d)
		if err != nil {
			t.Fatal(err)
		}
		forest, err := RandomForest{Trees: 3}.Learn(x)
		if err != nil {
			t.Fatal(err)
		}
		of := forest.(trees).of
		for rows := 1; rows < 10; rows++ {
			got := make([][]int32, len(of))
			find(of, x.Batch.Slice(0, rows), func(tree, first int, leaves []int32) {
				if first != len(got[tree]) {
					t.Errorf("%d records: leaves of record %d after %d", rows, first, len(got[tree]))
				}
				got[tree] = append(got[tree], leaves...)
			})
			for j, tr := range of {
				var want []int32
				for i := range rows {
					at := 0
					for tr.nodes[at].leaf < 0 {
						if at++; flat[i*dim+int(tr.nodes[at-1].feature)] > tr.nodes[at-1].threshold {
							at += int(tr.nodes[at-1].skip)
						}
					}
					want = append(want, tr.nodes[at].leaf)
				}
				if !slices.Equal(got[j], want) {
					t.Errorf("%d records, tree %d: leaves %v, want %v", rows, j, got[j], want)
				}
			}
		}
	}
}
