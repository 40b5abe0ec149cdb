package dpgm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/device"
	"github.com/seed7ba64551/privgen/dpgm"
	"github.com/seed7ba64551/privgen/internal/param"
	"github.com/seed7ba64551/privgen/kmeans"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// watched is data that calls a function before each read.
type watched struct {
	records.Data
	read func()
}

func (w *watched) Range(lo, hi int, b *device.Batch) {
	w.read()
	w.Data.Range(lo, hi, b)
}

func (w *watched) Gather(rows []int32, b *device.Batch) {
	w.read()
	w.Data.Gather(rows, b)
}

// kept is the part of a checkpoint that holds the state of a run.
type kept struct {
	State struct {
		ClipNorm   float64 `json:"clip_norm"`
		Iterations int     `json:"iterations"`
		Steps      int     `json:"steps"`
		Training   bool    `json:"training"`
	} `json:"state"`
	sections []synth.Section
}

func readKept(t *testing.T, path string) (k kept) {
	t.Helper()
	text := must(os.ReadFile(path))(t)
	f := must(synth.DecodeFile(bytes.NewReader(text)))(t)
	if err := json.Unmarshal(f.Header, &k); err != nil {
		t.Fatal(err)
	}
	k.sections = f.Sections
	return k
}

// keptVariants returns small plans. Together, their checkpoints hold every kind of state.
func keptVariants(t *testing.T) map[string]synth.Plan {
	t.Helper()
	out := map[string]synth.Plan{}
	for name, s := range map[string]func(records.Schema, accountant.Budget, int) (synth.Plan, error){
		"clusters": clusters.Plan, "machines": machines.Plan, "averaged": subject(func(c *dpgm.Config) {
			c.Cluster, c.Average = kmeans.Config{K: 2, Iterations: 2, Share: 0.2}, 0.9
		}).Plan} {
		p := must(s(records.Binary(12), accountant.Budget{Epsilon: 3, Delta: 1e-5}, 40))(t)
		out[name] = p
	}
	return out
}

// stopAfter runs a plan and cancels it after the given number of training steps.
func stopAfter(t *testing.T, p synth.Plan, data records.Data, steps int, opts ...synth.Option) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := p.Fit(ctx, data, append(opts, synth.OnProgress(func(at synth.Progress) {
		if at.Stage == dpgm.PurposeTrain && at.Step == steps {
			cancel()
		}
	}))...)
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

// TestTrainingGoesOnWhereItWas restores a run and interrupts it immediately. The run must write
// exactly the same state again: parameters, moments, moving average, clip norm and chains.
func TestTrainingGoesOnWhereItWas(t *testing.T) {
	for name, p := range keptVariants(t) {
		path := filepath.Join(t.TempDir(), "run")
		data := bits(t, 40, 12, 1)
		stopAfter(t, p, data, 3, synth.CheckpointEvery(path, 1))
		before := readKept(t, path)
		if !before.State.Training || before.State.Steps != 3 {
			t.Fatalf("%s: the checkpoint has %+v, want three training steps", name, before.State)
		}
		ctx, cancel := context.WithCancel(t.Context())
		// before the next step, records are read to assign them to clusters
		again := &watched{data, cancel}
		if _, err := p.Fit(ctx, again, synth.CheckpointEvery(path, 1)); !errors.Is(err,
			context.Canceled) {
			t.Fatalf("%s: got %v, want context.Canceled", name, err)
		}
		if after := readKept(t, path); !reflect.DeepEqual(after, before) {
			t.Errorf("%s: the checkpoint changed: its state is %+v, was %+v", name, after.State,
				before.State)
		}
	}
}

// TestChainsAreReleased checks that a model contains the state of the trained networks, such
// as the Markov chains of an RBM.
func TestChainsAreReleased(t *testing.T) {
	p, path := keptVariants(t)["machines"], filepath.Join(t.TempDir(), "run")
	g := must(p.Fit(t.Context(), bits(t, 40, 12, 1), synth.Checkpoint(path)))(t)
	f, states := encoded(t, g), 0
	for _, s := range readKept(t, path).sections {
		if strings.HasSuffix(s.Name, " state") {
			states++
			if got, err := f.Section(s.Name); err != nil || !bytes.Equal(got, s.Data) {
				t.Errorf("%s: the released state differs from the checkpoint's: %v", s.Name, err)
			}
		}
	}
	if states != g.Clusters() {
		t.Errorf("the checkpoint has the states of %d networks, want %d", states, g.Clusters())
	}
}

// TestAnInterruptedStartKeepsTheTraining checks that the saved state of the training does not
// change if a run is cancelled before it resumes the training.
func TestAnInterruptedStartKeepsTheTraining(t *testing.T) {
	stop := func() {}
	public := &watched{bits(t, 10, 12, 3), func() { stop() }}
	c := small(records.Binary(12), accountant.AddOrRemoveOne)
	c.Cluster.Init = kmeans.Public(records.DeclarePublic(public))
	p, data, path := mustPlan(t, c), bits(t, 40, 12, 1), filepath.Join(t.TempDir(), "run")
	stopAfter(t, p, data, 2, synth.CheckpointEvery(path, 1))
	before := readKept(t, path)
	ctx, cancel := context.WithCancel(t.Context())
	stop = cancel // public records are read for the plan's digest and when clustering begins
	if _, err := p.Fit(ctx, data, synth.CheckpointEvery(path, 1)); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	stop = func() {}
	if after := readKept(t, path); !reflect.DeepEqual(after, before) || after.State.Steps != 2 {
		t.Errorf("the checkpoint has %+v, want %+v", after.State, before.State)
	}
	if _, err := p.Fit(t.Context(), data, synth.CheckpointEvery(path, 1)); err != nil {
		t.Error(err)
	}
}

// TestTheClipNormIsKeptAtOnce checks that the checkpoint contains the clip norm immediately after
// its release. A lost clip norm is not drawn again: the run then uses the public maximum.
func TestTheClipNormIsKeptAtOnce(t *testing.T) {
	p, path, seen := keptVariants(t)["machines"], filepath.Join(t.TempDir(), "run"), 0
	_, err := p.Fit(t.Context(), bits(t, 40, 12, 1), synth.Checkpoint(path),
		synth.OnProgress(func(at synth.Progress) {
			if at.Stage == kmeans.PurposeNorm {
				if k := readKept(t, path); !(k.State.ClipNorm > 0) {
					t.Errorf("the checkpoint has %+v, want a clip norm", k.State)
				}
				seen++
			}
		}))
	if err != nil || seen != 1 {
		t.Errorf("got %d reports of the clip norm and error %v, want one report", seen, err)
	}
}

// TestRunsGoOnFromEveryLoss copies the checkpoint of a run whenever the run reads records, and
// resumes a run from each copy. At this interval, the checkpoint counts all uses of clustering or
// training as taken before the first of them is drawn. So a resumed run has lost the taken uses
// whose results are not in the copy. It must return a generator, or ErrLost if it needs a lost
// release.
func TestRunsGoOnFromEveryLoss(t *testing.T) {
	for name, p := range keptVariants(t) {
		folder := t.TempDir()
		path := filepath.Join(folder, "run")
		files := map[string]bool{}
		data := bits(t, 40, 12, 1)
		at := &watched{data, func() {
			if text, err := os.ReadFile(path); err == nil {
				files[string(text)] = true
			}
		}}
		if _, err := p.Fit(t.Context(), at, synth.CheckpointEvery(path, 1000)); err != nil {
			t.Fatal(err)
		}
		complete, lost := 0, 0
		for text := range files {
			again := filepath.Join(t.TempDir(), "run")
			if err := os.WriteFile(again, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			l := ledger.New(p.Budget())
			gen, err := p.FitOn(t.Context(), l, data, synth.CheckpointEvery(again, 1000))
			for _, e := range l.Entries() {
				if e.Spent > e.Reserved {
					t.Errorf("%s: more spent than reserved: %+v", name, e)
				}
			}
			if errors.Is(err, synth.ErrLost) {
				lost++
				continue
			}
			if err != nil {
				t.Fatalf("%s: got %v, want a model or ErrLost", name, err)
			}
			complete++
			drawn, err := gen.Sample(t.Context(), 20)
			if err == nil {
				err = records.Check(drawn)
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		t.Logf("%s: %d runs complete, %d return ErrLost", name, complete, lost)
		// the plan "clusters" releases marginals, from which its networks can draw without training
		if complete == 0 || lost+complete < 3 || (lost > 0) != (name != "clusters") {
			t.Errorf("%s: %d runs complete, %d return ErrLost", name, complete, lost)
		}
	}
}

// TestStatesOfNoRun checks that states with wrong counts, wrong lengths or NaN are refused.
func TestStatesOfNoRun(t *testing.T) {
	p, path, data := keptVariants(t)["machines"], filepath.Join(t.TempDir(), "run"), bits(t, 40, 12, 1)
	stopAfter(t, p, data, 3, synth.CheckpointEvery(path, 1))
	whole := must(os.ReadFile(path))(t)
	try := func(what string, change func(f *synth.File)) {
		t.Helper()
		f := must(synth.DecodeFile(bytes.NewReader(whole)))(t)
		change(f)
		var text bytes.Buffer
		if err := f.Write(&text); err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(text.Bytes(), whole) {
			t.Fatalf("the change %q does not change the file", what)
		}
		bad := filepath.Join(t.TempDir(), "run")
		if err := os.WriteFile(bad, text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		var wrong *param.Error
		if _, err := p.Fit(t.Context(), data, synth.Checkpoint(bad)); !errors.Is(err, synth.ErrFormat) &&
			!errors.As(err, &wrong) {
			t.Errorf("%s: got %v, want ErrFormat or *param.Error", what, err)
		}
	}
	for old, bad := range map[string]string{`"steps":3`: `"steps":4`,
		`"steps":3,"training":true`: `"steps":3,"training":false`,
		`"iterations":3`:            `"iterations":4`, `"clip_norm":`: `"clip_norm":-`,
		`"steps":`: `"steps":-`} {
		try(bad, func(f *synth.File) {
			f.Header = []byte(strings.Replace(string(f.Header), old, bad, 1))
		})
	}
	for i, s := range readKept(t, path).sections {
		try(s.Name+" cut", func(f *synth.File) { f.Sections[i].Data = s.Data[:len(s.Data)-1] })
		if !strings.HasSuffix(s.Name, "state") && s.Name != "trainer" { // every number is NaN
			try(s.Name+" without numbers", func(f *synth.File) {
				f.Sections[i].Data = bytes.Repeat([]byte{0xff}, len(s.Data))
			})
		}
	}
}

// TestZeroValues calls methods of a zero plan and of a zero model, none of which may panic. The
// plan must have a text, and methods that need a real plan or model must return an error.
func TestZeroValues(t *testing.T) {
	p, m, data := new(dpgm.Plan), new(dpgm.Model), bits(t, 3, 12, 1)
	second := func(_ any, err error) error { return err }
	_, _, _, _, _ = p.Stages(), p.Total(), m.Schema(), m.Clusters(), m.Weights()
	m.Assign(device.Batch{Rows: 1}, make([]int32, 1))
	if p.String() == "" {
		t.Error("the zero plan has no text")
	}
	for name, err := range map[string]error{
		"fit":     second(p.Fit(t.Context(), data)),
		"write":   second(p.MarshalJSON()),
		"encode":  second(m.Encode()),
		"sampler": second(m.Sampler(synth.Draw{})),
	} {
		var wrong *param.Error
		if !errors.As(err, &wrong) {
			t.Errorf("%s: got %v, want *param.Error", name, err)
		}
	}
}
