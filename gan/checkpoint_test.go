package gan_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/seed7ba64551/privgen/accountant"
	"github.com/seed7ba64551/privgen/gan"
	"github.com/seed7ba64551/privgen/internal/entropy"
	"github.com/seed7ba64551/privgen/ledger"
	"github.com/seed7ba64551/privgen/records"
	"github.com/seed7ba64551/privgen/synth"
)

// atStep returns an option that calls f after the given critic step.
func atStep(step int, f func()) synth.Option {
	return synth.OnProgress(func(p synth.Progress) {
		if p.Stage == gan.PurposeCritic && p.Step == step {
			f()
		}
	})
}

// spending checks that the ledger has one entry with six reserved critic steps, and that the given
// number of these steps is spent.
func spending(t *testing.T, name string, l *ledger.Ledger, spent int) {
	t.Helper()
	e := l.Entries()
	if len(e) != 1 || e[0].Reserved != 6 || e[0].Spent != spent {
		t.Errorf("%s: ledger entries %v, want one with %d of 6 critic steps spent", name, e, spent)
	}
}

// TestInterruptedRunGoesOn checks that a run cancelled between steps loses nothing. It uses a new
// ledger for each call, or one ledger for all calls. If the mechanisms give the same answers, the
// resumed run returns the same generator, bit for bit, as an uninterrupted run. After the run is
// complete, the same call returns the generator again and takes no step.
func TestInterruptedRunGoesOn(t *testing.T) {
	s := records.BinaryImage(6, 4).WithLabels("a", "b", "c")
	none := must(records.FromFlat(s, nil))(t)
	turn := 0
	for name, c := range variants(t, s, accountant.AddOrRemoveOne) {
		p := mustPlan(t, c)
		whole := must(p.FitOn(forced(t.Context()), ledger.New(c.Budget), none))(t)
		want := encoded(t, whole)
		for _, shared := range []bool{false, true} {
			turn++
			first, second := 1+turn%3, 4+turn%2
			path, drawn := filepath.Join(t.TempDir(), "checkpoint"), 0
			keep, on := synth.CheckpointEvery(path, 3), ledger.New(c.Budget)
			l := func() *ledger.Ledger {
				if !shared {
					on = ledger.New(c.Budget)
				}
				return on
			}
			for _, stop := range []int{first, second} {
				ctx, cancel := context.WithCancel(counted(t.Context(), &drawn))
				_, err := p.FitOn(ctx, l(), none, keep, atStep(stop, cancel))
				var cut *synth.Interrupted
				if !errors.Is(err, context.Canceled) || !errors.As(err, &cut) || cut.Checkpoint != path {
					t.Fatalf("%s: got %v, want context.Canceled in an Interrupted", name, err)
				}
				if drawn != stop {
					t.Errorf("%s: %d steps drawn by step %d", name, drawn, stop)
				}
				spending(t, name, on, stop)
			}
			for range 2 {
				g, err := p.FitOn(counted(t.Context(), &drawn), l(), none, keep)
				if err != nil || !reflect.DeepEqual(encoded(t, g), want) {
					t.Errorf("%s: the resumed run returns another generator, or error %v", name, err)
				}
				if drawn != 6 {
					t.Errorf("%s: %d steps drawn, want 6", name, drawn)
				}
				spending(t, name, on, 6)
			}
		}
	}
}

// TestKilledAtEveryMoment copies the checkpoint whenever a step has drawn its sample or has ended.
// A run that resumes from any of these copies must take no more steps than were reserved, and lose
// at most one.
func TestKilledAtEveryMoment(t *testing.T) {
	type moment struct {
		drawn int
		file  []byte
	}
	s := records.BinaryImage(6, 4).WithLabels("a", "b", "c")
	data := some(t, s, 40, 1)
	for name, c := range variants(t, s, accountant.AddOrRemoveOne) {
		p, path := mustPlan(t, c), filepath.Join(t.TempDir(), "checkpoint")
		var moments []moment
		drawn, keep := 0, synth.CheckpointEvery(path, 2)
		look := func() {
			text := must(os.ReadFile(path))(t)
			moments = append(moments, moment{drawn, text})
		}
		ctx := entropy.WithTap(t.Context(), spy{func() { drawn++; look() }})
		_, err := p.Fit(ctx, data, keep, synth.OnProgress(func(synth.Progress) { look() }))
		if err != nil || len(moments) < 12 {
			t.Fatalf("%s: %d copies, want at least 12; error %v", name, len(moments), err)
		}
		for _, m := range moments {
			if err := os.WriteFile(path, m.file, 0o600); err != nil {
				t.Fatal(err)
			}
			after := 0
			g, err := p.Fit(counted(t.Context(), &after), data, keep)
			if err != nil {
				t.Fatalf("%s, killed after %d steps: the resumed run fails: %v", name, m.drawn, err)
			}
			if m.drawn+after > 6 || m.drawn+after < 5 {
				t.Errorf("%s: %d steps before and %d after the kill, want 5 or 6 together", name, m.drawn,
					after)
			}
			if e := g.Guarantee().Entries; len(e) != 1 || e[0].Reserved != 6 || e[0].Spent != 6 {
				t.Errorf("%s: the guarantee has entries %+v, want one with 6 steps", name, e)
			}
		}
	}
}

// TestNothingLearnt checks that a run that has lost every step returns ErrLost and no generator.
func TestNothingLearnt(t *testing.T) {
	s := records.Interval(5, 0, 1)
	data, p, path := some(t, s, 30, 1), mustPlan(t, small(s, 0)),
		filepath.Join(t.TempDir(), "checkpoint")
	var text []byte
	_, err := p.Fit(t.Context(), data, synth.CheckpointEvery(path, 6), atStep(1, func() {
		text, _ = os.ReadFile(path)
	}))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if g, err := p.Fit(t.Context(), data, synth.Checkpoint(path)); !errors.Is(err, synth.ErrLost) ||
		g != nil {
		t.Errorf("got %v, want ErrLost and no generator", err)
	}
}

// TestKilledWarmStartGoesOn kills a run in its warm start: another run begins with a copy of the
// checkpoint that was on disk at that moment. It repeats some steps of the warm start at most, and
// returns the same generator as an uninterrupted run.
func TestKilledWarmStartGoesOn(t *testing.T) {
	s := records.Interval(5, 0, 1)
	c := small(s, 0)
	c.Public, c.WarmSteps = public(t, s, 9, 99), 60
	data, p := some(t, s, 30, 1), mustPlan(t, c)
	whole := must(p.Fit(forced(t.Context()), data))(t)
	folder, err := os.MkdirTemp("/dev/shm", "gan") // checkpoints become rare where a disk is slow
	if err != nil {
		folder = t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	path := filepath.Join(folder, "checkpoint")
	killed := path + " of a killed run"
	slow := synth.OnProgress(func(at synth.Progress) {
		if time.Sleep(10 * time.Millisecond); at.Stage == gan.StageWarm && at.Step == c.WarmSteps {
			text, err := os.ReadFile(path)
			if err := errors.Join(err, os.WriteFile(killed, text, 0o600)); err != nil {
				t.Error(err)
			}
		}
	})
	if _, err := p.Fit(forced(t.Context()), data, synth.Checkpoint(path), slow); err != nil {
		t.Fatal(err)
	}
	warm := 0
	g, err := p.Fit(forced(t.Context()), data, synth.Checkpoint(killed),
		synth.OnProgress(func(at synth.Progress) {
			if at.Stage == gan.StageWarm {
				warm++
			}
		}))
	if err != nil || warm >= c.WarmSteps || !reflect.DeepEqual(encoded(t, g), encoded(t, whole)) {
		t.Errorf("%d of %d warm steps are repeated, error %v, or another generator", warm, c.WarmSteps, err)
	}
}

// TestWarmStartIsNotRepeated cancels runs after the warm start and after the first private step.
// They must resume without the warm start. A run that is cancelled during the warm start goes on
// with it. Both return the same generator as an uninterrupted run.
func TestWarmStartIsNotRepeated(t *testing.T) {
	s := records.Interval(5, 0, 1)
	c := small(s, 0)
	c.Public, c.WarmSteps = public(t, s, 9, 99), 3
	data, p := some(t, s, 30, 1), mustPlan(t, c)
	whole := must(p.Fit(forced(t.Context()), data))(t)
	for _, stop := range []struct {
		stage string
		step  int
		warm  int // steps of the second run
	}{{gan.StageWarm, 2, 1}, {gan.StageWarm, 3, 0}, {gan.PurposeCritic, 1, 0}} {
		path := filepath.Join(t.TempDir(), "checkpoint")
		ctx, cancel := context.WithCancel(forced(t.Context()))
		_, err := p.Fit(ctx, data, synth.CheckpointEvery(path, 3),
			synth.OnProgress(func(at synth.Progress) {
				if at.Stage == stop.stage && at.Step == stop.step {
					cancel()
				}
			}))
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		warm, previews := 0, []int(nil)
		g, err := p.Fit(forced(t.Context()), data, synth.CheckpointEvery(path, 3),
			synth.OnProgress(func(at synth.Progress) {
				if at.Stage == gan.StageWarm {
					warm++
				}
			}), synth.OnPreview(4, func(step int, _ *synth.Generator) { previews = append(previews, step) }))
		if err != nil || warm != stop.warm || !reflect.DeepEqual(encoded(t, g), encoded(t, whole)) {
			t.Errorf("%v: %d warm steps, error %v, or another generator", stop, warm, err)
		}
		want := []int{4}
		if stop.warm > 0 {
			want = []int{0, 4}
		}
		if !reflect.DeepEqual(previews, want) {
			t.Errorf("%v: previews %v, want %v", stop, previews, want)
		}
	}
}

// TestTwoRunsOnOneCheckpoint checks that a second run cannot use a checkpoint file while a first
// run uses it, even with another ledger.
func TestTwoRunsOnOneCheckpoint(t *testing.T) {
	s := records.Interval(5, 0, 1)
	data, p, path := some(t, s, 30, 1), mustPlan(t, small(s, 0)),
		filepath.Join(t.TempDir(), "checkpoint")
	drawn, late := 0, error(nil)
	run := func(opts ...synth.Option) error {
		_, err := p.Fit(counted(t.Context(), &drawn), data,
			append(opts, synth.CheckpointEvery(path, 1))...)
		return err
	}
	if err := run(atStep(4, func() { late = run() })); err != nil || !errors.Is(late, synth.ErrTaken) {
		t.Errorf("first run: %v, want no error; second run: %v, want ErrTaken", err, late)
	}
	if err := run(); err != nil || drawn != 6 {
		t.Errorf("error %v, %d steps drawn, want 6", err, drawn)
	}
}

// TestStaleCheckpoint replaces the checkpoint by an older copy. This must stop a run in progress,
// and a run that resumes from the copy must spend no more than the ledger has left.
func TestStaleCheckpoint(t *testing.T) {
	s := records.Interval(5, 0, 1)
	data, p := some(t, s, 30, 1), mustPlan(t, small(s, 0))
	for _, replaced := range []int{5, 6, 7} { // during the run, during its last step, after the run
		path := filepath.Join(t.TempDir(), "checkpoint")
		l, drawn := ledger.New(p.Budget()), 0
		run := func(opts ...synth.Option) error {
			_, err := p.FitOn(counted(t.Context(), &drawn), l, data,
				append(opts, synth.CheckpointEvery(path, 1))...)
			return err
		}
		var old []byte
		putBack := func() {
			if err := os.WriteFile(path, old, 0o600); err != nil {
				t.Error(err)
			}
		}
		err := run(synth.OnProgress(func(at synth.Progress) {
			switch at.Step {
			case 2:
				old, _ = os.ReadFile(path)
			case replaced:
				putBack()
			}
		}))
		stopped := errors.Is(err, synth.ErrTaken)
		if replaced == 7 {
			putBack()
		} else if !stopped || drawn != replaced {
			t.Errorf("replaced after step %d: %d steps drawn, error %v, want ErrTaken", replaced, drawn, err)
		}
		if err := run(); err != nil || drawn != 6 {
			t.Errorf("replaced after step %d: %d steps drawn in all, want 6; error %v", replaced, drawn, err)
		}
		spending(t, "stale", l, 6)
	}
}

// TestCheckpointsOfOtherPlans checks that checkpoints of other plans are refused, even if the plans
// differ only in their public records.
func TestCheckpointsOfOtherPlans(t *testing.T) {
	s := records.Interval(5, 0, 1).WithLabels("a", "b")
	data, path := some(t, s, 30, 1), filepath.Join(t.TempDir(), "checkpoint")
	c := small(s, 0)
	c.Public, c.WarmSteps = public(t, s, 9, 99), 1
	if _, err := mustPlan(t, c).Fit(t.Context(), data, synth.Checkpoint(path)); err != nil {
		t.Fatal(err)
	}
	c.Public = public(t, s, 9, 99) // the same records
	if _, err := mustPlan(t, c).Fit(t.Context(), data, synth.Checkpoint(path)); err != nil {
		t.Error(err)
	}
	flat, _ := c.Public.Data().(*records.Table).Flat()
	labels := c.Public.Data().(*records.Table).Labels()
	table := func(change func(flat []float32, labels []int32)) records.Public {
		flat, labels := append([]float32(nil), flat...), append([]int32(nil), labels...)
		change(flat, labels)
		d := must(records.FromFlat(s, flat, labels...))(t)
		return records.DeclarePublic(d)
	}
	for name, change := range map[string]func(*gan.Config){
		"another code": func(c *gan.Config) { c.Latent++ },
		"fewer public records": func(c *gan.Config) {
			c.Public = records.DeclarePublic(c.Public.Data().(*records.Table).Slice(0, 8))
		},
		"another number": func(c *gan.Config) {
			c.Public = table(func(flat []float32, _ []int32) { flat[44] = 0.5 })
		},
		"another label": func(c *gan.Config) {
			c.Public = table(func(_ []float32, labels []int32) { labels[8] = 1 - labels[8] })
		},
	} {
		c := c
		change(&c)
		if _, err := mustPlan(t, c).Fit(t.Context(), data, synth.Checkpoint(path)); !errors.Is(err,
			synth.ErrPlan) {
			t.Errorf("%s: got %v, want ErrPlan", name, err)
		}
	}
}

// TestHostileStates checks that a state is refused if no run can have written it, even if its
// checksum is correct. The refused run must draw nothing.
func TestHostileStates(t *testing.T) {
	s := records.Interval(5, 0, 1)
	c := small(s, 0)
	c.Train.NominalBatch, c.Train.ClipNorm = 4, 0
	c.Public, c.Average = public(t, s, 9, 99), 0.9
	c.Clipping = gan.Clipping{Groups: gan.Clustered, K: 3, Adaptive: true, Kept: true}
	data, p, path := some(t, s, 30, 1), mustPlan(t, c), filepath.Join(t.TempDir(), "checkpoint")
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := p.Fit(ctx, data, synth.Checkpoint(path), atStep(3, cancel)); !errors.Is(err,
		context.Canceled) {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	fit := func(name string, change func(state map[string]any, sections []synth.Section)) {
		f, err := synth.DecodeFile(bytes.NewReader(whole))
		if err != nil {
			t.Fatal(err)
		}
		var head map[string]any
		if err := json.Unmarshal(f.Header, &head); err != nil {
			t.Fatal(err)
		}
		change(head["state"].(map[string]any), f.Sections)
		if f.Header, err = json.Marshal(head); err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := f.Write(&text); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		l := ledger.New(c.Budget)
		_, err = p.FitOn(t.Context(), l, data, synth.Checkpoint(path))
		if good := name == "unchanged"; good != (err == nil) || !good &&
			!errors.Is(err, synth.ErrFormat) {
			t.Errorf("%s: got error %v", name, err)
		}
		if name != "unchanged" && l.Entries()[0].Spent != 3 {
			t.Errorf("%s: a step was taken: %v", name, l.Entries())
		}
	}
	fit("unchanged", func(map[string]any, []synth.Section) {})
	groups := func(list any) func(map[string]any, []synth.Section) {
		return func(s map[string]any, _ []synth.Section) { s["groups"] = list }
	}
	group := func(norm float64, blocks ...int) map[string]any {
		return map[string]any{"blocks": blocks, "clip_norm": norm}
	}
	for name, change := range map[string]func(map[string]any, []synth.Section){
		"done before":    func(s map[string]any, _ []synth.Section) { s["done"] = 7 },
		"undone":         func(s map[string]any, _ []synth.Section) { s["done"] = -1 },
		"unlearned":      func(s map[string]any, _ []synth.Section) { s["learned"] = -1 },
		"words":          func(s map[string]any, _ []synth.Section) { s["done"] = "three" },
		"a block beyond": groups([]any{group(1, 0, 1, 2, 3, 4, 1000)}),
		"a block below":  groups([]any{group(1, 0, 1, 2, 3, 4, -1)}),
		"a block twice":  groups([]any{group(1, 0, 1, 2, 3, 4, 5, 5)}),
		"blocks missing": groups([]any{group(1, 0)}),
		"no norm":        groups([]any{group(0, 0, 1, 2, 3, 4, 5)}),
		"no number": func(_ map[string]any, f []synth.Section) {
			copy(f[0].Data, synth.Floats([]float32{float32(math.NaN())}))
		},
	} {
		fit(name, change)
	}
	for i := range 7 {
		fit("a shorter section", func(_ map[string]any, f []synth.Section) {
			f[i].Data = f[i].Data[:len(f[i].Data)-1]
		})
		fit("a longer section", func(_ map[string]any, f []synth.Section) {
			f[i].Data = append(f[i].Data[:len(f[i].Data):len(f[i].Data)], 0, 0, 0, 0)
		})
		fit("another name", func(_ map[string]any, f []synth.Section) { f[i].Name = "x" })
	}
}
