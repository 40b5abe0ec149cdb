package synth

import (
	"math"
	"testing"
	"time"
)

// TestOptionalWrites: a run that has just started saves free work several times a second, so that a
// run that is killed every second makes progress. Later it saves rarely, and writing never takes
// more than a twentieth of the time.
func TestOptionalWrites(t *testing.T) {
	for _, c := range []struct {
		age, since, took time.Duration
		due              bool
	}{
		{time.Second, 200 * time.Millisecond, 0, false},
		{time.Second, 300 * time.Millisecond, 0, true},
		{4 * time.Second, 400 * time.Millisecond, 0, false},
		{4 * time.Second, 600 * time.Millisecond, 0, true},
		{time.Hour, 2 * time.Second, 0, false},
		{time.Hour, 3 * time.Second, 0, true},
		{time.Second, 900 * time.Millisecond, 100 * time.Millisecond, false},
		{time.Hour, 3 * time.Second, 100 * time.Millisecond, true},
	} {
		now := time.Now()
		p := pace{begun: now.Add(-c.age), last: now.Add(-c.since), took: c.took}
		if p.due() != c.due {
			t.Errorf("%v after the start, %v after a write of %v: due is %v", c.age, c.since, c.took, !c.due)
		}
	}
}

// TestAFixedPaceHasNoClock checks that optional writes with a fixed number of uses come after a
// fixed number of steps, however long these take: two replayed runs must write the same states.
func TestAFixedPaceHasNoClock(t *testing.T) {
	for _, every := range []int{1, 3} {
		quick := pace{every: every, begun: time.Now(), last: time.Now()}
		slow := pace{every: every, begun: time.Now().Add(-time.Hour), last: time.Now().Add(-time.Hour)}
		for i := range 1000 {
			want := (i+1)%64 == 0
			if a, b := quick.due(), slow.due(); a != want || b != want {
				t.Fatalf("every %d uses, step %d: quick %v, slow %v, want %v", every, i, a, b, want)
			}
		}
	}
}

// TestUsesAheadAreBounded: a number of uses that is added to others must not overflow.
func TestUsesAheadAreBounded(t *testing.T) {
	for uses, want := range map[int]int{math.MinInt: 1, 0: 1, 5: 5, math.MaxInt: 1 << 20} {
		var o options
		if apply(&o, []Option{CheckpointEvery("f", uses)}); o.keepEvery != want {
			t.Errorf("%d uses: %d are counted ahead, want %d", uses, o.keepEvery, want)
		}
	}
}
