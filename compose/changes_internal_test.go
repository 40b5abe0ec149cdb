package compose

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/records"
)

// pictures returns images of eight by eight pixels; the class is the brighter half.
func pictures(t testing.TB, n int, seed uint64) *records.Table {
	t.Helper()
	s := records.Image(8, 8).WithLabels("top", "bottom")
	rng := rand.New(rand.NewPCG(seed, 1))
	flat, labels := make([]float32, 0, 64*n), make([]int32, n)
	for i := range labels {
		labels[i] = int32(rng.IntN(2))
		for p := range 64 {
			v := 0.6 * rng.Float64()
			if p/32 == int(labels[i]) {
				v += 0.2
			}
			flat = append(flat, float32(v))
		}
	}
	return must(records.FromFlat(s, flat, labels...))(t)
}

// without returns the table without row i, and replaced the table with another row in its place.
func without(table *records.Table, i int) *records.Table {
	var rows []int32
	for j := range table.Len() {
		if j != i {
			rows = append(rows, int32(j))
		}
	}
	return table.Take(rows)
}

// TestUnitInterval checks that records are scaled from their bounds to [0, 1].
func TestUnitInterval(t *testing.T) {
	b := device.Batch{Rows: 1, Dense: device.HostMatrix(1, 3, []float32{-1, 2, 3})}
	toUnit(records.Interval(3, -1, 3), &b)
	if want := []float32{0, 0.75, 1}; !slices.Equal(b.Dense.Data, want) {
		t.Errorf("got %v, want %v", b.Dense.Data, want)
	}
}

func replaced(t *testing.T, table, by *records.Table, i int) records.Data {
	t.Helper()
	both := must(records.Concat(table.Schema(), table, by))(t)
	rows := make([]int32, table.Len())
	for j := range rows {
		rows[j] = int32(j)
	}
	rows[i] = int32(table.Len() + i)
	return both.(*records.Table).Take(rows)
}

// classifiers trains one good and one bad classifier.
func classifiers(t *testing.T) []*classifier {
	t.Helper()
	var list []*classifier
	for i, c := range []Change{{}, {Distortion: 10}} {
		by := must(learn(t.Context(), pictures(t, 200, uint64(i)), c, 1))(t)
		list = append(list, by)
	}
	return append(list, nil)
}

func counted(t *testing.T, by []*classifier, data records.Data) []int64 {
	t.Helper()
	return must(recognisedBy(t.Context(), by, data))(t)
}

// TestOneRecordChangesUtilitiesByOne removes and replaces every record of a data set in turn. A
// removal changes each utility by exactly what the record adds if it is alone.
func TestOneRecordChangesUtilitiesByOne(t *testing.T) {
	by := classifiers(t)
	data, others := pictures(t, 70, 8), pictures(t, 70, 9)
	whole, changes := counted(t, by, data), 0
	if whole[0] <= whole[1] {
		t.Errorf("without distortion %d records are recognised, with much %d", whole[0], whole[1])
	}
	for i := range data.Len() {
		less, alone := counted(t, by, without(data, i)), counted(t, by, data.Take([]int32{int32(i)}))
		other := counted(t, by, replaced(t, data, others, i))
		for c := range by {
			if whole[c]-less[c] != alone[c] || alone[c] < 0 || alone[c] > 1 {
				t.Fatalf("record %d adds %d to utility %d of the others, and %d to none", i,
					whole[c]-less[c], c, alone[c])
			}
			if d := whole[c] - other[c]; d < -1 || d > 1 {
				t.Fatalf("replacing record %d changes utility %d by %d", i, c, d)
			} else if d != 0 {
				changes++
			}
		}
	}
	if changes == 0 {
		t.Error("no replacement changes a utility")
	}
	if whole[2] != 0 {
		t.Errorf("no classifier recognises %d records", whole[2])
	}
}

// whole reads all records as a classifier does.
func whole(data *records.Table) (b device.Batch) {
	records.Clamped(data).Range(0, data.Len(), &b)
	toUnit(data.Schema(), &b)
	return b
}

// scores returns the probabilities of the classes of every record.
func scores(by *classifier, data *records.Table) []float32 {
	p := make([]float32, data.Len()*by.net.Classes())
	by.net.Predict(whole(data), device.HostMatrix(data.Len(), by.net.Classes(), p))
	return p
}

// TestScoresDoNotDependOnOtherRecords compares bits of a convolutional network's scores, for
// batches of many sizes.
func TestScoresDoNotDependOnOtherRecords(t *testing.T) {
	by := classifiers(t)[0]
	data := pictures(t, 700, 5)
	whole := scores(by, data)
	for _, n := range []int{1, 2, 7, 33, 129, 513} {
		for lo := 0; lo+n <= data.Len(); lo += max(n, 97) {
			rows := make([]int32, n)
			for i := range rows {
				rows[i] = int32(lo + i)
			}
			for i, v := range scores(by, data.Take(rows)) {
				if math.Float32bits(v) != math.Float32bits(whole[2*lo+i]) {
					t.Fatalf("score %d of %d records from %d on is %v, in the whole %v", i, n, lo, v,
						whole[2*lo+i])
				}
			}
		}
	}
}

// TestUnlabelledRecordsAreNotRecognised checks that a missing label equals no prediction.
func TestUnlabelledRecordsAreNotRecognised(t *testing.T) {
	if n := matches([]int32{0, 1, 1}, []int32{-1, 1, 0}); n != 1 {
		t.Errorf("%d matches, want 1", n)
	}
	for _, pair := range [][2][]int32{{{0, 1, 1}, nil}, {nil, {0, 1, 1}}} {
		if n := matches(pair[0], pair[1]); n != 0 {
			t.Errorf("%d matches of %v and %v, want 0", n, pair[0], pair[1])
		}
	}
}

// TestPartsOfRecordsAddUp compares the counts of records that take several parts, which a
// user-defined type returns, with the counts of the whole.
func TestPartsOfRecordsAddUp(t *testing.T) {
	by := classifiers(t)
	data := pictures(t, 2*partRecords+77, 4)
	got := counted(t, by, struct{ records.Data }{data})
	for i, c := range by[:2] {
		if want := matches(c.predict(whole(data)), data.Labels()); got[i] != want || want == 0 {
			t.Errorf("classifier %d recognises %d records in parts, want %d", i, got[i], want)
		}
	}
	for s, want := range map[int]int{1: partRecords, 1 << 14: partNumbers >> 14, 1 << 23: 1} {
		if n := partSize(records.Interval(s, 0, 1).WithLabels("a", "b")); n != want {
			t.Errorf("parts of records of %d numbers have %d records, want %d", s, n, want)
		}
	}
}

// ending is data that end a context when they are read.
type ending struct {
	records.Data
	end context.CancelFunc
}

func (d ending) Range(lo, hi int, b *device.Batch) {
	d.end()
	d.Data.Range(lo, hi, b)
}

func (d ending) Gather(rows []int32, b *device.Batch) {
	d.end()
	d.Data.Gather(rows, b)
}

// TestEndedLearningGivesNoClassifiers ends the context while the last classifier learns: after its
// records are read, and before they are changed. The error is the context's, and no list of
// classifiers comes with it, of which some would recognise nothing.
func TestEndedLearningGivesNoClassifiers(t *testing.T) {
	for name, list := range map[string][]Change{"learning": {{}}, "changing": {{Distortion: 1}}} {
		ctx, end := context.WithCancel(t.Context())
		w := changing{Changes: Changes{Candidates: list}}
		by, err := w.classifiers(ctx, ending{pictures(t, 40, 1), end})
		if !errors.Is(err, context.Canceled) || by != nil {
			t.Errorf("%s: %d classifiers and error %v, want context.Canceled", name, len(by), err)
		}
	}
}

// TestCandidatesWithoutClassifiers: a change that does not fit the records has no classifier, and
// the other candidates have theirs.
func TestCandidatesWithoutClassifiers(t *testing.T) {
	w := changing{Changes: Changes{Candidates: []Change{{Distortion: -1}, {}}}}
	by, err := w.classifiers(t.Context(), pictures(t, 40, 1))
	if err != nil || len(by) != 2 || by[0] != nil || by[1] == nil {
		t.Errorf("got %d classifiers and error %v, want one for the second candidate", len(by), err)
	}
}

// TestClassifiersRefuseOtherRecords: a generator of other records than it was planned for cannot
// make a classifier of the private ones.
func TestClassifiersRefuseOtherRecords(t *testing.T) {
	by := classifiers(t)[:1]
	for _, s := range []records.Schema{records.Interval(63, 0, 1), records.Interval(64, -1, 1),
		records.Interval(64, 0, 2)} {
		other := must(records.FromFlat(s.WithLabels("a", "b"), make([]float32, s.Dim()), 1))(t)
		var wrong *param.Error
		if _, err := recognisedBy(t.Context(), by, other); !errors.As(err, &wrong) {
			t.Errorf("%v: got error %v, want a *param.Error", s, err)
		}
	}
}

// TestSizesOfClassifiers compares the number of parameters with that of networks.
func TestSizesOfClassifiers(t *testing.T) {
	for _, side := range [][2]int{{1, 1}, {3, 20}, {8, 8}, {13, 6}} {
		s := records.Image(side[0], side[1]).WithLabels("a", "b", "c")
		c := must(untrained(s, 1))(t)
		n := c.Params().Len()
		if got := weights(s); got != int64(n) {
			t.Errorf("%v: %d parameters, want %d", s, got, n)
		}
	}
}
