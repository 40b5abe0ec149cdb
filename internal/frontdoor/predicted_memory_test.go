package frontdoor_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen"
	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/records"
)

// TestPredictedMemoryOfImages: a plan of images predicts its memory within a factor of 4. The
// heap is measured at the third step of training, after a collection.
func TestPredictedMemoryOfImages(t *testing.T) {
	s := records.Image(28, 28).WithLabels("a", "b", "c")
	p, err := privgen.MERF(s, accountant.Budget{Epsilon: 8, Delta: 1e-5}).Nominal(400).Plan()
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(strings.Join(strings.Fields(fmt.Sprint(p)), " "), "predicted: ")
	_, text, _ = strings.Cut(text, "and ")
	var want uint64
	if _, err := fmt.Sscanf(text, "%d MiB", &want); err != nil {
		t.Fatal(err, text)
	}
	labels := make([]int32, 400)
	for i := range labels {
		labels[i] = int32(i % 3)
	}
	data, err := records.FromFlat(s, make([]float32, 400*784), labels...)
	if err != nil {
		t.Fatal(err)
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc >> 20
	}
	ctx, cancel := context.WithCancel(t.Context())
	before, most, reports := heap(), uint64(0), 0
	_, _ = p.Fit(ctx, data, privgen.OnProgress(func(n privgen.Progress) {
		if reports++; reports == 3 {
			most = max(most, heap()-before)
			cancel()
		}
	}))
	if most > 4*want {
		t.Errorf("the fit takes %d MiB, and its plan predicts %d", most, want)
	}
}
