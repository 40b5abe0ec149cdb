package synthtest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/mechanism"
	"github.com/seed7ba64551/privgen/privacytest"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

var toyBudget = accountant.Budget{Epsilon: 3, Delta: 1e-5}

func toyPlan(t *testing.T) synth.Plan {
	t.Helper()
	p, err := newPlan(records.Binary(9), toyBudget, 0)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func toyData(t *testing.T) records.Data {
	t.Helper()
	flat := make([]float32, 40*9)
	for i := range flat {
		flat[i] = float32(i % 2)
	}
	d, err := records.FromFlat(records.Binary(9), flat)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// counted returns the number of uses of each line that a checkpoint counts as taken.
func counted(t *testing.T, path string) []int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := synth.DecodeFile(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var h struct {
		Taken []int `json:"taken"`
	}
	if err := json.Unmarshal(f.Header, &h); err != nil {
		t.Fatal(err)
	}
	return h.Taken
}

// TestACheckpointPromisesToOneUnit checks that a run for users refuses a checkpoint with releases
// for records.
func TestACheckpointPromisesToOneUnit(t *testing.T) {
	p, data, keep := toyPlan(t), toyData(t), synth.Checkpoint(filepath.Join(t.TempDir(), "c"))
	if _, err := p.Fit(t.Context(), data, keep); err != nil {
		t.Fatal(err)
	}
	g, err := p.Fit(t.Context(), records.WithUnit(data, "user"), keep)
	if !errors.Is(err, synth.ErrPlan) || g != nil {
		t.Errorf("releases that protect records are accepted for users: %v", err)
	}
	if _, err := p.Fit(t.Context(), data, keep); err != nil {
		t.Errorf("the same unit again: %v", err)
	}
}

// toyWith returns the toy system's plan with another event and number of its steps, but the same
// Config.
func toyWith(t *testing.T, w synth.Work, event accountant.Event, count int) *synth.Program {
	t.Helper()
	once := accountant.Gaussian{NoiseMultiplier: 60}
	p, err := synth.NewProgram("toy", records.Binary(9), toyBudget, []synth.Stage{
		{Purpose: stageCount, Event: once, Count: 1, Once: true},
		{Purpose: stageSteps, Event: event, Count: count}}, w)
	if err != nil {
		t.Fatal(err)
	}
	return &p
}

func sampled(rate float64) accountant.Event {
	return accountant.PoissonSampled{Probability: rate,
		Event: accountant.Gaussian{NoiseMultiplier: 60}}
}

// TestACheckpointIsOfOneBill checks that plans with the same configuration but different stages
// do not share a checkpoint.
func TestACheckpointIsOfOneBill(t *testing.T) {
	w := &work{schema: records.Binary(9), budget: toyBudget, noise: 60}
	keep := synth.Checkpoint(filepath.Join(t.TempDir(), "c"))
	if _, err := toyWith(t, w, sampled(0.5), steps).Fit(t.Context(), toyData(t), keep); err != nil {
		t.Fatal(err)
	}
	_, err := toyWith(t, w, sampled(0.001), steps).Fit(t.Context(), toyData(t), keep)
	if !errors.Is(err, synth.ErrPlan) {
		t.Errorf("another sampling rate: %v", err)
	}
	_, err = toyWith(t, w, sampled(0.5), steps-1).Fit(t.Context(), toyData(t), keep)
	if !errors.Is(err, synth.ErrPlan) {
		t.Errorf("another number of steps: %v", err)
	}
}

type typedWork struct {
	*work
	part any
}

func (w typedWork) Parts() []any { return []any{w.part, nil} }

type oneType struct{ hidden int }
type otherType struct{ hidden int }

// TestACheckpointKnowsTypes checks that plans are distinguished by the Go types of their parts,
// even if their JSON is the same.
func TestACheckpointKnowsTypes(t *testing.T) {
	w := &work{schema: records.Binary(9), budget: toyBudget, noise: 60}
	keep := synth.Checkpoint(filepath.Join(t.TempDir(), "c"))
	fit := func(part any) error {
		_, err := toyWith(t, typedWork{w, part}, sampled(0.5), steps).Fit(t.Context(), toyData(t), keep)
		return err
	}
	if err := fit(oneType{1}); err != nil {
		t.Fatal(err)
	}
	if err := fit(otherType{1}); !errors.Is(err, synth.ErrPlan) {
		t.Errorf("another type: %v", err)
	}
	if err := fit(&oneType{1}); !errors.Is(err, synth.ErrPlan) {
		t.Errorf("a pointer to the type: %v", err)
	}
	if err := fit(oneType{1}); err != nil {
		t.Errorf("the same type: %v", err)
	}
}

// sideBySide takes uses of one allowance from several goroutines.
type sideBySide struct {
	*work
	uses int
	path string
	late chan error
}

func (s *sideBySide) Fit(_ context.Context, r *synth.Run) (synth.Model, error) {
	a := r.Allowance(stageSteps)
	r.Keep(func() (*synth.File, error) { return &synth.File{Header: json.RawMessage("{}")}, nil })
	for a.Remaining() > 4 {
		var g sync.WaitGroup
		for range 4 {
			g.Go(func() { _, _ = a.Next() })
		}
		g.Wait()
		text, err := os.ReadFile(s.path)
		if err != nil {
			return nil, err
		}
		f, err := synth.DecodeFile(bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		var h struct {
			Taken []int `json:"taken"`
		}
		if err := json.Unmarshal(f.Header, &h); err != nil {
			return nil, err
		}
		if drawn := s.uses - a.Remaining(); drawn > h.Taken[1] {
			return nil, fmt.Errorf("%d uses are drawn, but the file counts %d", drawn, h.Taken[1])
		}
	}
	go func() { // outlives the run
		for a.Remaining() > 0 {
			if _, err := a.Next(); err != nil {
				s.late <- errors.Join(err, r.Save())
				return
			}
		}
		s.late <- nil
	}()
	return nil, errors.New("stopped")
}

// TestUsesSideBySideAreCountedFirst checks that the file counts every use before it is drawn, even
// if several goroutines draw. No use may be drawn after the run is over.
func TestUsesSideBySideAreCountedFirst(t *testing.T) {
	const uses = 400
	path := filepath.Join(t.TempDir(), "c")
	w := &sideBySide{&work{schema: records.Binary(9), budget: toyBudget, noise: 600}, uses, path,
		make(chan error, 1)}
	p := toyWith(t, w, accountant.Gaussian{NoiseMultiplier: 600}, uses)
	l := ledger.New(toyBudget)
	_, err := p.FitOn(t.Context(), l, toyData(t), synth.CheckpointEvery(path, 1))
	if err == nil || err.Error() != "stopped; the same call continues from checkpoint "+path {
		t.Fatal(err)
	}
	<-w.late
	drawn := 0
	for _, e := range l.Entries() {
		if e.Purpose == stageSteps {
			drawn = e.Spent
		}
	}
	if got := counted(t, path)[1]; drawn > got {
		t.Errorf("%d uses are drawn, but the file counts %d", drawn, got)
	}
}

// TestAnOlderFileStopsTheRun: a file that another run, or a person, replaced by an older copy
// counts fewer uses than are drawn. The run must take no further use, and must leave the file as it
// is.
func TestAnOlderFileStopsTheRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c")
	var old []byte
	last := 0
	_, err := toyPlan(t).Fit(t.Context(), toyData(t), synth.CheckpointEvery(path, 1),
		synth.OnProgress(func(p synth.Progress) {
			if p.Stage != stageSteps {
				return
			}
			last = p.Step
			var failed error
			switch p.Step {
			case 1:
				old, failed = os.ReadFile(path)
			case 2:
				failed = os.WriteFile(path, old, 0o600)
			}
			if failed != nil {
				t.Error(failed)
			}
		}))
	if !errors.Is(err, synth.ErrTaken) || last != 2 {
		t.Errorf("the run ends after step %d with %v, want ErrTaken after step 2", last, err)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, old) {
		t.Errorf("the file of the other run is overwritten: %v", err)
	}
}

// TestNoUseAfterTheRun checks that an allowance that outlives its run draws nothing more.
func TestNoUseAfterTheRun(t *testing.T) {
	w := &keptWork{work: &work{schema: records.Binary(9), budget: toyBudget, noise: 60}}
	p := toyWith(t, w, sampled(0.5), steps)
	path := filepath.Join(t.TempDir(), "c")
	if _, err := p.Fit(t.Context(), toyData(t), synth.CheckpointEvery(path, steps)); err == nil {
		t.Fatal("the work's error is lost")
	}
	left := w.run.Allowance(stageSteps).Remaining()
	if g, err := w.run.Allowance(stageSteps).Next(); err == nil || g != nil {
		t.Errorf("a use is drawn after the run: %v of %d left",
			w.run.Allowance(stageSteps).Remaining(), left)
	}
	if w.run.Save() == nil || w.run.Ahead(stageSteps, 1) == nil {
		t.Error("the file is written after the run")
	}
}

type keptWork struct {
	*work
	run *synth.Run
}

func (w *keptWork) Fit(_ context.Context, r *synth.Run) (synth.Model, error) {
	w.run = r
	return nil, errors.New("stopped")
}

// failsLate panics at its third read.
type failsLate struct {
	records.Data
	reads *int
}

func (f failsLate) Gather(rows []int32, b *device.Batch) {
	if *f.reads++; *f.reads == 3 {
		panic("private")
	}
	f.Data.Gather(rows, b)
}

// TestAStepWhoseDataFailedIsNotReleased checks that a step whose data failed is not reported as
// progress.
func TestAStepWhoseDataFailedIsNotReleased(t *testing.T) {
	seen := 0
	_, err := toyPlan(t).Fit(t.Context(), failsLate{toyData(t), new(int)},
		synth.CheckpointEvery(filepath.Join(t.TempDir(), "c"), 1),
		synth.OnProgress(func(p synth.Progress) {
			if p.Stage == stageSteps {
				seen = p.Step
			}
		}))
	if !errors.Is(err, synth.ErrData) || seen != 2 {
		t.Errorf("%v; %d steps were released, want 2", err, seen)
	}
}

// TestACheckpointKeepsWhatIsNotPrivate compares the guarantee of the first run with the guarantee
// of a result read from a checkpoint. Both must state the same reason for not being private, and
// the same noise classes.
func TestACheckpointKeepsWhatIsNotPrivate(t *testing.T) {
	p, data, keep := toyPlan(t), toyData(t), synth.Checkpoint(filepath.Join(t.TempDir(), "c"))
	first, err := p.Fit(privacytest.Seeded(t, t.Context(), 7), data, keep)
	if err != nil {
		t.Fatal(err)
	}
	again, err := p.Fit(t.Context(), data, keep)
	if err != nil {
		t.Fatal(err)
	}
	a, b := first.Guarantee(), again.Guarantee()
	if a.NotPrivate == "" || a.NotPrivate != b.NotPrivate {
		t.Errorf("was %q, read again: %q", a.NotPrivate, b.NotPrivate)
	}
	if len(a.NoiseClass) == 0 || fmt.Sprint(a.NoiseClass) != fmt.Sprint(b.NoiseClass) {
		t.Errorf("noise was %v, read again: %v", a.NoiseClass, b.NoiseClass)
	}
}

// TestTheFileComesBeforeTheReservation checks that the checkpoint is written before anything is
// reserved. A process that is killed between these two steps then resumes with the same
// transaction. In the other order it would reserve a second transaction.
func TestTheFileComesBeforeTheReservation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c")
	asked := 0
	l := ledger.New(toyBudget, ledger.WithPolicy(func(ledger.Request) error {
		asked++
		for _, taken := range counted(t, path) {
			if taken != 0 {
				t.Errorf("%d uses are taken before any is reserved", taken)
			}
		}
		return nil
	}))
	if _, err := toyPlan(t).FitOn(t.Context(), l, toyData(t), synth.Checkpoint(path)); err != nil {
		t.Fatal(err)
	}
	if asked == 0 {
		t.Error("nothing is reserved")
	}
}

// TestAPolicyThatPanicsLeavesNoLock checks that the same process can use the checkpoint after a
// policy has panicked.
func TestAPolicyThatPanicsLeavesNoLock(t *testing.T) {
	p, keep := toyPlan(t), synth.Checkpoint(filepath.Join(t.TempDir(), "c"))
	l := ledger.New(toyBudget, ledger.WithPolicy(func(ledger.Request) error {
		panic("no")
	}))
	func() {
		defer func() { _ = recover() }()
		_, _ = p.FitOn(t.Context(), l, toyData(t), keep)
	}()
	if _, err := p.Fit(t.Context(), toyData(t), keep); err != nil {
		t.Errorf("after a panic: %v", err)
	}
}

// TestARunWithoutAPlanRefuses checks that a free run refuses previews and releases.
func TestARunWithoutAPlanRefuses(t *testing.T) {
	if _, err := synth.FreeRun(ledger.Guarantee{},
		synth.OnPreview(1, func(int, *synth.Generator) {})); err == nil {
		t.Error("a free run accepts previews")
	}
	r, err := synth.FreeRun(ledger.Guarantee{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Once("a", []int{1}, func() (float64, []mechanism.Part, error) {
		return 1, nil, nil
	}); err == nil {
		t.Error("a free run accepts a release")
	}
}

// TestPathsThatAreNoCheckpoints checks that a path is refused before anything is reserved if it
// cannot be a checkpoint.
func TestPathsThatAreNoCheckpoints(t *testing.T) {
	p, dir := toyPlan(t), t.TempDir()
	for _, path := range []string{"", filepath.Join(dir, "x.lock"), dir,
		os.DevNull} {
		l := ledger.New(toyBudget)
		_, err := p.FitOn(t.Context(), l, toyData(t), synth.Checkpoint(path))
		if err == nil || len(l.Entries()) > 0 {
			t.Errorf("%q: got error %v and entries %v, want an error and none", path, err, l.Entries())
		}
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*")); len(files) > 0 {
		t.Errorf("files left: %v", files)
	}
}
