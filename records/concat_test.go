package records

import (
	"testing"

	"github.com/seed7ba64551/privgen/device"
)

func TestConcatKeepsRowsInOrder(t *testing.T) {
	s := Binary(2).WithLabels("a", "b")
	one, err := FromRows(s, [][]float32{{0, 1}, {1, 1}}, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	two, err := FromRows(s, [][]float32{{1, 0}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	all, err := Concat(s, one, two)
	if err != nil {
		t.Fatal(err)
	}
	var b device.Batch
	all.Range(0, all.Len(), &b)
	if b.Rows != 3 || b.Dense.Row(2)[0] != 1 || b.Labels[2] != 1 || b.Dense.Row(0)[1] != 1 {
		t.Errorf("got wrong rows %v or labels %v", b.Dense, b.Labels)
	}
	if _, err := Concat(Binary(3), one); err == nil {
		t.Error("Concat accepts data of another schema")
	}
}

func TestConcatOfSets(t *testing.T) {
	s := Sets(5, 3)
	one, err := FromItems(s, [][]uint32{{4, 1}, {}})
	if err != nil {
		t.Fatal(err)
	}
	all, err := Concat(s, one, one)
	if err != nil {
		t.Fatal(err)
	}
	if sets := all.(*SetTable); sets.Len() != 4 || len(sets.Items(3)) != 0 || sets.Items(2)[1] != 4 {
		t.Errorf("got %v rows, want 4 in the order of the parts", sets.Len())
	}
	empty, err := Concat(s)
	if err != nil || empty.Len() != 0 {
		t.Errorf("no parts: got %v and error %v, want no rows", empty, err)
	}
}
