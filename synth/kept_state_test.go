package synth

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/internal/durable"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/records"
)

// counter is a state of one number.
type counter struct{ n float64 }

func (c *counter) save() (*File, error) {
	return &File{Kind: "deed", Header: json.RawMessage(`{"n":1}`),
		Sections: []Section{{"n", Floats([]float64{c.n})}}}, nil
}

func (c *counter) RestoreFrom(f *File) error {
	v, err := ReadFloats[float64](f.Sections[0].Data, 1)
	if err == nil {
		c.n = v[0]
	}
	return err
}

// TestFilesWrittenInSpiteOfAnError: if a checkpoint is replaced and only its folder cannot be
// synced, the run still knows the file as its own, so that its end takes back the use that was
// counted and not drawn.
func TestFilesWrittenInSpiteOfAnError(t *testing.T) {
	defer func() { writeFile = durable.WriteFile }()
	writes, left, unsynced := 0, 0, errors.New("the folder is not synced")
	writeFile = func(path string, write func(io.Writer) error) error {
		err := durable.WriteFile(path, write)
		if writes++; writes == 2 && err == nil {
			err = unsynced
		}
		return err
	}
	p := deedOf(t, records.Binary(2), deed{run: func(_ context.Context, r *Run) (Model, error) {
		left = r.Allowance("steps").Remaining()
		_, err := r.Allowance("steps").Next()
		return nil, err
	}}, Stage{Purpose: "steps", Event: normal, Count: 3})
	path, l := filepath.Join(t.TempDir(), "run.ckpt"), ledger.New(deedBudget)
	if _, err := p.FitOn(t.Context(), l, bits(t, 9), Checkpoint(path)); !errors.Is(err, unsynced) {
		t.Fatal(err)
	}
	if _, err := p.FitOn(t.Context(), l, bits(t, 9), Checkpoint(path)); err != nil || left != 3 {
		t.Errorf("%d of 3 uses are left: %v", left, err)
	}
}

// TestRunsResumeFromTheirState interrupts a run after every use. The next run gets the state that
// was kept last, goes on from there, and ends with the uses that the plan has. A run that has no
// use left to draw reads no record for it.
func TestRunsResumeFromTheirState(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.ckpt")
	stop := errors.New("stop")
	var begun []float64
	prepared, means := 0, [][]float64{}
	work := deed{run: func(_ context.Context, r *Run) (Model, error) {
		c := &counter{}
		if err := r.Restore(c); err != nil {
			return nil, err
		}
		begun = append(begun, c.n)
		r.Keep(c.save)
		if a := r.Allowance("steps"); a.Remaining() > 0 {
			if _, err := a.Next(); err != nil {
				return nil, err
			}
			c.n++
			if a.Remaining() > 0 {
				return nil, stop
			}
		}
		out, err := r.Once("once", []int{1}, func() (float64, []mechanism.Part, error) {
			prepared++
			return 0.2, []mechanism.Part{{Sum: mechanism.NewFixedSum(1, 0x1p-20), Std: 10}}, nil
		})
		if err != nil {
			return nil, err
		}
		means = append(means, out[0])
		if len(means) < 3 {
			return nil, stop
		}
		return nil, r.Save()
	}}
	p := deedOf(t, records.Binary(2), work, Stage{Purpose: "steps", Event: normal, Count: 3},
		Stage{Purpose: "once", Event: normal, Count: 1, Once: true})
	l := ledger.New(deedBudget)
	for range 5 {
		_, err := p.FitOn(t.Context(), l, bits(t, 9), Checkpoint(path))
		if last := len(means) == 3; err != nil != !last || !last && !errors.Is(err, stop) {
			t.Fatal(err)
		}
	}
	for i, n := range begun {
		if n != min(float64(i), 3) {
			t.Errorf("run %d begins with the state %v", i+1, n)
		}
	}
	if prepared != 1 || means[0][0] != means[1][0] || means[1][0] != means[2][0] {
		t.Errorf("a release that is drawn was prepared %d times, and is %v", prepared, means)
	}
	for _, e := range l.Entries() {
		if e.Spent != e.Reserved {
			t.Errorf("%s: %d of %d uses are taken", e.Purpose, e.Spent, e.Reserved)
		}
	}
}

// TestAPanicEndsTheRun: a system that panics leaves no allowance behind, and no lock.
func TestAPanicEndsTheRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.ckpt")
	var kept *mechanism.Allowance
	work := deed{run: func(_ context.Context, r *Run) (Model, error) {
		kept = r.Allowance("steps")
		panic("a mistake of the system")
	}}
	p := deedOf(t, records.Binary(2), work, Stage{Purpose: "steps", Event: normal, Count: 3})
	for _, opts := range [][]Option{nil, {Checkpoint(path)}, {Checkpoint(path)}} {
		l := ledger.New(deedBudget)
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the run does not panic")
				}
			}()
			if _, err := p.FitOn(t.Context(), l, bits(t, 9), opts...); err != nil {
				t.Error(err)
			}
		}()
		if _, err := kept.Next(); err == nil || l.Entries()[0].Spent > 0 {
			t.Errorf("a run that panicked goes on drawing: %v", err)
		}
	}
}

// TestDrawsThatCannotBe: each option of a draw at its bounds.
func TestDrawsThatCannotBe(t *testing.T) {
	plain := NewGenerator("deed", repeating{records.Binary(2)}, ledger.Guarantee{})
	labelled := NewGenerator("deed", repeating{records.Binary(2).WithLabels("a", "b")},
		ledger.Guarantee{})
	for what, c := range map[string]struct {
		gen  *Generator
		n    int
		opts []DrawOption
		good bool
	}{
		"none": {plain, 0, nil, true}, "a negative number": {plain, -1, nil, false},
		"the only cluster": {plain, 1, []DrawOption{FromCluster(0)}, true},
		"all clusters":     {plain, 1, []DrawOption{FromCluster(-1)}, true},
		"a cluster more":   {plain, 1, []DrawOption{FromCluster(1)}, false},
		"a cluster less":   {plain, 1, []DrawOption{FromCluster(-2)}, false},
		"a class of none":  {plain, 1, []DrawOption{OfClass(0)}, false},
		"all classes":      {plain, 1, []DrawOption{OfClass(-1)}, true},
		"the last class":   {labelled, 1, []DrawOption{OfClass(1)}, true},
		"a class more":     {labelled, 1, []DrawOption{OfClass(2)}, false},
		"a class less":     {labelled, 1, []DrawOption{OfClass(-2)}, false},
		"an effort":        {plain, 1, []DrawOption{Effort(1)}, true},
		"no effort":        {plain, 1, []DrawOption{Effort(-1)}, false},
	} {
		d, err := c.gen.Sample(t.Context(), c.n, c.opts...)
		wrong := (*param.Error)(nil)
		if (err == nil) != c.good || err != nil && !errors.As(err, &wrong) || err == nil &&
			d.Len() != c.n {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// repeating is a model of one record.
type repeating struct{ schema records.Schema }

func (m repeating) Schema() records.Schema { return m.schema }
func (repeating) Encode() (*File, error)   { return nil, errors.ErrUnsupported }
func (m repeating) Sampler(Draw) (Sampler, error) {
	return Sampler{Schema: m.schema, Next: func(n int) (records.Data, error) {
		var labels []int32
		if m.schema.Classes() > 0 {
			labels = make([]int32, n)
		}
		return records.FromFlat(m.schema, make([]float32, 2*n), labels...)
	}}, nil
}

// TestFloatsOfFiles: numbers come back in their number only, and finite.
func TestFloatsOfFiles(t *testing.T) {
	b := Floats([]float64{1, 2})
	for want, good := range map[int]bool{2: true, 1: false, 3: false, -1: false, 0: false,
		math.MinInt: false} {
		if v, err := ReadFloats[float64](b, want); (err == nil) != good || good && (v[0] != 1 ||
			v[1] != 2) || !good && !errors.Is(err, ErrFormat) {
			t.Errorf("%d of two numbers: %v, %v", want, v, err)
		}
	}
	if v, err := ReadFloats[float32](nil, 0); err != nil || len(v) != 0 {
		t.Error(v, err)
	}
	for _, cut := range []int{1, 7, 15} {
		if _, err := ReadFloats[float64](b[:cut], cut/8); !errors.Is(err, ErrFormat) {
			t.Errorf("%d bytes: %v", cut, err)
		}
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if _, err := ReadFloats[float64](Floats([]float64{1, x}), 2); !errors.Is(err, ErrFormat) {
			t.Errorf("%v: %v", x, err)
		}
	}
	for _, text := range []string{"", "PRIVGE", "PRIVGEX\x01 and more", strings.Repeat("\x00", 99)} {
		if _, err := DecodeFile(strings.NewReader(text)); err == nil {
			t.Errorf("%q is read as a file", text)
		}
	}
}

// TestRunsWithoutAStateKeepTheSavedOne: a run that is resumed, and interrupted before it has a
// state of its own, leaves the state of the run before in the file.
func TestRunsWithoutAStateKeepTheSavedOne(t *testing.T) {
	path, stop := filepath.Join(t.TempDir(), "run.ckpt"), errors.New("stop")
	var begun []float64
	work := deed{run: func(_ context.Context, r *Run) (Model, error) {
		c := &counter{}
		if err := r.Restore(c); err != nil {
			return nil, err
		}
		begun = append(begun, c.n)
		if c.n = 7; len(begun) == 1 {
			r.Keep(c.save)
		} else {
			r.Keep(func() (*File, error) { return nil, nil })
		}
		_, err := r.Allowance("steps").Next()
		return nil, errors.Join(err, stop)
	}}
	p := deedOf(t, records.Binary(2), work, Stage{Purpose: "steps", Event: normal, Count: 3})
	l := ledger.New(deedBudget)
	for range 3 {
		if _, err := p.FitOn(t.Context(), l, bits(t, 9), Checkpoint(path)); !errors.Is(err, stop) {
			t.Fatal(err)
		}
	}
	if !slices.Equal(begun, []float64{0, 7, 7}) {
		t.Errorf("runs begin with the states %v, want 0 and then 7", begun)
	}
}

// TestEveryReleaseIsReadBack: the sums of several releases drawn once, of one part or several,
// come back from the file as they were drawn.
func TestEveryReleaseIsReadBack(t *testing.T) {
	path, stop := filepath.Join(t.TempDir(), "run.ckpt"), errors.New("stop")
	purposes, sizes := []string{"a", "b", "c"}, [][]int{{2, 1}, {2, 1}, {2}}
	var runs [][][][]float64
	work := deed{run: func(_ context.Context, r *Run) (Model, error) {
		var got [][][]float64
		for i, purpose := range purposes {
			out, err := r.Once(purpose, sizes[i], func() (float64, []mechanism.Part, error) {
				var parts []mechanism.Part
				for _, n := range sizes[i] {
					parts = append(parts, mechanism.Part{Sum: mechanism.NewFixedSum(n, 0x1p-20), Std: 10})
				}
				return 0.2, parts, nil
			})
			if err != nil {
				return nil, err
			}
			got = append(got, out)
		}
		runs = append(runs, got)
		return nil, stop
	}}
	var stages []Stage
	for _, purpose := range purposes {
		stages = append(stages, Stage{Purpose: purpose, Event: normal, Count: 1, Once: true})
	}
	p := deedOf(t, records.Binary(2), work, stages...)
	l := ledger.New(deedBudget)
	for range 2 {
		if _, err := p.FitOn(t.Context(), l, bits(t, 9), Checkpoint(path)); !errors.Is(err, stop) {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(runs[0], runs[1]) {
		t.Errorf("drawn %v, read back %v", runs[0], runs[1])
	}
}

// TestEveryFailedWriteEndsARelease: each of the two writes of a share can fail, and Once then
// returns the error instead of sums that the file lacks.
func TestEveryFailedWriteEndsARelease(t *testing.T) {
	broken := errors.New("broken disk")
	for at := range 2*shares + 1 {
		work := deed{run: func(_ context.Context, r *Run) (Model, error) {
			writes := 0
			r.keeper.put = func() error {
				if writes++; writes == at+1 {
					return broken
				}
				return nil
			}
			_, err := r.Once("use", []int{1}, func() (float64, []mechanism.Part, error) {
				return 0.2, []mechanism.Part{{Sum: mechanism.NewFixedSum(1, 0x1p-20), Std: 10}}, nil
			})
			if fails := at < 2*shares; errors.Is(err, broken) != fails || err == nil == fails ||
				writes != min(at+1, 2*shares) {
				t.Errorf("write %d fails: %v after %d writes", at+1, err, writes)
			}
			return nil, errStopped
		}}
		p := deedOf(t, records.Binary(2), work,
			Stage{Purpose: "use", Event: normal, Count: 1, Once: true})
		path := filepath.Join(t.TempDir(), "run.ckpt")
		if _, err := p.FitOn(t.Context(), ledger.New(deedBudget), bits(t, 9),
			Checkpoint(path)); !errors.Is(err, errStopped) {
			t.Fatal(err)
		}
	}
}

// TestOnlyTheLatestRecordsCount: a draw that has kept many records still ends when the last ones
// are too few, as when the values of a unique column run out.
func TestOnlyTheLatestRecordsCount(t *testing.T) {
	s := &drawing{draw: Draw{Effort: 10}}
	for i, kept := range []int{1000, fewest, fewest - 1, fewest} {
		s.windowTried, s.windowKept = s.windowTried+fewest*10-1, s.windowKept+kept
		if s.hopeless() {
			t.Errorf("window %d ends a record early", i)
		}
		if s.windowTried++; s.hopeless() != (i == 2) {
			t.Errorf("window %d with %d records of %d: hopeless is %t", i, kept, fewest, i != 2)
		}
	}
}

// TestEffortsOfAnySizeAreKept: the largest effort is not taken for a small one.
func TestEffortsOfAnySizeAreKept(t *testing.T) {
	for _, effort := range []int{math.MaxInt / 4, math.MaxInt} {
		s := &drawing{draw: Draw{Effort: effort}, windowTried: 1 << 20}
		if s.hopeless() {
			t.Errorf("effort %d: hopeless after %d records", effort, s.windowTried)
		}
	}
}

// TestAPaidGeneratorIsReturned: a run whose ledger cannot record the generator any more returns
// both the generator, which is paid for, and the error.
func TestAPaidGeneratorIsReturned(t *testing.T) {
	l, err := ledger.Memory().Create(t.Context(), "people", ledger.Terms{Budget: deedBudget})
	if err != nil {
		t.Fatal(err)
	}
	p := deedOf(t, records.Binary(2), deed{run: func(_ context.Context, r *Run) (Model, error) {
		if _, err := r.Allowance("use").Next(); err != nil {
			return nil, err
		}
		return repeating{records.Binary(2)}, l.Close()
	}}, Stage{Purpose: "use", Event: normal, Count: 1})
	g, err := p.FitOn(t.Context(), l, bits(t, 2))
	if g == nil || err == nil || !strings.Contains(err.Error(), "did not record") {
		t.Errorf("got %v and the error %v", g, err)
	}
}

// TestTheLastWriteIsReported: a run whose last write of its checkpoint fails returns the error.
func TestTheLastWriteIsReported(t *testing.T) {
	broken := errors.New("broken disk")
	p := deedOf(t, records.Binary(2), deed{run: func(_ context.Context, r *Run) (Model, error) {
		if _, err := r.Allowance("use").Next(); err != nil {
			return nil, err
		}
		r.keeper.put = func() error { return broken }
		return repeating{records.Binary(2)}, nil
	}}, Stage{Purpose: "use", Event: normal, Count: 1})
	_, err := p.FitOn(t.Context(), ledger.New(deedBudget), bits(t, 2),
		Checkpoint(filepath.Join(t.TempDir(), "run.ckpt")))
	if later := (*Interrupted)(nil); !errors.Is(err, broken) || !errors.As(err, &later) {
		t.Errorf("got %v, want the error of the disk, as of a run that can go on", err)
	}
}

// TestUsesAfterAFailedWrite: while the file cannot be written, a run gets no further use, however
// often it asks. So a process that is killed then, and its successor, draw no more than the plan.
func TestUsesAfterAFailedWrite(t *testing.T) {
	full := errors.New("no space left on device")
	for _, ahead := range []bool{false, true} {
		path, drawn, killed := filepath.Join(t.TempDir(), "run.ckpt"), 0, false
		p := deedOf(t, records.Binary(2), deed{run: func(_ context.Context, r *Run) (Model, error) {
			a := r.Allowance("steps")
			for try := 0; a.Remaining() > 0; try++ {
				if !killed && drawn == 1 {
					r.keeper.put = func() error { return full }
				}
				if !killed && try == 20 {
					killed = true
					panic("killed")
				}
				if ahead {
					if err := r.Ahead("steps", 1); err != nil && !errors.Is(err, full) {
						return nil, err
					}
				}
				if _, err := a.Next(); err == nil {
					drawn++
				} else if !errors.Is(err, full) {
					return nil, err
				}
			}
			return nil, nil
		}}, Stage{Purpose: "steps", Event: normal, Count: 8})
		func() {
			defer func() { _ = recover() }()
			_, _ = p.FitOn(t.Context(), ledger.New(deedBudget), bits(t, 9), CheckpointEvery(path, 1))
		}()
		first := drawn // the ledger of the next process is another one
		_, err := p.FitOn(t.Context(), ledger.New(deedBudget), bits(t, 9), CheckpointEvery(path, 1))
		if first != 1 || drawn != 8 || err != nil {
			t.Errorf("ahead %v: drawn %d and then %d of 8, %v", ahead, first, drawn-first, err)
		}
	}
}

// TestUsesAreNeverCountedBack: what the file counts as taken stays, however few uses are counted
// ahead the next time.
func TestUsesAreNeverCountedBack(t *testing.T) {
	r := mechanism.Begin(t.Context(), ledger.New(deedBudget))
	k := &keeper{put: func() error { return nil }, pace: pace{every: 2}}
	for _, taken := range []int{50, 0, 100, 7} {
		a, err := r.Reserve("steps", accountant.Gaussian{NoiseMultiplier: 500}, 100)
		if err != nil {
			t.Fatal(err)
		}
		k.lines = append(k.lines, keptLine{purpose: "steps", count: 100, taken: taken, allowed: a})
	}
	if err := k.ahead("steps", 3); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{50, 6, 100, 7} {
		if got := k.lines[i].taken; got != want {
			t.Errorf("line %d: %d uses are counted as taken, want %d", i, got, want)
		}
	}
}
