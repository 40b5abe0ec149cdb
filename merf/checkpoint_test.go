package merf_test

import (
	"context"
	"errors"
	"iter"
	"math"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/merf"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// The contract suite interrupts fits. The tests in this file interrupt operations that only this
// system has.

// interrupting cancels the run while a sample is being summed: after its grant has been taken and
// before its release.
type interrupting struct {
	records.Data
	reads  *int
	at     int
	cancel context.CancelFunc
}

func (d interrupting) Gather(rows []int32, b *device.Batch) {
	if *d.reads++; *d.reads == d.at {
		d.cancel()
	}
	d.Data.Gather(rows, b)
}

// TestLostSamplesAreMadeUpForOnce checks that after a sample has been lost, the sums of the
// remaining samples are scaled to all records and the stated noise is wider. The same call must
// return the same embedding again. A public number of records is not scaled. The standard deviation
// of the estimated number of records is below 20 from sampling and below 10 from noise.
func TestLostSamplesAreMadeUpForOnce(t *testing.T) {
	const n, steps = 9000, 4 // every sample is read in two pieces
	for _, c := range []merf.Config{
		small(records.Binary(6).WithLabels("a", "b"), accountant.AddOrRemoveOne, kernels()["rbf"]),
		small(records.Binary(6), accountant.ReplaceOne, kernels()["rbf"]),
	} {
		c.Batches = merf.Batches{Probability: 0.9, Steps: steps}
		if c.Nominal > 0 {
			c.Nominal = n
		}
		p := mustPlan(t, c)
		var labels []int32
		if c.Schema.Classes() > 0 {
			labels = make([]int32, n)
		}
		data, err := records.FromFlat(c.Schema, make([]float32, 6*n), labels...)
		if err != nil {
			t.Fatal(err)
		}
		kept := synth.CheckpointEvery(filepath.Join(t.TempDir(), "run"), 3)
		l := ledger.New(c.Budget)
		ctx, cancel := context.WithCancel(t.Context())
		stop := interrupting{data, new(int), 3, cancel} // in the second sample
		one := synth.On(device.CPUWith(1))
		_, err = p.Embed(ctx, l, stop, kept, one)
		var interrupted *synth.Interrupted
		if !errors.Is(err, context.Canceled) || !errors.As(err, &interrupted) {
			t.Fatalf("an interrupted run: got %v, want context.Canceled", err)
		}
		e := must(p.Embed(t.Context(), l, data, kept))(t)
		total := 0.0
		for _, v := range e.Counts() {
			total += v
		}
		if math.Abs(total-n) > n/20 || c.Nominal > 0 && total != n {
			t.Errorf("got %v records, want about %d", total, n)
		}
		whole := p.SumStd / (0.9 * math.Sqrt(steps))
		if wider := e.SumStd() / whole; math.Abs(wider-math.Sqrt(steps/3.)) > 1e-9 {
			t.Errorf("the stated noise is %v times as wide, want √(4/3)", wider)
		}
		line := l.Entries()[0]
		again, err := p.Embed(t.Context(), l, data, kept)
		spent := l.Entries()[0].Spent
		if err != nil || !sameSums(e, again) || spent != steps || line.Spent != steps {
			t.Errorf("the same call again: error %v, or another embedding; %d of %d samples were drawn", err,
				spent, steps)
		}
	}
}

func sameSums(a, b *merf.Embedding) bool {
	return reflect.DeepEqual(a.Sum(0), b.Sum(0)) && reflect.DeepEqual(a.Counts(), b.Counts()) &&
		a.SumStd() == b.SumStd() && a.CountStd() == b.CountStd()
}

// failing makes release number at fail after its noise has been drawn.
type failing struct{ releases, at int }

var errLost = errors.New("a release is lost")

func (*failing) Source() (*entropy.Source, error) { return entropy.New() }
func (*failing) Sample(entropy.Sample)            {}
func (*failing) Refuse(string, error)             {}
func (*failing) Spend(string, any, int, error)    {}

func (f *failing) Release(*entropy.Release) error {
	if f.releases++; f.releases == f.at {
		return errLost
	}
	return nil
}

// TestReleasesOfShardsGoOn checks that a failed release leaves the records in the shards. The same
// call then continues with the remaining shares of the noise, and the embedding states its wider
// noise. If the shards had been emptied, the count would be 600 instead of 2100.
func TestReleasesOfShardsGoOn(t *testing.T) {
	releaseGoesOn(t, []int{0, 700, 2100})
	releaseGoesOn(t, []int{0, 2100}) // a single shard
}

func releaseGoesOn(t *testing.T, cuts []int) {
	t.Helper()
	data := drawTable(t, 2100, 1)
	c := small(data.Schema(), accountant.AddOrRemoveOne, kernels()["rbf"])
	p, l := mustPlan(t, c), ledger.New(c.Budget)
	var shards []*mechanism.Partial
	for i, end := range cuts[1:] {
		shards = append(shards, p.NewPartial())
		if err := shards[i].Add(t.Context(), data.Slice(cuts[i], end)); err != nil {
			t.Fatal(err)
		}
	}
	kept := synth.Checkpoint(filepath.Join(t.TempDir(), "run"))
	ctx := entropy.WithTap(t.Context(), &failing{at: 3})
	if _, err := p.Release(ctx, l, shards, kept); !errors.Is(err, errLost) {
		t.Fatalf("a failing release: got %v, want errLost", err)
	}
	e, err := p.Release(t.Context(), l, shards, kept)
	if err != nil {
		t.Fatal(err)
	}
	total := 0.0
	for _, v := range e.Counts() {
		total += v
	}
	if math.Abs(total-2100) > 8*math.Sqrt(3)*e.CountStd() {
		t.Errorf("got %v records, with noise ±%v on each of 3 classes; want about 2100", total,
			e.CountStd())
	}
	if wider := e.SumStd() / p.SumStd; math.Abs(wider-math.Sqrt(8/7.)) > 1e-9 {
		t.Errorf("the stated noise is %v times as wide, want √(8/7)", wider)
	}
	_, err = p.Release(t.Context(), l, shards)
	if !errors.Is(err, accountant.ErrBudgetExceeded) {
		t.Errorf("a release on a spent budget: got %v, want ErrBudgetExceeded", err)
	}
}

// TestFitsToStreamsGoOn checks that fits to streams resume from their checkpoint. The embedding is
// released only once, and training continues.
func TestFitsToStreamsGoOn(t *testing.T) {
	data := drawTable(t, 100, 1)
	p := mustPlan(t, small(data.Schema(), accountant.AddOrRemoveOne, kernels()["pairs"]))
	read := 0
	var stream iter.Seq2[records.Data, error] = func(yield func(records.Data, error) bool) {
		read++
		if yield(data.Slice(0, 30), nil) {
			yield(data.Slice(30, 100), nil)
		}
	}
	kept := synth.CheckpointEvery(filepath.Join(t.TempDir(), "run"), 3)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var steps []int
	watch := synth.OnProgress(func(s synth.Progress) {
		if s.Stage != merf.StageTrain {
			return
		}
		if steps = append(steps, s.Step); len(steps) == 2 {
			cancel()
		}
	})
	l := ledger.New(p.Budget())
	if _, err := p.FitStream(ctx, l, stream, kept, watch); !errors.Is(err, context.Canceled) {
		t.Fatalf("an interrupted run: got %v, want context.Canceled", err)
	}
	one := must(p.FitStream(t.Context(), l, stream, kept, watch))(t)
	two := must(p.FitStream(t.Context(), ledger.New(p.Budget()), stream, kept, watch))(t)
	if !reflect.DeepEqual(encoded(t, one), encoded(t, two)) {
		t.Error("the same call returns another generator")
	}
	if read != 1 || !reflect.DeepEqual(steps, []int{1, 2, 3, 4, 5}) {
		t.Errorf("the stream was read %d times, want once; training steps %v, want 1 to 5", read, steps)
	}
	e := must(p.Embed(t.Context(), l, data, kept))(t)
	refit, err := p.Refit(t.Context(), e)
	if err != nil || !reflect.DeepEqual(encoded(t, one), encoded(t, refit)) {
		t.Errorf("training again against the checkpoint's release: another generator, or error %v", err)
	}
}
