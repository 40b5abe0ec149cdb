package digits_test

import (
	"bytes"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/examples/digits"
	"github.com/seed7ba64551/privgen/records"
)

func draw(t testing.TB, n int, seed uint64) *records.Table {
	t.Helper()
	table, err := digits.Draw(n, seed)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func file(t *testing.T, table *records.Table) []byte {
	t.Helper()
	var images, labels bytes.Buffer
	if err := records.WriteIDX(&images, &labels, table); err != nil {
		t.Fatal(err)
	}
	return append(images.Bytes()[8:], labels.Bytes()[8:]...)
}

func TestDrawingsDependOnTheSeedAlone(t *testing.T) {
	many := draw(t, 300, 7)
	if !bytes.Equal(file(t, many), file(t, draw(t, 300, 7))) {
		t.Error("the same seed draws different images")
	}
	if bytes.Equal(file(t, many), file(t, draw(t, 300, 8))) {
		t.Error("another seed draws the same images")
	}
	if !bytes.Equal(file(t, many.Slice(0, 100)), file(t, draw(t, 100, 7))) {
		t.Error("a shorter table is not the beginning of a longer one")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if !bytes.Equal(file(t, many), file(t, draw(t, 300, 7))) {
		t.Error("one core draws different images")
	}
}

func TestNoImages(t *testing.T) {
	if n := draw(t, 0, 1).Len(); n != 0 {
		t.Errorf("%d images drawn, want none", n)
	}
}

func TestImagesAreInTheSchema(t *testing.T) {
	table := draw(t, 500, 1)
	if err := records.Check(table); err != nil {
		t.Error(err)
	}
	if !table.Schema().Equal(digits.Schema()) {
		t.Errorf("the table has the schema %v, want that of digits.Schema", table.Schema())
	}
}

// TestImagesLookLikeDigits checks that drawings resemble handwritten digits. About 100 of 784
// pixels must have ink, and no digit may be cut off at the edge. Images of a class must be similar
// but not equal.
func TestImagesLookLikeDigits(t *testing.T) {
	table := draw(t, 4000, 3)
	ink, edge := 0.0, 0.0
	var row []float32
	for i := range table.Len() {
		row = table.Row(row, i)
		for p, v := range row {
			ink += float64(v)
			if y, x := p/digits.Side, p%digits.Side; y == 0 || x == 0 || y == digits.Side-1 ||
				x == digits.Side-1 {
				edge += float64(v)
			}
		}
	}
	if mean := ink / float64(table.Len()); mean < 85 || mean > 125 {
		t.Errorf("mean ink %.1f, want about 100", mean)
	}
	if edge/ink > 0.002 {
		t.Errorf("a fraction of %.4f of the ink is on the edge, want at most 0.002", edge/ink)
	}
	accuracy := nearestMean(table.Slice(0, 3000), table.Slice(3000, 4000))
	if accuracy < 0.75 || accuracy > 0.99 {
		t.Errorf("the accuracy of nearest class means is %.3f, want 0.75 to 0.99",
			accuracy)
	}
}

// nearestMean returns the accuracy of the classifier that chooses the class with the nearest mean.
func nearestMean(train, test *records.Table) float64 {
	var means [10][]float64
	var row []float32
	for c, rows := range train.RowsByLabel() {
		means[c] = make([]float64, train.Schema().Dim())
		for _, i := range rows {
			row = train.Row(row, int(i))
			for p, v := range row {
				means[c][p] += float64(v) / float64(len(rows))
			}
		}
	}
	right := 0
	for i := range test.Len() {
		row = test.Row(row, i)
		best, at := math.Inf(1), -1
		for c, mean := range means {
			d := 0.0
			for p, v := range row {
				d += (float64(v) - mean[p]) * (float64(v) - mean[p])
			}
			if d < best {
				best, at = d, c
			}
		}
		if at == test.Label(i) {
			right++
		}
	}
	return float64(right) / float64(test.Len())
}

func TestEveryClassIsDrawn(t *testing.T) {
	sizes := []int{}
	for _, rows := range draw(t, 5000, 2).RowsByLabel() {
		sizes = append(sizes, len(rows))
	}
	if len(sizes) != 10 || slices.Min(sizes) < 380 || slices.Max(sizes) > 620 {
		t.Errorf("class sizes %v, want ten of about 500", sizes)
	}
}

func BenchmarkDraw(b *testing.B) {
	for b.Loop() {
		draw(b, 1000, 1)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/1000, "µs/image")
}
