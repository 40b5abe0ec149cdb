package compose_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/seed7ba64551/privgen/compose"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// lacking is a stub that cannot draw the class never. If start is true, Sampler returns the error;
// otherwise the first chunk does.
type lacking struct {
	stub
	start bool
}

func (w *lacking) Fit(context.Context, *synth.Run) (synth.Model, error) { return w, nil }

func (w *lacking) Sampler(d synth.Draw) (synth.Sampler, error) {
	s, err := w.stub.Sampler(d)
	if d.Class != 2 {
		return s, err
	}
	failure := errors.New("no records of this class")
	if w.start {
		return synth.Sampler{}, failure
	}
	s.Next = func(int) (records.Data, error) { return nil, failure }
	return s, nil
}

// TestAClassThatCannotBeDrawn uses a system that cannot draw one class. The fit must still end with
// a generator, since everything is paid for by then. The agreement of this class is 0, and only a
// draw of this class fails.
func TestAClassThatCannotBeDrawn(t *testing.T) {
	for _, start := range []bool{true, false} {
		w := &lacking{stub: stub{schema: numbers}, start: start}
		gen := learntOf(t, stubPlan(t, w, numbers), compose.Labels{})
		got := agreementOf(t, gen)
		if got[2] != 0 || got[0] < 0.74 || got[1] < 0.74 {
			t.Errorf("agreement %v, want 0.75 for two classes and 0 for the last", got)
		}
		if rows := draw(t, gen, 100); right(rows) != 100 {
			t.Errorf("%d right labels of 100", right(rows))
		}
		if _, err := gen.Sample(t.Context(), 10, synth.OfClass(2)); err == nil {
			t.Error("a class without records is drawn")
		}
	}
}

// TestAnotherMarginHasAnotherAgreement checks that WithMargin measures the agreement by the new
// margin.
func TestAnotherMarginHasAnotherAgreement(t *testing.T) {
	gen := learnt(t, &stub{}, compose.Labels{})
	before := agreementOf(t, gen)
	strict := must(compose.WithMargin(gen, 1-1e-12))(t)
	if got := agreementOf(t, strict); got[0] != 0 || got[1] != 0 {
		t.Errorf("agreement %v at a margin that no record reaches, want 0", got)
	}
	if got := agreementOf(t, gen); !slices.Equal(got, before) {
		t.Errorf("agreement %v of the first generator, want %v as before", got, before)
	}
}

// pale is a stub of numbers that are smaller than those of real records: at most 0.2 for low, and
// from 0.3 to 0.4 for high.
type pale struct{ stub }

func (w *pale) Fit(context.Context, *synth.Run) (synth.Model, error) { return w, nil }

func (w *pale) Sampler(d synth.Draw) (synth.Sampler, error) {
	return synth.Sampler{Schema: w.schema, Next: func(n int) (records.Data, error) {
		flat, labels := make([]float32, 2*n), make([]int32, n)
		for i := range labels {
			if labels[i] = int32(d.Class); d.Class < 0 {
				labels[i] = int32(i % 2)
			}
			flat[2*i], flat[2*i+1] = 0.1+0.2*float32(labels[i])+0.1*float32(i)/float32(n), 0.5
		}
		return records.FromFlat(w.schema, flat, labels...)
	}}, nil
}

// TestTheClassifierIsFairToTheClasses uses generated records all of which a classifier of real ones
// calls low. Its biases are set so that it calls half of them high, those with larger numbers.
func TestTheClassifierIsFairToTheClasses(t *testing.T) {
	two := records.Interval(2, 0, 1).WithLabels("low", "high")
	got := agreementOf(t, learntOf(t, stubPlan(t, &pale{stub{schema: two}}, two), compose.Labels{}))
	if got[0] < 0.95 || got[1] < 0.95 {
		t.Errorf("agreement %v, want 0.95 or more", got)
	}
}

// wide is a stub of long records, all of the first class, which measures the memory in use.
type wide struct {
	stub
	most uint64
	next int
}

func (w *wide) Fit(context.Context, *synth.Run) (synth.Model, error) { return w, nil }

func (w *wide) Sampler(d synth.Draw) (synth.Sampler, error) {
	return synth.Sampler{Schema: w.schema, Next: func(n int) (records.Data, error) {
		if w.next++; w.next%32 == 0 {
			w.most = max(w.most, inUse())
		}
		return records.FromFlat(w.schema, make([]float32, n*w.schema.Dim()),
			slices.Repeat([]int32{int32(max(d.Class, 0))}, n)...)
	}}, nil
}

// inUse returns the bytes of the heap that are in use.
func inUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestDrawsHoldWhatTheyReturn checks that the memory of a draw does not grow with the number of
// rejected records. These would take 32 MB or more.
func TestDrawsHoldWhatTheyReturn(t *testing.T) {
	s := records.Interval(2000, 0, 1).WithLabels("low", "high")
	w := &wide{stub: stub{schema: s}}
	gen := learntOf(t, stubPlan(t, w, s), compose.Labels{Tries: 200, Margin: 0.99})
	before := inUse()
	w.most = before
	draw(t, gen, 20, synth.OfClass(1))
	if w.next < 200 {
		t.Errorf("only %d draws of the other system: the test has no power", w.next)
	}
	if grown := int64(w.most) - int64(before); grown > 8<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
}
