package mix

import (
	"testing"

	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// TestLabelsOfAPersonCountOnce checks that the labels of all rows of a person together add the
// length of one label to a mixture, divided among the rows' classes.
func TestLabelsOfAPersonCountOnce(t *testing.T) {
	s := records.Image(1, 2).WithLabels("a", "b")
	w := newWork(Config{Schema: s.ByPerson(4), ClipNorm: 1, LabelShare: 0.5,
		Sampling: Poisson{Nominal: 10, Degree: 1}})
	for _, labels := range [][]int32{{1}, {0, 0}, {0, 1}, {0, 1, 1, 1}} {
		rows, err := records.FromFlat(s, make([]float32, 2*len(labels)), labels...)
		if err != nil {
			t.Fatal(err)
		}
		person, err := records.GroupBy(rows, make([]int, len(labels)), 4)
		if err != nil {
			t.Fatal(err)
		}
		source, sum := newSource(w.config, person), mechanism.NewFixedSum(w.width(), 0x1p-30)
		want := make([]float64, 2)
		for row, class := range labels {
			w.addRow(source, sum, 0, int32(row), make([]float32, 2))
			want[class] += w.label / float64(len(labels))
		}
		for class, v := range sum.Exact()[2:] {
			if got := float64(v) * 0x1p-30; got > want[class] || got < want[class]-1e-8 {
				t.Errorf("rows of classes %v add %v to class %d, want %v", labels, got, class, want[class])
			}
		}
	}
}
